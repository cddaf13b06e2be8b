// SPDX-License-Identifier: GPL-2.0-only
/* The plans: which checks a boot runs, in which order. */
#include <string.h>

#include "module.h"

/* As the kernel comes: init_on_alloc=1, its own preemption model. */
static const struct check whole[] = {
	{ "load", check_load },
	{ "hugetlb-2M", check_hugetlb_2m },
	{ "hugetlb-1G", check_hugetlb_1g },
	{ "THP", check_thp },
	{ "mTHP-64K", check_mthp_64k },
	{ "memfd", check_memfd },
	{ "fallocate", check_fallocate },
	{ "shared-1G", check_shared_1g },
	{ "call-counts", check_call_counts },
	{ "tracepoint", check_tracepoint },
	{ "policies", check_policies },
	{ "refused-policies", check_refused_policies },
	{ "variants", check_variants },
	{ "preempt", check_preempt },
	{ "preempt-switch", check_preempt_switch },
	{ "stress", check_stress },
	{ "pressure", check_pressure },
	{ "reloads", check_reloads },
	{ "unload", check_unload },
	{ "taint", check_taint },
	{ NULL, NULL },
};

/* init_on_alloc=0: what reaches the module differs, and dirt would show. */
static const struct check bare[] = {
	{ "load", check_load },
	{ "booted-model", check_booted_model },
	{ "hugetlb-2M", check_hugetlb_2m },
	{ "hugetlb-1G", check_hugetlb_1g },
	{ "THP", check_thp },
	{ "mTHP-64K", check_mthp_64k },
	{ "memfd", check_memfd },
	{ "fallocate", check_fallocate },
	{ "shared-1G", check_shared_1g },
	{ "policies", check_policies },
	{ "variants", check_variants },
	{ "stress", check_stress },
	{ "planted-glue", check_planted_glue },
	{ "planted-variant", check_planted_variant },
	{ "wrong-target", check_wrong_target },
	{ "CLZERO", check_clzero },
	{ "unload", check_unload },
	{ "taint", check_taint },
	{ NULL, NULL },
};

/*
 * init_on_free=1: what is free is zero, and the module leaves THP alone for that; never
 * hugetlb, whose pages are not freed.
 */
static const struct check freed[] = {
	{ "load", check_load },
	{ "hugetlb-2M", check_hugetlb_2m },
	{ "THP", check_thp },
	{ "mTHP-64K", check_mthp_64k },
	{ "fallocate", check_fallocate },
	{ "unload", check_unload },
	{ "taint", check_taint },
	{ NULL, NULL },
};

/* Seconds for each load, so not in a short run. */
static const struct check leak[] = {
	{ "planted-leak", check_planted_leak },
	{ NULL, NULL },
};

/* A processor with ERMS, as nearly all have. QEMU is slow at rep stosb. */
static const struct check erms[] = {
	{ "load", check_load },
	{ "hugetlb-2M", check_hugetlb_2m },
	{ "fallocate", check_fallocate },
	{ "call-counts", check_call_counts },
	{ "unload", check_unload },
	{ "taint", check_taint },
	{ NULL, NULL },
};

/* All of core's cases in the module: minutes. */
static const struct check selftest[] = {
	{ "self-test", check_selftest },
	{ NULL, NULL },
};

/*
 * A kernel with KASAN, lockdep and kmemleak: all that it is to see, and the stress. No pressure:
 * who looks for memory there stays in this kernel for minutes, and a grace period of
 * RCU tasks that unpatching waits for was not over after 400 s.
 */
static const struct check debug[] = {
	{ "load", check_load },
	{ "hugetlb-2M", check_hugetlb_2m },
	{ "THP", check_thp },
	{ "mTHP-64K", check_mthp_64k },
	{ "memfd", check_memfd },
	{ "fallocate", check_fallocate },
	{ "policies", check_policies },
	{ "preempt", check_preempt },
	{ "stress", check_stress },
	{ "reloads", check_reloads },
	{ "unload", check_unload },
	{ "kmemleak", check_kmemleak },
	{ "taint", check_taint },
	{ NULL, NULL },
};

/* One more preemption model. */
static const struct check model[] = {
	{ "booted-model", check_booted_model },
	{ "stress", check_stress },
	{ "unload", check_unload },
	{ "taint", check_taint },
	{ NULL, NULL },
};

/* For the plugin that counts instructions: 41 lines each. */
static const struct check insns[] = {
	{ "insns-kernel", check_insns_kernel },
	{ "insns-module", check_insns_module },
	{ NULL, NULL },
};

/* Two nodes of memory: the programs in /tests, without the module, in place of this line. */
static struct check nodes[PROGRAMS + 1] = {
	{ "programs", check_programs },
};

static const struct {
	const char *name;
	const struct check *checks;
} plans[] = {
	{ "whole", whole }, { "bare", bare }, { "freed", freed }, { "model", model },
	{ "debug", debug }, { "erms", erms }, { "self-test", selftest }, { "insns", insns },
	{ "leak", leak }, { "nodes", nodes },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 2 && i < sizeof(plans) / sizeof(*plans); i++) {
		if (strcmp(argv[1], plans[i].name))
			continue;
		if (plans[i].checks == nodes)
			add_programs(nodes);
		run_checks(plans[i].checks);
		return end_checks();
	}
	say("use: guest PLAN");
	return 2;
}
