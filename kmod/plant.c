// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bugs for the tests of the tests, by CLEARPAGES_PLANT= at build time; not part
 * of the module otherwise.
 *
 *	variant	   rep stosb leaves the last line of 4 KiB and more: the self-test
 *		   has to refuse the load
 *	glue	   variants are right, but the last line of each folio is dirty:
 *		   only looking at the pages finds that
 *	leak	   counters are not freed at unload: what a load leaves behind has to show
 *	target	   a function that no kernel has: livepatch has to refuse
 *	signature  a signature that no kernel has: the compiler has to refuse
 */
#include "clearpages.h"

#include "../core/x86/cpg_x86.h"

#define LINE 64
#define DIRT 0x5a

#ifdef CLEARPAGES_PLANT_variant
void cpg_plant_stosb(void *addr, size_t len);

/* Kbuild gave the real one the other name. */
void cpg_x86_stosb(void *addr, size_t len)
{
	cpg_plant_stosb(addr, len);
	if (len >= CPG_GRANULE)
		memset(addr + len - LINE, DIRT, LINE);
}
#endif

#ifdef CLEARPAGES_PLANT_leak
void cpg_plant_free_percpu(void __percpu *p);

/* What stats.c calls in the place of free_percpu(). */
void cpg_plant_free_percpu(void __percpu *p)
{
}
#endif

#ifdef CLEARPAGES_PLANT_glue
int cpg_plant_clear(void *base, size_t size, size_t touch, const struct cpg_policy *policy,
		    const struct cpg_breathe *breathe, struct cpg_tally *tally);

/* What target.c calls in the place of cpg_clear(). */
int cpg_plant_clear(void *base, size_t size, size_t touch, const struct cpg_policy *policy,
		    const struct cpg_breathe *breathe, struct cpg_tally *tally)
{
	int err = cpg_clear(base, size, touch, policy, breathe, tally);

	memset(base + size - LINE, DIRT, LINE);
	return err;
}
#endif
