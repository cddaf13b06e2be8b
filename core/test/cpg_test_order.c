/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* In which order, by which calls, each byte once: against words, and against the model. */
#include "cpg_test_cases.h"
#include "cpg_test_check.h"

#define ORIGIN ((uintptr_t)1 << 40)	/* recorders touch nothing */
#define K ((size_t)1 << 10)
#define M ((size_t)1 << 20)

/*
 * Worked out by hand: stock from process_huge_page() of Linux 6.18, ranges from
 * folio_zero_user() of 7.0, the others from the words of the design.
 */
static const struct {
	const char *policy;
	size_t pages, touched;
	const char *log;
} literal[] = {
	{ "stock", 8, 3, "7|6|0|5|1|4|2|3" },
	{ "stock", 8, 0, "7|6|5|4|3|2|1|0" },
	{ "stock", 8, 4, "0|7|1|6|2|5|3|4" },
	{ "stock", 8, 5, "0|1|2|7|3|6|4|5" },
	{ "stock", 8, 7, "0|1|2|3|4|5|6|7" },
	{ "stock", 1, 0, "0" },
	{ "stock", 2, 1, "0|1" },
	{ "stock", 3, 1, "2|0|1" },
	{ "stock", 5, 2, "4|0|3|1|2" },
	{ "stock,unit=8K,batch=8K", 8, 5, "0-1|6-7|2-3|4-5" },
	{ "stock,window=12K", 8, 3, "7|6|0|5|1|n4|n2|n3" },
	{ "oneshot", 8, 3, "0-7" },
	{ "forward", 5, 3, "0 1 2 3 4" },
	{ "forward,unit=64K", 20, 3, "0-15 16-19" },
	{ "forward,unit=8K,batch=16K", 7, 3, "0-1 2-3|4-5 6" },
	{ "reverse", 5, 3, "4 3 2 1 0" },
	{ "reverse,unit=8K", 5, 3, "3-4 1-2 0" },
	{ "extent", 12, 5, "0-2 8-11 n3-7" },
	{ "extent", 12, 0, "3-11 n0-2" },
	{ "extent", 12, 11, "0-8 n9-11" },
	{ "extent", 5, 2, "n0-4" },
	{ "ranges", 12, 5, "8-11 0-2 n3-7" },
	{ "ranges", 12, 0, "3-11 n0-2" },
	{ "ranges", 12, 1, "4-11 n0-3" },
	{ "ranges", 12, 2, "5-11 n0-4" },
	{ "ranges", 12, 3, "6-11 0 n1-5" },
	{ "ranges", 12, 11, "0-8 n9-11" },
	{ "ranges", 12, 10, "0-7 n8-11" },
	{ "ranges,batch=16K", 12, 5, "8-11|0-2|n3-6|n7" },
	{ "ranges,window=4K", 4, 1, "2-3 0 n1" },
	{ "ranges,window=8K", 4, 1, "3 0 n1-2" },
	{ "ranges,window=16K", 8, 3, "6-7 0-1 n2-5" },
	{ "stream", 20, 3, "0-15|16-19 F" },
	{ "stream,far_min=80K", 20, 3, "0-15|16-19 F" },
	{ "stream,far_min=81921", 20, 3, "n0-15|n16-19 F" },
	{ "ranges,far_min=1M", 12, 5, "n8-11 n0-2 n3-7" },
	{ "far=movnti,near=stosb,window=16K,far_min=0,batch=8K,unit=0,order=forward", 6, 2,
	  "0 5|n1-2|n3-4 F" },
};

static bool says(const struct cpg_test_env *env, const char *policy, size_t pages, size_t touched,
		 const char *want)
{
	struct cpg_t_text text;
	struct cpg_policy p;
	struct cpg_t_trial t;

	if (cpg_policy_parse(policy, env->facts, &p, NULL))
		return cpg_t_why("does not parse");
	cpg_t_trial(&t, policy, &p, 1);
	cpg_t_run(&t, ORIGIN, pages * CPG_GRANULE, touched * CPG_GRANULE + 77);
	cpg_t_log_text(&t, &text);
	if (cpg_t_same(text.s, want))
		return true;
	cpg_t_why("expected ");
	cpg_t_why(want);
	cpg_t_why(", got ");
	return cpg_t_why(text.s);
}

void cpg_test_orders_literal(const struct cpg_test_env *env)
{
	struct cpg_t_text name;
	unsigned int i;

	for (i = 0; i < CPG_ARRAY_LEN(literal); i++) {
		name.len = 0;
		cpg_t_put(&name, literal[i].policy);
		cpg_t_put_num(&name, ", ", literal[i].pages);
		cpg_t_put_num(&name, " pages touched at ", literal[i].touched);
		cpg_t_put(&name, ": ");
		cpg_t_put(&name, literal[i].log);
		cpg_t_result(env, says(env, literal[i].policy, literal[i].pages,
				       literal[i].touched, literal[i].log), name.s);
	}
}

static const size_t sizes[] = {
	1, 63, 64, 4095, 4096, 4097, 8 * K, 20 * K, 28 * K - 1, 64 * K - 1, 64 * K, 64 * K + 1,
	1 * M + 12345, 2 * M - 4 * K, 2 * M, 2 * M + 1, 4 * M - 1, 4 * M, 4 * M + 1,
	6 * M, 33 * M, 64 * M, 100 * M + 4097, 1024 * M,
};

/* The events of a trial, so that what the log cannot hold is not tried: gigabytes by the page. */
static bool fits(const struct cpg_policy *p, size_t size)
{
	size_t step = p->unit ? p->unit : p->batch;

	if (step && p->batch && p->batch < step)
		step = p->batch;
	if (!step)
		step = p->order == CPG_NARROW ? CPG_GRANULE : size;
	return size / step < CPG_T_CALLS - 8;
}

/* First, middle and last byte, three at random, none, and one beyond. */
#define TOUCHES 8

static size_t touch_at(struct cpg_t_random *r, unsigned int i, size_t size)
{
	switch (i) {
	case 0:
		return 0;
	case 1:
		return size / 2;
	case 2:
		return size - 1;
	case 3:
		return CPG_NO_TOUCH;
	case 4:
		return size;
	default:
		return cpg_t_below(r, size);
	}
}

static bool promised(const struct cpg_test_env *env, const char *name, const struct cpg_policy *p,
		     const struct cpg_t_shape *s, struct cpg_t_random *r, size_t size)
{
	const uintptr_t base[] = { 0, 1, 64, 4095, 4032, cpg_t_below(r, CPG_GRANULE) };
	struct cpg_t_trial t;
	unsigned int i, k, align;

	if (!fits(p, size))
		return true;
	for (align = 1; align <= 64; align += 63) {
		cpg_t_trial(&t, name, p, align);
		for (i = 0; i < CPG_ARRAY_LEN(base); i++) {
			/* Edges are written: no edges where there is no memory. */
			if (align > 1 && (base[i] % align || size % align))
				continue;
			for (k = 0; k < TOUCHES; k++) {
				cpg_t_run(&t, ORIGIN + base[i], size, touch_at(r, k, size));
				if (!cpg_t_checks(&t, s, env))
					return false;
			}
		}
	}
	return true;
}

void cpg_test_orders_named(const struct cpg_test_env *env)
{
	const struct cpg_t_shape *words;
	struct cpg_t_shape shape;
	struct cpg_t_random r;
	struct cpg_policy p;
	const char *name;
	unsigned int i, k;

	cpg_t_seed(&r, env->seed);
	for (i = 0; (name = cpg_policy_name_at(i, NULL)); i++) {
		bool ok = !cpg_policy_named(name, strlen(name), env->facts, &p);

		words = cpg_t_shape_named(name);
		shape = words ? *words : cpg_t_shape_of(&p);
		for (k = 0; k < CPG_ARRAY_LEN(sizes) && ok; k++)
			ok = promised(env, name, &p, &shape, &r, sizes[k]);
		cpg_t_result_of(env, ok, name, "each byte once, in the order promised");
	}
}

/* Any policy that text could make, of kinds and sizes at random. */
static void random_policy(const struct cpg_test_env *env, struct cpg_t_random *r,
			  struct cpg_policy *p)
{
	const struct cpg_variant *kind[2] = { cpg_variant_cached(env->facts),
					      cpg_variant_streaming(env->facts) };

	*p = (struct cpg_policy){
		.far = kind[cpg_t_below(r, 2)],
		.near = kind[cpg_t_below(r, 2)],
		.window = cpg_t_below(r, 3) ? cpg_t_below(r, 20) * CPG_GRANULE : 0,
		.far_min = cpg_t_below(r, 2) ? cpg_t_below(r, 4 * M) : 0,
		.batch = cpg_t_below(r, 3) ? (1 + cpg_t_below(r, 40)) * CPG_GRANULE : 0,
		.unit = cpg_t_below(r, 3) ? (1 + cpg_t_below(r, 40)) * CPG_GRANULE : 0,
		.order = (enum cpg_order)cpg_t_below(r, 4),
	};
}

void cpg_test_orders_random(const struct cpg_test_env *env)
{
	struct cpg_t_shape shape;
	struct cpg_t_random r;
	struct cpg_policy p;
	unsigned int i;
	bool ok = true;

	cpg_t_seed(&r, env->seed);
	for (i = 0; i < 2000 && ok; i++) {
		random_policy(env, &r, &p);
		shape = cpg_t_shape_of(&p);
		ok = promised(env, "a random policy", &p, &shape, &r,
			      1 + cpg_t_below(&r, i % 8 ? 256 * K : 5 * M));
	}
	cpg_t_result(env, ok, "2000 random policies: each byte once, in the order promised");
}

/* ---- edges: real memory, recorders that leave alone what they are called for -------- */

static bool edges(const struct cpg_test_env *env, const struct cpg_policy *p, size_t at,
		  size_t size, size_t touch)
{
	unsigned char *base = (unsigned char *)env->buffer + CPG_GRANULE + at, *end = base + size;
	struct cpg_t_shape shape = cpg_t_shape_of(p);
	uintptr_t from = ((uintptr_t)base + 63) / 64 * 64, to = (uintptr_t)end / 64 * 64;
	struct cpg_t_trial t;

	if (from >= to)		/* no line of it is whole: all of it is edge */
		from = to = (uintptr_t)end;
	cpg_t_trial(&t, "edges", p, 64);
	cpg_t_dirty(base - 64, size + 128);
	cpg_t_run(&t, (uintptr_t)base, size, touch);
	if (!cpg_t_checks(&t, &shape, env))
		return false;
	if (cpg_t_unlike(base - 64, 64, CPG_T_DIRT) || cpg_t_unlike(end, 64, CPG_T_DIRT))
		return cpg_t_why_trial(&t, "a neighbour was written");
	if (cpg_t_unlike(base, from - (uintptr_t)base, 0) ||
	    cpg_t_unlike((void *)to, (uintptr_t)end - to, 0))
		return cpg_t_why_trial(&t, "an edge was left out");
	if (cpg_t_unlike((void *)from, to - from, CPG_T_DIRT))
		return cpg_t_why_trial(&t, "an edge goes too far");
	return true;
}

void cpg_test_edges(const struct cpg_test_env *env)
{
	struct cpg_t_random r;
	struct cpg_policy p;
	unsigned int i;
	bool ok = true;

	cpg_t_seed(&r, env->seed);
	for (i = 0; i < 4000 && ok; i++) {
		size_t size = 1 + cpg_t_below(&r, i % 2 ? 200 : 256 * K);

		random_policy(env, &r, &p);
		ok = edges(env, &p, cpg_t_below(&r, 2 * CPG_GRANULE), size, cpg_t_below(&r, size));
	}
	cpg_t_result(env, ok, "4000 random zones: what a variant's alignment leaves over, exactly");
}
