/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* struct machine to struct cpg_facts, and what cpuid has to say against it. */
#include <cpuid.h>
#include <pthread.h>
#include <string.h>

#include "api.h"
#include "facts.h"

static enum cpg_vendor vendor_of(const char *id)
{
	static const struct {
		const char *id;
		enum cpg_vendor vendor;
	} known[] = {
		{ "AuthenticAMD", CPG_VENDOR_AMD },
		{ "HygonGenuine", CPG_VENDOR_HYGON },
		{ "GenuineIntel", CPG_VENDOR_INTEL },
	};
	size_t i;

	for (i = 0; i < CPG_ARRAY_LEN(known); i++)
		if (!strcmp(id, known[i].id))
			return known[i].vendor;
	return CPG_VENDOR_OTHER;
}

void facts_of(const struct machine *m, struct cpg_facts *facts)
{
	*facts = (struct cpg_facts){
		.vendor = vendor_of(m->vendor),
		.family = m->family,
		.model = m->model,
		.features = m->features,
		.llc_bytes = m->llc_bytes,
	};
}

/*
 * That the kernel saves the vector registers is not asked here: the flags line
 * has avx2 and avx512f only if it does.
 */
uint32_t facts_executable(uint32_t features)
{
	unsigned int a, b, c, d;
	uint32_t lacks = CPG_F_AVX2 | CPG_F_AVX512F | CPG_F_CLZERO;

	if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
		if (b & bit_AVX2)
			lacks &= ~CPG_F_AVX2;
		if (b & bit_AVX512F)
			lacks &= ~CPG_F_AVX512F;
	}
	if (__get_cpuid(0x80000008, &a, &b, &c, &d) && (b & 1))
		lacks &= ~CPG_F_CLZERO;
	return features & ~lacks;
}

static struct cpg_facts here;

/* Many functions come through here, the first time only: none of them is to be cancelled. */
static void look(void)
{
	int cancel = api_cancel_off();
	struct machine m;

	machine_read("", &m);
	facts_of(&m, &here);
	api_cancel_as(cancel);
}

const struct cpg_facts *facts_here(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, look);
	return &here;
}
