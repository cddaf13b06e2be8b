/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `auto` is by rates that were measured. Stands on core alone, with no word of
 * the kernel: tests/unit/test_kmod.c runs it in a program.
 */
#ifndef CLEARPAGES_CHOOSE_H
#define CLEARPAGES_CHOOSE_H

#include "../core/cpg.h"

#ifndef CPG_VARIANTS_MAX
#define CPG_VARIANTS_MAX 8	/* a kernel has five */
#endif

#define CPG_SMALL ((size_t)64 << 10)
#define CPG_LARGE ((size_t)2 << 20)

/* Bytes per microsecond (about MiB/s), by variant; 0: not measured. */
struct clearpages_rates {
	unsigned int small[CPG_VARIANTS_MAX];	/* at CPG_SMALL a call */
	unsigned int large[CPG_VARIANTS_MAX];	/* at CPG_LARGE, or all the memory there was */
};

struct clearpages_choice {
	struct cpg_policy policy;	/* batch: 0, the budget's, where rates decided */
	/* The fastest of each kind at CPG_LARGE; NULL: no rates, core's table decided. */
	const struct cpg_variant *cached, *streaming;
	unsigned int percent;		/* of the cached one's rate that the streaming one has */
};

/* What a streaming variant has to have of that to be chosen. */
#define CPG_PERCENT_TO_STREAM 150

void clearpages_choose(const struct cpg_facts *facts, const struct clearpages_rates *rates,
		       struct clearpages_choice *choice);

#endif
