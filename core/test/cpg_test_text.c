/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Policies as text, and sizes: there and back again, and every way to be wrong. */
#include "cpg_test_cases.h"
#include "cpg_test_util.h"

/* A processor with nothing new: what the faults say does not depend on the one at hand. */
static const struct cpg_facts plain = {
	.vendor = CPG_VENDOR_INTEL, .family = 6, .model = 0x55,
	.features = CPG_F_REP_GOOD | CPG_F_ERMS, .llc_bytes = 8 << 20,
};

static const struct cpg_facts zen = {
	.vendor = CPG_VENDOR_AMD, .family = 0x19, .model = 1,
	.features = CPG_F_REP_GOOD | CPG_F_ERMS | CPG_F_CLZERO | CPG_F_AVX2, .llc_bytes = 32 << 20,
};

static bool same_policy(const struct cpg_policy *a, const struct cpg_policy *b)
{
	return a->far == b->far && a->near == b->near && a->window == b->window &&
	       a->far_min == b->far_min && a->batch == b->batch && a->unit == b->unit &&
	       a->order == b->order;
}

/* To text, back, and to text: twice the same. And no byte written beyond any size given. */
static bool round_trip(const struct cpg_facts *facts, const struct cpg_policy *p)
{
	char text[CPG_POLICY_TEXT], cut[CPG_POLICY_TEXT];
	struct cpg_policy back;
	int len = cpg_policy_format(p, text, sizeof(text)), size;

	cpg_t_why(text);
	if (len <= 0 || strlen(text) != (size_t)len)
		return cpg_t_why(": wrong length");
	if (cpg_policy_parse(text, facts, &back, NULL) || !same_policy(p, &back))
		return cpg_t_why(": another policy came back");
	for (size = 0; size <= len; size++) {
		memset(cut, CPG_T_DIRT, sizeof(cut));
		if (cpg_policy_format(p, cut, (size_t)size) != -ERANGE || (size && cut[0]))
			return cpg_t_why_num(": not -ERANGE and empty at size ", (uint64_t)size);
		if (cpg_t_unlike(cut + size, sizeof(cut) - (size_t)size, CPG_T_DIRT))
			return cpg_t_why_num(": written beyond size ", (uint64_t)size);
	}
	if (cpg_policy_format(p, cut, (size_t)size) != len || !cpg_t_same(cut, text))
		return cpg_t_why(": not the same text a second time");
	cpg_t_forget_why();
	return true;
}

static const struct cpg_variant *some_variant(struct cpg_t_random *r, const struct cpg_facts *f)
{
	const struct cpg_variant *v;
	unsigned int n = 0;

	while (cpg_variant_at(n))
		n++;
	do {
		v = cpg_variant_at((unsigned int)cpg_t_below(r, n));
	} while (!cpg_variant_usable(v, f));
	return v;
}

/* All magnitudes alike; round ones and odd ones; 0 and the largest too. */
static size_t some_size(struct cpg_t_random *r, size_t granule)
{
	size_t shift = cpg_t_below(r, 42), size;

	if (shift == 41)
		return 0;
	size = (size_t)1 << shift;
	if (cpg_t_below(r, 2))
		size = cpg_t_below(r, size);
	return size / granule * granule;
}

void cpg_test_text_round(const struct cpg_test_env *env)
{
	const struct cpg_facts *facts[] = { env->facts, &plain, &zen };
	struct cpg_t_random r;
	struct cpg_policy p, parsed;
	const char *name, *what;
	unsigned int i, k;
	bool ok = true;

	for (i = 0; (name = cpg_policy_name_at(i, &what)); i++) {
		for (k = 0, ok = *what; k < CPG_ARRAY_LEN(facts) && ok; k++)
			ok = !cpg_policy_named(name, strlen(name), facts[k], &p) &&
			     !cpg_policy_parse(name, facts[k], &parsed, NULL) &&
			     same_policy(&p, &parsed) && round_trip(facts[k], &p);
		cpg_t_result_of(env, ok, name, "to text and back");
	}
	cpg_t_result(env, i == 8 && cpg_policy_named("nosuch", 6, &plain, &p) == -ENOENT &&
		     cpg_policy_named("ranges", 5, &plain, &p) == -ENOENT, "eight names, no others");

	cpg_t_seed(&r, env->seed);
	for (i = 0, ok = true; i < 3000 && ok; i++) {
		k = (unsigned int)cpg_t_below(&r, CPG_ARRAY_LEN(facts));
		p.far = some_variant(&r, facts[k]);
		p.near = some_variant(&r, facts[k]);
		p.window = some_size(&r, CPG_GRANULE);
		p.far_min = some_size(&r, 1);
		p.batch = some_size(&r, CPG_GRANULE);
		p.unit = some_size(&r, CPG_GRANULE);
		p.order = (enum cpg_order)cpg_t_below(&r, 4);
		ok = round_trip(facts[k], &p);
	}
	cpg_t_result(env, ok, "3000 random policies: to text and back");
}

static void change(const struct cpg_test_env *env, const char *text, const char *full)
{
	char got[CPG_POLICY_TEXT] = "";
	struct cpg_text_error e = { CPG_TEXT_EMPTY, 1, 1 };
	struct cpg_policy p;
	bool ok = !cpg_policy_parse(text, &zen, &p, &e) && e.fault == CPG_TEXT_OK;

	if (ok)
		cpg_policy_format(&p, got, sizeof(got));
	ok = ok && cpg_t_same(got, full);
	if (!ok)
		cpg_t_why(got);
	cpg_t_result_of(env, ok, text, full);
}

void cpg_test_text_changes(const struct cpg_test_env *env)
{
	change(env, "ranges,batch=8M",
	       "far=stosb,near=stosb,window=20K,far_min=0,batch=8M,unit=0,order=right-first");
	change(env, "stream,far=movnti,near=mov,window=64k,far_min=1.5M,order=reverse",
	       "far=movnti,near=mov,window=64K,far_min=1536K,batch=64K,unit=0,order=reverse");
	change(env, "window=16K",
	       "far=clzero,near=stosb,window=16K,far_min=64K,batch=32M,unit=0,order=forward");
	change(env, "order=narrow,unit=4096",
	       "far=clzero,near=stosb,window=0,far_min=64K,batch=32M,unit=4K,order=narrow");
	change(env, "stock,unit=64KiB,batch=1T",
	       "far=stosb,near=stosb,window=0,far_min=0,batch=1T,unit=64K,order=narrow");
	change(env, "forward,far_min=4097",
	       "far=stosb,near=stosb,window=0,far_min=4097,batch=0,unit=4K,order=forward");
	change(env, "extent,order=right-first",
	       "far=stosb,near=stosb,window=20K,far_min=0,batch=0,unit=0,order=right-first");
}

static const struct {
	const char *text;
	enum cpg_text_fault fault;
	size_t pos, len;
} wrong[] = {
	{ "", CPG_TEXT_EMPTY, 0, 0 },
	{ ",", CPG_TEXT_EMPTY, 0, 0 },
	{ "ranges,", CPG_TEXT_EMPTY, 7, 0 },
	{ ",ranges", CPG_TEXT_EMPTY, 0, 0 },
	{ "ranges,,batch=8M", CPG_TEXT_EMPTY, 7, 0 },
	{ "batch=8M,", CPG_TEXT_EMPTY, 9, 0 },
	{ "nosuch", CPG_TEXT_NAME, 0, 6 },
	{ "range", CPG_TEXT_NAME, 0, 5 },
	{ "rangess", CPG_TEXT_NAME, 0, 7 },
	{ "Ranges", CPG_TEXT_NAME, 0, 6 },
	{ " ranges", CPG_TEXT_NAME, 0, 7 },
	{ "ranges ", CPG_TEXT_NAME, 0, 7 },
	{ "ranges\n", CPG_TEXT_NAME, 0, 7 },
	{ "far", CPG_TEXT_NAME, 0, 3 },
	{ "stosb", CPG_TEXT_NAME, 0, 5 },
	{ "nosuch,batch=8M", CPG_TEXT_NAME, 0, 6 },
	{ "=", CPG_TEXT_KEY, 0, 0 },
	{ "=stosb", CPG_TEXT_KEY, 0, 0 },
	{ "fa=stosb", CPG_TEXT_KEY, 0, 2 },
	{ "farr=stosb", CPG_TEXT_KEY, 0, 4 },
	{ "Far=stosb", CPG_TEXT_KEY, 0, 3 },
	{ "ranges, batch=8M", CPG_TEXT_KEY, 7, 6 },
	{ "ranges,batch =8M", CPG_TEXT_KEY, 7, 6 },
	{ "ranges=8M", CPG_TEXT_KEY, 0, 6 },
	{ "batch=8M,batch=4M", CPG_TEXT_TWICE, 9, 5 },
	{ "stream,far=mov,near=mov,far=mov", CPG_TEXT_TWICE, 24, 3 },
	{ "order=", CPG_TEXT_ORDER, 6, 0 },
	{ "order=up", CPG_TEXT_ORDER, 6, 2 },
	{ "order=forwards", CPG_TEXT_ORDER, 6, 8 },
	{ "order=right", CPG_TEXT_ORDER, 6, 5 },
	{ "order=right_first", CPG_TEXT_ORDER, 6, 11 },
	{ "far=", CPG_TEXT_VARIANT, 4, 0 },
	{ "far=nosuch", CPG_TEXT_VARIANT, 4, 6 },
	{ "near=stos", CPG_TEXT_VARIANT, 5, 4 },
	{ "far=STOSB", CPG_TEXT_VARIANT, 4, 5 },
	{ "far==stosb", CPG_TEXT_VARIANT, 4, 6 },
	{ "far=clzero", CPG_TEXT_UNUSABLE, 4, 6 },
	{ "ranges,near=clzero", CPG_TEXT_UNUSABLE, 12, 6 },
	{ "window=", CPG_TEXT_SIZE, 7, 0 },
	{ "window=K", CPG_TEXT_SIZE, 7, 1 },
	{ "window=4X", CPG_TEXT_SIZE, 7, 2 },
	{ "window=-4K", CPG_TEXT_SIZE, 7, 3 },
	{ "window=+4K", CPG_TEXT_SIZE, 7, 3 },
	{ "window= 4K", CPG_TEXT_SIZE, 7, 3 },
	{ "window=4K ", CPG_TEXT_SIZE, 7, 3 },
	{ "window=0x1000", CPG_TEXT_SIZE, 7, 6 },
	{ "far_min=max", CPG_TEXT_SIZE, 8, 3 },
	{ "batch=8M=", CPG_TEXT_SIZE, 6, 3 },
	{ "window=4097", CPG_TEXT_RANGE, 7, 4 },
	{ "window=1", CPG_TEXT_RANGE, 7, 1 },
	{ "batch=6K", CPG_TEXT_RANGE, 6, 2 },
	{ "unit=4K,batch=4.1K", CPG_TEXT_RANGE, 14, 4 },
	{ "unit=1025G", CPG_TEXT_RANGE, 5, 5 },
	{ "unit=2T", CPG_TEXT_RANGE, 5, 2 },
	{ "far_min=1099511627777", CPG_TEXT_RANGE, 8, 13 },
	{ "batch=99999999999999999999G", CPG_TEXT_RANGE, 6, 21 },
	{ "ranges,auto", CPG_TEXT_LATE_NAME, 7, 4 },
	{ "batch=8M,ranges", CPG_TEXT_LATE_NAME, 9, 6 },
	{ "ranges,nosuch", CPG_TEXT_LATE_NAME, 7, 6 },
	{ "ranges,batch", CPG_TEXT_LATE_NAME, 7, 5 },
	{ "far=nosuch,=,,", CPG_TEXT_VARIANT, 4, 6 },
};

static bool is_wrong(unsigned int i)
{
	struct cpg_policy p, untouched;
	struct cpg_text_error e;
	int want = wrong[i].fault == CPG_TEXT_UNUSABLE ? -EOPNOTSUPP : -EINVAL;
	int err;

	memset(&p, CPG_T_DIRT, sizeof(p));
	untouched = p;
	err = cpg_policy_parse(wrong[i].text, &plain, &p, &e);
	if (!same_policy(&p, &untouched))
		return cpg_t_why("the policy was written");
	if (err == want && e.fault == wrong[i].fault && e.pos == wrong[i].pos &&
	    e.len == wrong[i].len && cpg_policy_parse(wrong[i].text, &plain, &p, NULL) == want)
		return true;
	cpg_t_why_num("error ", (uint64_t)-err);
	cpg_t_why_num(" fault ", e.fault);
	cpg_t_why_num(" at ", e.pos);
	return cpg_t_why_num(" length ", e.len);
}

void cpg_test_text_faults(const struct cpg_test_env *env)
{
	unsigned int i, k;
	bool ok = true;

	for (i = 0; i < CPG_ARRAY_LEN(wrong); i++) {
		struct cpg_t_text name = { .len = 0 };

		cpg_t_put(&name, "'");
		cpg_t_put(&name, wrong[i].text);
		cpg_t_put(&name, "' ");
		cpg_t_put(&name, cpg_text_fault(wrong[i].fault));
		cpg_t_result(env, is_wrong(i), name.s);
	}
	for (i = CPG_TEXT_OK + 1; i <= CPG_TEXT_LATE_NAME; i++) {
		for (k = 0; k < CPG_ARRAY_LEN(wrong) && wrong[k].fault != i; k++)
			;
		ok = ok && k < CPG_ARRAY_LEN(wrong);
	}
	cpg_t_result(env, ok, "every fault there is was met");
}

/* Words that may come next to each other, for text that is nearly right. */
static const char *const pieces[] = {
	"auto", "ranges", "stock", "far", "near", "window", "far_min", "batch", "unit", "order",
	"=", "=", "=", "=", ",", ",", ",", "stosb", "clzero", "movnti", "narrow", "forward",
	"0", "4K", "64K", "1T", "9", ".", "5", "G", "i", " ", "-", "\x80", "\t",
};

static bool survives(const struct cpg_test_env *env, const char *text, unsigned int *good)
{
	struct cpg_text_error e = { CPG_TEXT_OK, 0, 0 };
	struct cpg_policy p;
	int err = cpg_policy_parse(text, env->facts, &p, &e);

	*good += !err;
	if (!err)
		return e.fault == CPG_TEXT_OK && round_trip(env->facts, &p);
	cpg_t_why(text);
	if (e.fault == CPG_TEXT_OK || e.pos > strlen(text) || e.len > strlen(text) - e.pos)
		return cpg_t_why(": points outside the text");
	if (err != (e.fault == CPG_TEXT_UNUSABLE ? -EOPNOTSUPP : -EINVAL))
		return cpg_t_why(": the wrong error");
	cpg_t_forget_why();
	return true;
}

void cpg_test_text_fuzz(const struct cpg_test_env *env)
{
	unsigned int i, k, words, good = 0;
	struct cpg_t_random r;
	struct cpg_t_text text;
	bool ok = true;

	cpg_t_seed(&r, env->seed);
	for (i = 0; i < 200000 && ok; i++) {
		text.len = 0;
		text.s[0] = '\0';
		words = (unsigned int)cpg_t_below(&r, 9);
		for (k = 0; k < words; k++)
			cpg_t_put(&text, pieces[cpg_t_below(&r, CPG_ARRAY_LEN(pieces))]);
		ok = survives(env, text.s, &good);
	}
	if (ok && !good)
		ok = cpg_t_why("none of them was a policy: nothing was tested");
	cpg_t_result(env, ok, "200000 random texts: a policy that round trips, or a place in the text");
}

static const struct {
	const char *text;
	int err;
	uint64_t bytes;
} size_texts[] = {
	{ "0", 0, 0 },
	{ "1", 0, 1 },
	{ "4096", 0, 4096 },
	{ "007", 0, 7 },
	{ "5b", 0, 5 },
	{ "5B", 0, 5 },
	{ "4K", 0, 4096 },
	{ "4k", 0, 4096 },
	{ "4kB", 0, 4096 },
	{ "4KB", 0, 4096 },
	{ "4Ki", 0, 4096 },
	{ "4KiB", 0, 4096 },
	{ "4kIb", 0, 4096 },
	{ "2M", 0, 2 << 20 },
	{ "2MB", 0, 2 << 20 },
	{ "2Mi", 0, 2 << 20 },
	{ "1G", 0, 1 << 30 },
	{ "3T", 0, (uint64_t)3 << 40 },
	{ "1.5G", 0, (uint64_t)3 << 29 },
	{ "0.5K", 0, 512 },
	{ "0.3K", 0, 307 },
	{ "1.0", 0, 1 },
	{ "0.000000001T", 0, 1099 },
	{ "0.999999999T", 0, 1099511626676 },
	{ "0.9999999999K", 0, 1023 },
	{ "9223372036854775807", 0, INT64_MAX },
	{ "9223372036854775800", 0, INT64_MAX - 7 },
	{ "8388607T", 0, (uint64_t)8388607 << 40 },
	{ "8388607.5T", 0, ((uint64_t)8388607 << 40) + ((uint64_t)1 << 39) },
	{ "9223372036854775808", -ERANGE, 0 },
	{ "18446744073709551616", -ERANGE, 0 },
	{ "8388608T", -ERANGE, 0 },
	{ "9007199254740992K", -ERANGE, 0 },
	{ "99999999999999999999G", -ERANGE, 0 },
	{ "99999999999999999999", -ERANGE, 0 },
	{ "184467440737095516160000000000000000000000000000001", -ERANGE, 0 },
	{ "", -EINVAL, 0 },
	{ "K", -EINVAL, 0 },
	{ "B", -EINVAL, 0 },
	{ "-1", -EINVAL, 0 },
	{ "+1", -EINVAL, 0 },
	{ " 1", -EINVAL, 0 },
	{ "1 ", -EINVAL, 0 },
	{ "1 K", -EINVAL, 0 },
	{ "4i", -EINVAL, 0 },
	{ "4iB", -EINVAL, 0 },
	{ "4KK", -EINVAL, 0 },
	{ "4KBB", -EINVAL, 0 },
	{ "4KBi", -EINVAL, 0 },
	{ "4P", -EINVAL, 0 },
	{ "0x10", -EINVAL, 0 },
	{ "1e3", -EINVAL, 0 },
	{ "1.", -EINVAL, 0 },
	{ "1.K", -EINVAL, 0 },
	{ ".5K", -EINVAL, 0 },
	{ "1.5.5K", -EINVAL, 0 },
	{ "1,5K", -EINVAL, 0 },
	{ "inf", -EINVAL, 0 },
	{ "nan", -EINVAL, 0 },
	{ "99999999999999999999X", -EINVAL, 0 },
};

void cpg_test_sizes(const struct cpg_test_env *env)
{
	unsigned int i;

	for (i = 0; i < CPG_ARRAY_LEN(size_texts); i++) {
		struct cpg_t_text name = { .len = 0 };
		uint64_t bytes = 12345;
		int err = cpg_size_parse(size_texts[i].text, strlen(size_texts[i].text), &bytes);
		bool ok = err == size_texts[i].err &&
			  bytes == (err ? 12345 : size_texts[i].bytes);

		if (!ok) {
			cpg_t_why_num("bytes ", bytes);
			cpg_t_why_num(" error ", (uint64_t)-err);
		}
		cpg_t_put(&name, "size '");
		cpg_t_put(&name, size_texts[i].text);
		cpg_t_put(&name, err == -ERANGE ? "' is too large" : err ? "' is none" : "'");
		cpg_t_result(env, ok, name.s);
	}
}
