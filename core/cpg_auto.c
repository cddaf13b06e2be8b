/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table behind `auto`: which processors gain from streaming, by what, from which size. */
#include "cpg_auto.h"

/*
 * How long a zone may be zeroed between two breathing points, the default
 * budget of the module; batch is what the row's rate clears in that time.
 */
#define BUDGET_MS 1

#define PAYS_ABOVE_LLC 0	/* in the place of far_min */
#define LAST_MODEL 0xff

struct row {
	enum cpg_vendor vendor;
	unsigned int family;
	unsigned int first, last;	/* models */
	const char *far;
	size_t far_min;
	unsigned int mib_per_ms;
};

/*
 * First match counts; a row whose variant the processor lacks does not match.
 * A processor without a row gets the cached `ranges`: so do those where no
 * figures are public (Zen 5, Hygon, Sapphire Rapids and later), and Skylake-X
 * (0x55), where MOVNTI stays at 6.3 GB/s from 2 MB to 4 GB and rep stosb takes
 * 20.4 at 16 MB and 6.5 above. `clearpages bench clear` shows it on such a machine.
 *
 * No row has a window. Kept hot it gained nothing in any pattern of use that
 * was measured (Milan, 4 to 64 KiB), and at 64 KiB extents one of 16 KiB costs a
 * sixth of the rate (Zen 1).
 */
static const struct row rows[] = {
	/*
	 * Zen 1 and 2. Measured on a virtual machine that reports family 0x17
	 * model 1: 2 MB extents 24 GiB/s by CLZERO, 7.5 by rep stosq, 64 KiB
	 * 23 and 7.8 (bench/README.md).
	 */
	{ CPG_VENDOR_AMD, 0x17, 0, LAST_MODEL, "clzero", 64 << 10, 16 },
	/*
	 * Zen 3 and 4. Milan: 2 MB extents 44.2 GiB/s by CLZERO, 14.1 by rep
	 * stosb, 64 KiB 39.0 and 14.7 (measured for this project). A virtual
	 * machine of 192 GB: 42.0 GB/s by CLZERO, 17.4 by rep stosb (Arora,
	 * "x86/clear_huge_page: multi-page clearing" v3, June 2022). Genoa leaves
	 * out the read for ownership with streaming stores only (Laukemann et
	 * al., arXiv 2409.08108).
	 */
	{ CPG_VENDOR_AMD, 0x19, 0, LAST_MODEL, "clzero", 64 << 10, 32 },
	/*
	 * Ice Lake-X and -D. The same 192 GB, cold 2 MB pages: 21.9 GB/s by
	 * MOVNTI, 12.5 by rep stosb (ibid.); a warm buffer of 2 MB loses 12 %,
	 * and nothing was published for less: no smaller zones.
	 */
	{ CPG_VENDOR_INTEL, 6, 0x6a, 0x6a, "movnti", 2 << 20, 16 },
	{ CPG_VENDOR_INTEL, 6, 0x6c, 0x6c, "movnti", 2 << 20, 16 },
	/*
	 * Broadwell-X: 11.7 GB/s by MOVNTI, 5.3 by rep stosb at 128 MB, but 11.8
	 * and 17.4 at 16 MB (Arora, "Use uncached writes while clearing gigantic
	 * pages", October 2020).
	 */
	{ CPG_VENDOR_INTEL, 6, 0x4f, 0x4f, "movnti", PAYS_ABOVE_LLC, 8 },
};

static bool matches(const struct row *r, const struct cpg_facts *f)
{
	return r->vendor == f->vendor && r->family == f->family && f->model >= r->first &&
	       f->model <= r->last &&
	       cpg_variant_usable(cpg_variant_find(r->far, strlen(r->far)), f);
}

void cpg_auto(const struct cpg_facts *facts, struct cpg_policy *policy)
{
	const struct row *r;

	for (r = rows; r < rows + CPG_ARRAY_LEN(rows); r++) {
		if (!matches(r, facts))
			continue;
		*policy = (struct cpg_policy){
			.far = cpg_variant_find(r->far, strlen(r->far)),
			.near = cpg_variant_cached(facts),
			.far_min = r->far_min == PAYS_ABOVE_LLC ? (size_t)cpg_facts_llc(facts)
								: r->far_min,
			.batch = (size_t)r->mib_per_ms * BUDGET_MS << 20,
			.order = CPG_FORWARD,
		};
		return;
	}
	cpg_policy_named("ranges", strlen("ranges"), facts, policy);
}
