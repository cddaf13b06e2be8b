/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a policy promises, worked out a second time the slow way: in whole
 * pages, as a list of calls, from the words of the contract.
 */
#ifndef CPG_TEST_MODEL_H
#define CPG_TEST_MODEL_H

#include "cpg_test_util.h"

/* A policy in pages. window: `before` and `after` of them on the sides of the touched one. */
struct cpg_t_shape {
	enum cpg_order order;
	bool window;
	size_t before, after;
	size_t unit, batch;	/* 0: no limit */
	size_t far_min;		/* bytes */
};

/* A call of a variant: pages [first, end). */
struct cpg_t_call {
	size_t first, end;
	bool near;
};

#define CPG_T_CALLS 2048

/* full: there are more calls than fit, the model is of no use. */
extern struct cpg_t_model {
	struct cpg_t_call call[CPG_T_CALLS];
	size_t n;
	bool full;
} cpg_t_model;

/*
 * The calls for a zone of `size` bytes whose first page is page 0 and that has
 * `pages` of them, with page `touched` touched (CPG_NO_TOUCH: none).
 */
void cpg_t_model_of(const struct cpg_t_shape *s, size_t size, size_t pages, size_t touched);

/* The shape of a named policy but `auto`, by the words of the design; NULL: none. */
const struct cpg_t_shape *cpg_t_shape_named(const char *name);

/* The shape of any policy, for those that are random. */
struct cpg_t_shape cpg_t_shape_of(const struct cpg_policy *p);

#endif
