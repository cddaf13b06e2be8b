/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is chosen for processors that are not at hand. */
#include "cpg_test_cases.h"
#include "cpg_test_util.h"

#define REP (CPG_F_REP_GOOD | CPG_F_ERMS)
#define M ((uint64_t)1 << 20)

#define UNKNOWN "far=stosb,near=stosb,window=20K,far_min=0,batch=32M,unit=0,order=right-first"
#define NO_ERMS "far=stosq,near=stosq,window=20K,far_min=0,batch=32M,unit=0,order=right-first"
#define NOTHING "far=mov,near=mov,window=20K,far_min=0,batch=32M,unit=0,order=right-first"
#define MOVNTI(far_min, batch) \
	"far=movnti,near=stosb,window=0,far_min=" far_min ",batch=" batch ",unit=0,order=forward"

static const struct {
	const char *name;
	struct cpg_facts facts;
	const char *policy;
} machines[] = {
	{ "Milan", { CPG_VENDOR_AMD, 0x19, 1, REP | CPG_F_FSRM | CPG_F_AVX2 | CPG_F_CLZERO, 32 * M },
	  "far=clzero,near=stosb,window=0,far_min=64K,batch=32M,unit=0,order=forward" },
	{ "Genoa", { CPG_VENDOR_AMD, 0x19, 0x11, REP | CPG_F_AVX512F | CPG_F_CLZERO, 32 * M },
	  "far=clzero,near=stosb,window=0,far_min=64K,batch=32M,unit=0,order=forward" },
	{ "Milan whose hypervisor hides CLZERO",
	  { CPG_VENDOR_AMD, 0x19, 1, REP | CPG_F_AVX2 | CPG_F_HYPERVISOR, 32 * M }, UNKNOWN },
	{ "Naples", { CPG_VENDOR_AMD, 0x17, 1, CPG_F_REP_GOOD | CPG_F_AVX2 | CPG_F_CLZERO, 8 * M },
	  "far=clzero,near=stosq,window=0,far_min=64K,batch=16M,unit=0,order=forward" },
	{ "Naples whose hypervisor hides CLZERO",
	  { CPG_VENDOR_AMD, 0x17, 1, CPG_F_REP_GOOD | CPG_F_HYPERVISOR, 8 * M }, NO_ERMS },
	{ "Zen 5", { CPG_VENDOR_AMD, 0x1a, 2, REP | CPG_F_CLZERO, 32 * M }, UNKNOWN },
	{ "Hygon", { CPG_VENDOR_HYGON, 0x18, 1, CPG_F_REP_GOOD | CPG_F_CLZERO, 8 * M }, NO_ERMS },
	{ "Skylake-X", { CPG_VENDOR_INTEL, 6, 0x55, REP | CPG_F_AVX512F, 32 * M }, UNKNOWN },
	{ "Ice Lake-X", { CPG_VENDOR_INTEL, 6, 0x6a, REP | CPG_F_AVX512F, 48 * M },
	  MOVNTI("2M", "16M") },
	{ "Ice Lake-D", { CPG_VENDOR_INTEL, 6, 0x6c, REP | CPG_F_AVX512F, 15 * M },
	  MOVNTI("2M", "16M") },
	{ "between the two", { CPG_VENDOR_INTEL, 6, 0x6b, REP, 15 * M }, UNKNOWN },
	{ "Sapphire Rapids", { CPG_VENDOR_INTEL, 6, 0x8f, REP | CPG_F_AVX512F, 105 * M }, UNKNOWN },
	{ "Broadwell-X", { CPG_VENDOR_INTEL, 6, 0x4f, REP | CPG_F_AVX2, 55 * M },
	  MOVNTI("55M", "8M") },
	{ "Broadwell-X, cache unknown", { CPG_VENDOR_INTEL, 6, 0x4f, REP, 0 }, MOVNTI("8M", "8M") },
	{ "Broadwell-X, cache of 100 GiB", { CPG_VENDOR_INTEL, 6, 0x4f, REP, 102400 * M },
	  MOVNTI("1G", "8M") },
	{ "Broadwell-X, cache of UINT64_MAX", { CPG_VENDOR_INTEL, 6, 0x4f, REP, ~(uint64_t)0 },
	  MOVNTI("1G", "8M") },
	{ "Broadwell-X, cache of 16 KiB", { CPG_VENDOR_INTEL, 6, 0x4f, REP, 16384 },
	  MOVNTI("1M", "8M") },
	{ "unknown vendor, model of a Milan", { CPG_VENDOR_OTHER, 0x19, 1, REP | CPG_F_CLZERO, 0 },
	  UNKNOWN },
	{ "Intel family 0x19", { CPG_VENDOR_INTEL, 0x19, 1, REP | CPG_F_CLZERO, 0 }, UNKNOWN },
	{ "nothing known at all", { CPG_VENDOR_OTHER, 0, 0, 0, 0 }, NOTHING },
};

void cpg_test_auto(const struct cpg_test_env *env)
{
	char text[CPG_POLICY_TEXT];
	struct cpg_policy p;
	unsigned int i;

	for (i = 0; i < CPG_ARRAY_LEN(machines); i++) {
		bool ok = !cpg_policy_named("auto", 4, &machines[i].facts, &p);

		text[0] = '\0';
		if (ok)
			cpg_policy_format(&p, text, sizeof(text));
		ok = ok && cpg_t_same(text, machines[i].policy) &&
		     cpg_variant_usable(p.far, &machines[i].facts) &&
		     cpg_variant_usable(p.near, &machines[i].facts);
		if (!ok) {
			cpg_t_why("expected ");
			cpg_t_why(machines[i].policy);
			cpg_t_why(", got ");
			cpg_t_why(text);
		}
		cpg_t_result_of(env, ok, "auto", machines[i].name);
	}
}

static bool llc(uint64_t says, uint64_t want)
{
	struct cpg_facts f = { .llc_bytes = says };

	return cpg_facts_llc(&f) == want || cpg_t_why_num("cache of ", says);
}

static const struct {
	const char *word;
	uint32_t bit;
} words[] = {
	{ "rep_good", CPG_F_REP_GOOD }, { "erms", CPG_F_ERMS }, { "fsrm", CPG_F_FSRM },
	{ "avx2", CPG_F_AVX2 }, { "avx512f", CPG_F_AVX512F }, { "clzero", CPG_F_CLZERO },
	{ "hypervisor", CPG_F_HYPERVISOR },
};

static bool features(void)
{
	unsigned int i;

	for (i = 0; i < CPG_ARRAY_LEN(words); i++) {
		const char *w = words[i].word, *name = cpg_feature_name(words[i].bit);

		if (cpg_feature_bit(w, strlen(w)) != words[i].bit ||
		    cpg_feature_bit(w, strlen(w) - 1) || !cpg_t_same(name, w))
			return cpg_t_why(w);
	}
	return !cpg_feature_bit("avx", 3) && !cpg_feature_bit("", 0) && !*cpg_feature_name(0) &&
	       cpg_t_same(cpg_feature_name(CPG_F_CLZERO | CPG_F_ERMS), "erms");
}

/* What the engine and the lists rely on, for each record of the table. */
static bool table(void)
{
	const struct cpg_variant *v;
	unsigned int i, k;

	for (i = 0; (v = cpg_variant_at(i)); i++) {
		cpg_t_why(v->name);
		if (!v->what || !v->zero || !v->align || v->align & (v->align - 1) ||
		    v->align > 64 || cpg_variant_find(v->name, strlen(v->name)) != v)
			return cpg_t_why(": incomplete");
		if ((v->kind == CPG_STREAMING) != (v->fence != NULL))
			return cpg_t_why(": streams without a fence, or fences without need");
		for (k = 0; k < i; k++) {
			if (cpg_t_same(cpg_variant_at(k)->name, v->name))
				return cpg_t_why(": twice");
		}
		cpg_t_forget_why();
	}
	return i >= 5 && !cpg_variant_at(~0u) && !cpg_variant_find("", 0) &&
	       !cpg_variant_find("stos", 4) && !cpg_variant_find("nosuch", 6);
}

/* Whatever the features: choices that this processor can run, of the kind asked for. */
static bool choices(void)
{
	struct cpg_facts f = { .vendor = CPG_VENDOR_AMD, .family = 0x19 };

	for (f.features = 0; f.features < 128; f.features++) {
		const struct cpg_variant *c = cpg_variant_cached(&f);
		const struct cpg_variant *s = cpg_variant_streaming(&f);

		if (c->kind != CPG_CACHED || s->kind != CPG_STREAMING ||
		    !cpg_variant_usable(c, &f) || !cpg_variant_usable(s, &f))
			return cpg_t_why_num("features ", f.features);
	}
	return true;
}

void cpg_test_facts(const struct cpg_test_env *env)
{
	cpg_t_result(env, llc(0, 8 * M) && llc(1, M) && llc(M - 1, M) && llc(M, M) &&
		     llc(M + 1, M + 1) && llc(32 * M, 32 * M) && llc(1024 * M, 1024 * M) &&
		     llc(1024 * M + 1, 1024 * M) && llc(~(uint64_t)0, 1024 * M),
		     "a last-level cache of nonsense is clamped");
	cpg_t_result(env, features(), "words of the flags line, and back");
	cpg_t_result(env, table(), "the table of variants is sound");
	cpg_t_result(env, choices(), "variants chosen for 128 sets of features can run there");
}
