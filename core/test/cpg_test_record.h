/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Variants that write down how they were called and touch nothing: zones may
 * lie where there is no memory, as long as no edge is left over (align 1).
 */
#ifndef CPG_TEST_RECORD_H
#define CPG_TEST_RECORD_H

#include "cpg_test_util.h"

enum cpg_t_what {
	CPG_T_FAR,
	CPG_T_NEAR,
	CPG_T_FENCE,		/* the one that far and near share */
	CPG_T_NEAR_FENCE,	/* one of near's own */
	CPG_T_BREATH,
};

struct cpg_t_event {
	enum cpg_t_what what;
	uintptr_t lo;		/* of a zero call */
	size_t len;
};

/* 4 MiB by the page, each with a breath, is 2047 events and two fences. */
#define CPG_T_EVENTS 4096

extern struct cpg_t_log {
	struct cpg_t_event event[CPG_T_EVENTS];
	size_t n;
	bool full;
} cpg_t_log;

/*
 * One run of the engine: in go policy (with recorders in the place of its
 * variants, of the same kinds), zone and touch; stop: cancel at this breath,
 * 0: never. Out come the log, err and tally.
 */
struct cpg_t_trial {
	const char *name;
	struct cpg_policy policy;
	struct cpg_variant far, near;
	bool own_fence;		/* near does not share that of far */
	uintptr_t base;
	size_t size;
	size_t touch;
	unsigned int stop;
	int err;
	struct cpg_tally tally;
};

void cpg_t_trial(struct cpg_t_trial *t, const char *name, const struct cpg_policy *p,
		 unsigned int align);

/* Gives near a fence of its own, as two streaming variants of different kinds would have. */
void cpg_t_trial_own_fence(struct cpg_t_trial *t);

/* Where the trial takes place, and go. */
void cpg_t_run(struct cpg_t_trial *t, uintptr_t base, size_t size, size_t touch);

static inline bool cpg_t_zeroes(const struct cpg_t_event *e)
{
	return e->what == CPG_T_FAR || e->what == CPG_T_NEAR;
}

/*
 * The log in words: calls as pages counted from base, "n" for near, "|" for a
 * breath and "F" for a fence: "8-11 0-2|n3-7 F".
 */
void cpg_t_log_text(const struct cpg_t_trial *t, struct cpg_t_text *text);

/* The parameters of a trial, into the reason of a failure. Returns false. */
bool cpg_t_why_trial(const struct cpg_t_trial *t, const char *what);

#endif
