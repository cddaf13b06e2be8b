/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One variant, over lengths and alignments: for those of the table, and for planted ones. */
#ifndef CPG_TEST_VARIANTS_H
#define CPG_TEST_VARIANTS_H

#include "cpg_test_util.h"

enum cpg_t_how {
	CPG_T_BARE,	/* called as such, on addresses and lengths of its own alignment */
	CPG_T_ENGINE,	/* by cpg_clear(), on any */
};

/*
 * Memory that was dirtied is zeroed; and the neighbouring bytes are still
 * dirty. False gives the reason to cpg_t_why().
 *
 * short: 0 to 300 bytes, beginning 0 to 63 bytes behind the start of the
 *	buffer, and ending as far before its end.
 * long: around each power of two from 512 bytes to 4 MiB; above 64 KiB at
 *	eight alignments by the seed, below that at all 64.
 */
bool cpg_t_zeroes_short(const struct cpg_test_env *env, const struct cpg_variant *v,
			enum cpg_t_how how);
bool cpg_t_zeroes_long(const struct cpg_test_env *env, const struct cpg_variant *v,
		       enum cpg_t_how how);

#endif
