// SPDX-License-Identifier: GPL-2.0-only
/* The processor, from the kernel's own tables. */
#include <asm/cpufeature.h>
#include <asm/processor.h>

#include "clearpages.h"

/* boot_cpu_has() and not a static branch: read once, and it is in every kernel. */
static u32 __init features(void)
{
	u32 f = 0;

	if (boot_cpu_has(X86_FEATURE_REP_GOOD))
		f |= CPG_F_REP_GOOD;
	if (boot_cpu_has(X86_FEATURE_ERMS))
		f |= CPG_F_ERMS;
	if (boot_cpu_has(X86_FEATURE_FSRM))
		f |= CPG_F_FSRM;
	if (boot_cpu_has(X86_FEATURE_CLZERO))
		f |= CPG_F_CLZERO;
	if (boot_cpu_has(X86_FEATURE_HYPERVISOR))
		f |= CPG_F_HYPERVISOR;
	return f;
}

/*
 * The largest cache that cpuid lists: leaf 4 of Intel, 0x8000001d of AMD and
 * Hygon, the same layout. The kernel's cacheinfo is not exported, and
 * x86_cache_size is the second level's on AMD.
 */
static u64 __init last_level_cache(enum cpg_vendor vendor)
{
	u32 leaf = vendor == CPG_VENDOR_INTEL ? 4 : 0x8000001d;
	u32 a, b, c, d, i;
	u64 size, best = 0;

	if (vendor == CPG_VENDOR_OTHER || cpuid_eax(leaf & 0x80000000) < leaf)
		return 0;
	if (vendor != CPG_VENDOR_INTEL && !boot_cpu_has(X86_FEATURE_TOPOEXT))
		return 0;
	for (i = 0; i < 16; i++) {
		cpuid_count(leaf, i, &a, &b, &c, &d);
		if (!(a & 0x1f))
			break;
		size = ((b >> 22) + 1ull) * ((b >> 12 & 0x3ff) + 1) * ((b & 0xfff) + 1) * (c + 1ull);
		best = max(best, size);
	}
	return best;
}

void __init clearpages_detect(struct cpg_facts *facts)
{
	enum cpg_vendor vendor = CPG_VENDOR_OTHER;

	if (boot_cpu_data.x86_vendor == X86_VENDOR_AMD)
		vendor = CPG_VENDOR_AMD;
	else if (boot_cpu_data.x86_vendor == X86_VENDOR_HYGON)
		vendor = CPG_VENDOR_HYGON;
	else if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL)
		vendor = CPG_VENDOR_INTEL;

	*facts = (struct cpg_facts){
		.vendor = vendor,
		.family = boot_cpu_data.x86,
		.model = boot_cpu_data.x86_model,
		.features = features(),
		.llc_bytes = last_level_cache(vendor),
	};
}
