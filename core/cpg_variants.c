/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of variants, and what processor facts say about them. */
#include "cpg.h"
#include "x86/cpg_x86.h"

static const struct {
	const char *word;	/* as in the flags line of /proc/cpuinfo */
	uint32_t bit;
} features[] = {
	{ "rep_good", CPG_F_REP_GOOD },
	{ "erms", CPG_F_ERMS },
	{ "fsrm", CPG_F_FSRM },
	{ "avx2", CPG_F_AVX2 },
	{ "avx512f", CPG_F_AVX512F },
	{ "clzero", CPG_F_CLZERO },
	{ "hypervisor", CPG_F_HYPERVISOR },
};

#ifdef CPG_HAVE_LIBC
static void libc_memset(void *addr, size_t len)
{
	memset(addr, 0, len);
}
#endif

static const struct cpg_variant stosb = {
	.name = "stosb", .what = "rep stosb",
	.kind = CPG_CACHED, .align = 1,
	.zero = cpg_x86_stosb,
};

static const struct cpg_variant stosq = {
	.name = "stosq", .what = "rep stosq",
	.kind = CPG_CACHED, .align = 8,
	.zero = cpg_x86_stosq,
};

static const struct cpg_variant mov = {
	.name = "mov", .what = "8-byte stores",
	.kind = CPG_CACHED, .align = 64,
	.zero = cpg_x86_mov,
};

static const struct cpg_variant movnti = {
	.name = "movnti", .what = "8-byte streaming stores",
	.kind = CPG_STREAMING, .align = 64,
	.zero = cpg_x86_movnti, .fence = cpg_x86_sfence,
};

static const struct cpg_variant clzero = {
	.name = "clzero", .what = "the CLZERO instruction, a line at a time",
	.kind = CPG_STREAMING, .align = 64, .features = CPG_F_CLZERO,
	.zero = cpg_x86_clzero, .fence = cpg_x86_sfence,
};

#ifdef CPG_HAVE_VECTOR
static const struct cpg_variant avx2 = {
	.name = "avx2", .what = "32-byte stores",
	.kind = CPG_CACHED, .needs = CPG_NEEDS_SIMD, .align = 64, .features = CPG_F_AVX2,
	.zero = cpg_x86_avx2,
};

static const struct cpg_variant avx512 = {
	.name = "avx512", .what = "64-byte stores",
	.kind = CPG_CACHED, .needs = CPG_NEEDS_SIMD, .align = 64, .features = CPG_F_AVX512F,
	.zero = cpg_x86_avx512,
};

static const struct cpg_variant ntavx2 = {
	.name = "ntavx2", .what = "32-byte streaming stores",
	.kind = CPG_STREAMING, .needs = CPG_NEEDS_SIMD, .align = 64, .features = CPG_F_AVX2,
	.zero = cpg_x86_ntavx2, .fence = cpg_x86_sfence,
};

static const struct cpg_variant ntavx512 = {
	.name = "ntavx512", .what = "64-byte streaming stores",
	.kind = CPG_STREAMING, .needs = CPG_NEEDS_SIMD, .align = 64, .features = CPG_F_AVX512F,
	.zero = cpg_x86_ntavx512, .fence = cpg_x86_sfence,
};
#endif

#ifdef CPG_HAVE_LIBC
static const struct cpg_variant libc = {
	.name = "memset", .what = "memset of the C library",
	.kind = CPG_CACHED, .align = 1,
	.zero = libc_memset,
};
#endif

static const struct cpg_variant *const table[] = {
	&stosb, &stosq, &mov,
#ifdef CPG_HAVE_VECTOR
	&avx2, &avx512,
#endif
#ifdef CPG_HAVE_LIBC
	&libc,
#endif
	&movnti,
#ifdef CPG_HAVE_VECTOR
	&ntavx2, &ntavx512,
#endif
	&clzero,
};

/*
 * Streaming variants, the one that keeps up with the memory on most machines
 * that have it first. CLZERO and the vector stores give the same 44 GiB/s at
 * 2 MB on Milan, movnti half of that: eight stores to fill what one CLZERO
 * fills. A kernel has the last two only.
 */
static const struct cpg_variant *const streaming[] = {
	&clzero,
#ifdef CPG_HAVE_VECTOR
	&ntavx512, &ntavx2,
#endif
	&movnti,
};

const char *cpg_feature_name(uint32_t bits)
{
	unsigned int i;

	for (i = 0; i < CPG_ARRAY_LEN(features); i++)
		if (bits & features[i].bit)
			return features[i].word;
	return "";
}

uint32_t cpg_feature_bit(const char *word, size_t len)
{
	unsigned int i;

	for (i = 0; i < CPG_ARRAY_LEN(features); i++)
		if (strlen(features[i].word) == len && !memcmp(features[i].word, word, len))
			return features[i].bit;
	return 0;
}

/*
 * Hypervisors report 0, or the size of the whole socket times the number of
 * virtual sockets. 8 MiB for the unknown: the smallest share of a last-level
 * cache among the processors of cpg_auto.c.
 */
uint64_t cpg_facts_llc(const struct cpg_facts *facts)
{
	if (!facts->llc_bytes)
		return 8 << 20;
	if (facts->llc_bytes < 1 << 20)
		return 1 << 20;
	if (facts->llc_bytes > 1 << 30)
		return 1 << 30;
	return facts->llc_bytes;
}

const struct cpg_variant *cpg_variant_at(unsigned int i)
{
	return i < CPG_ARRAY_LEN(table) ? table[i] : NULL;
}

const struct cpg_variant *cpg_variant_find(const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < CPG_ARRAY_LEN(table); i++)
		if (strlen(table[i]->name) == len && !memcmp(table[i]->name, name, len))
			return table[i];
	return NULL;
}

bool cpg_variant_usable(const struct cpg_variant *v, const struct cpg_facts *facts)
{
	return (v->features & facts->features) == v->features;
}

const struct cpg_variant *cpg_variant_cached(const struct cpg_facts *facts)
{
	if (facts->features & CPG_F_ERMS)
		return &stosb;
	if (facts->features & CPG_F_REP_GOOD)
		return &stosq;
	return &mov;
}

const struct cpg_variant *cpg_variant_streaming(const struct cpg_facts *facts)
{
	unsigned int i = 0;

	while (!cpg_variant_usable(streaming[i], facts))
		i++;
	return streaming[i];
}
