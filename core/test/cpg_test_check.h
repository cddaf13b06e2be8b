/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Does the log of a trial keep the promises? False gives the reason to cpg_t_why(). */
#ifndef CPG_TEST_CHECK_H
#define CPG_TEST_CHECK_H

#include "cpg_test_model.h"
#include "cpg_test_record.h"

/* Each byte of the zone exactly once, and none outside; recorders of align 1 only. seen: a
 * byte for each page. */
bool cpg_t_covers(const struct cpg_t_trial *t, unsigned char *seen, size_t room);

/* The calls are those of the model, in its order and by its variants. */
bool cpg_t_follows(const struct cpg_t_trial *t, const struct cpg_t_shape *s);

/* Never more than batch bytes without a breath, no breath before the first or after the last
 * extent, nor without need. */
bool cpg_t_breathes(const struct cpg_t_trial *t);

/* One fence for each kind of them that was needed, after the last call; none else. */
bool cpg_t_fences(const struct cpg_t_trial *t);

/* The tally says what the log says. Edges, which only the tally has: less than align each. */
bool cpg_t_tallies(const struct cpg_t_trial *t);

/* All of them. */
bool cpg_t_checks(const struct cpg_t_trial *t, const struct cpg_t_shape *s,
		  const struct cpg_test_env *env);

#endif
