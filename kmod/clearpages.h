/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the module promise each other. */
#ifndef CLEARPAGES_KMOD_H
#define CLEARPAGES_KMOD_H

/* Whatever was included before: <linux/kernel.h> of 5.10 has one that says nothing. */
#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "choose.h"
#include "compat.h"
#include "../core/cpg.h"

/* ---- detect.c ---------------------------------------------------------------- */

void __init clearpages_detect(struct cpg_facts *facts);

/* ---- selftest.c -------------------------------------------------------------- */

/*
 * core's cases in this kernel: those that take long only if all is set. -EIO,
 * with what failed in the log, or -ENOMEM.
 */
int __init clearpages_selftest(const struct cpg_facts *facts, bool all);

/* ---- calibrate.c ------------------------------------------------------------- */

/*
 * Measures each variant on memory that no cache has, and logs a line for it.
 * Without memory all rates are 0.
 */
void __init clearpages_calibrate(const struct cpg_facts *facts, struct clearpages_rates *rates);

/* What `auto` is by these rates (choose.h); logs the choice. */
void __init clearpages_auto(const struct cpg_facts *facts, const struct clearpages_rates *rates,
			    struct cpg_policy *policy);

/* ---- policy.c ---------------------------------------------------------------- */

/* The policy in force, ready for use. */
struct clearpages_live {
	struct cpg_policy policy;
	unsigned int far, near;		/* their places in the table of variants */
};

/* Is the parameter a policy at all? If not, the log says what is wrong with it. */
int __init clearpages_policy_check(const struct cpg_facts *facts);

/*
 * Takes the policy of the parameter into force, from now on at each write of a
 * parameter too. `chosen` is what `auto` stands for.
 */
int __init clearpages_policy_start(const struct cpg_facts *facts,
				   const struct clearpages_rates *rates,
				   const struct cpg_policy *chosen);
/* No caller of clearpages_policy_get() may be left. */
void clearpages_policy_stop(void);

/*
 * A copy: it may be used across sleeps. For a preemptible kernel it has no
 * breathing points, for another one in each budget_us at least. False before
 * start and after stop.
 */
bool clearpages_policy_get(struct clearpages_live *live, bool preemptible);

/* The parameters and the rates, for debugfs. */
struct seq_file;
void clearpages_policy_state(struct seq_file *m);

unsigned int clearpages_variant_index(const struct cpg_variant *v);

/* ---- target.c ---------------------------------------------------------------- */

/* The function of the kernel that is replaced. */
extern const char clearpages_target[];

/* Does this kernel hand over pages that the allocator has zeroed? Why (not), for people. */
const char *clearpages_skip_state(void);

/* What the times in statistics are read from. */
const char *clearpages_clock(void);

/*
 * Replaces the function: from here on faults use the policy. On failure
 * nothing of the module is in use, and the log has the reason.
 */
int __init clearpages_patch(void);

/* ---- stats.c ----------------------------------------------------------------- */

/* One folio: what it was, and what was done with it. */
struct clearpages_event {
	void *base;
	size_t size;
	size_t touch;
	int node;
	bool hugetlb;
	bool skipped;
	u64 ns;				/* without the breathing points */
	struct cpg_tally tally;
};

int __init clearpages_stats_start(void);
void clearpages_stats_stop(void);

void clearpages_stats_add(const struct clearpages_event *e, const struct clearpages_live *live);

#endif
