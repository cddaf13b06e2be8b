/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Faults planted where the other cases look: the very same checkers have to find each of them. */
#include "cpg_test_cases.h"
#include "cpg_test_check.h"
#include "cpg_test_variants.h"

#define ORIGIN ((uintptr_t)1 << 40)

static void zero(unsigned char *p, size_t len)
{
	memset(p, 0, len);
}

static void forgets(void *addr, size_t len)
{
	(void)addr;
	(void)len;
}

static void skips_last_line(void *addr, size_t len)
{
	zero(addr, len > 64 ? len - 64 : 0);
}

static void skips_a_middle_line(void *addr, size_t len)
{
	unsigned char *p = addr;

	zero(p, len);
	if (len >= 256)
		cpg_t_dirty(p + 128, 64);
}

static void one_short(void *addr, size_t len)
{
	zero(addr, len - 1);
}

static void one_too_far(void *addr, size_t len)
{
	zero(addr, len + 1);
}

static void one_too_early(void *addr, size_t len)
{
	zero((unsigned char *)addr - 1, len + 1);
}

static void a_line_too_far(void *addr, size_t len)
{
	zero(addr, len);
	zero((unsigned char *)addr + len, 64);
}

static void not_quite_zero(void *addr, size_t len)
{
	zero(addr, len);
	((unsigned char *)addr)[len / 2] = 1;
}

static void wraps_at_64k(void *addr, size_t len)
{
	zero(addr, len & 0xffff);
}

static const struct planted {
	struct cpg_variant v;
	bool is_short, is_long;	/* the cases that have to find it */
} planted[] = {
	{ { .name = "forgets", .align = 1, .zero = forgets }, true, true },
	{ { .name = "skips the last line", .align = 64, .zero = skips_last_line }, true, true },
	{ { .name = "skips a middle line", .align = 64, .zero = skips_a_middle_line }, true, true },
	{ { .name = "one byte short", .align = 1, .zero = one_short }, true, true },
	{ { .name = "one byte too far", .align = 1, .zero = one_too_far }, true, true },
	{ { .name = "one byte too early", .align = 64, .zero = one_too_early }, true, true },
	{ { .name = "a line too far", .align = 64, .zero = a_line_too_far }, true, true },
	{ { .name = "not quite zero", .align = 8, .zero = not_quite_zero }, true, true },
	{ { .name = "length of 16 bits", .align = 8, .zero = wraps_at_64k }, false, true },
};

void cpg_test_planted_variants(const struct cpg_test_env *env)
{
	struct cpg_test_env inner = *env;
	unsigned int i, how;

	/* A page on both sides: those that go too far are to be caught, not to crash. */
	inner.buffer = (unsigned char *)env->buffer + CPG_GRANULE;
	inner.size = env->size - 2 * CPG_GRANULE;
	for (i = 0; i < CPG_ARRAY_LEN(planted); i++) {
		const struct planted *p = &planted[i];
		bool ok = true;

		for (how = CPG_T_BARE; how <= CPG_T_ENGINE; how++) {
			ok = ok && cpg_t_zeroes_short(&inner, &p->v, how) == !p->is_short;
			ok = ok && cpg_t_zeroes_long(&inner, &p->v, how) == !p->is_long;
		}
		cpg_t_forget_why();
		cpg_t_result_of(env, ok, "a planted variant is caught", p->v.name);
	}
}

/* ---- logs of a right run, spoilt ---------------------------------------------------- */

static struct cpg_t_event *event(enum cpg_t_what what, unsigned int which)
{
	size_t i;

	for (i = 0; i < cpg_t_log.n; i++)
		if (cpg_t_log.event[i].what == what && !which--)
			return &cpg_t_log.event[i];
	return &cpg_t_log.event[0];
}

static void take_out(struct cpg_t_event *e)
{
	struct cpg_t_event *end = &cpg_t_log.event[--cpg_t_log.n];

	for (; e < end; e++)
		e[0] = e[1];
}

static void swap(struct cpg_t_event *a, struct cpg_t_event *b)
{
	struct cpg_t_event c = *a;

	*a = *b;
	*b = c;
}

static void leave_out(void)
{
	take_out(event(CPG_T_FAR, 3));
}

static void do_twice(void)
{
	*event(CPG_T_FAR, 3) = *event(CPG_T_FAR, 2);
}

static void swap_two(void)
{
	swap(event(CPG_T_FAR, 2), event(CPG_T_FAR, 3));
}

static void wrong_variant(void)
{
	event(CPG_T_FAR, 2)->what = CPG_T_NEAR;
}

static void go_outside(void)
{
	event(CPG_T_FAR, 0)->lo -= CPG_GRANULE;
}

static void end_early(void)
{
	event(CPG_T_FAR, 2)->len -= 64;
}

static void no_breath(void)
{
	take_out(event(CPG_T_BREATH, 0));
}

static void breath_first(void)
{
	swap(event(CPG_T_FAR, 0), event(CPG_T_BREATH, 0));
}

static void no_fence(void)
{
	take_out(event(CPG_T_FENCE, 0));
}

static void fence_early(void)
{
	swap(event(CPG_T_FENCE, 0), &cpg_t_log.event[cpg_t_log.n - 2]);
}

static void fence_twice(void)
{
	cpg_t_log.event[cpg_t_log.n] = *event(CPG_T_FENCE, 0);
	cpg_t_log.n++;
}

static const struct {
	const char *name;
	void (*spoil)(void);
} spoilt[] = {
	{ "a call left out", leave_out },
	{ "a call twice", do_twice },
	{ "two calls swapped", swap_two },
	{ "the wrong variant", wrong_variant },
	{ "a call outside the zone", go_outside },
	{ "a call that ends early", end_early },
	{ "a breath left out", no_breath },
	{ "a breath before the first extent", breath_first },
	{ "no fence", no_fence },
	{ "a fence before the last extent", fence_early },
	{ "two fences", fence_twice },
};

/* A streaming policy with a cached window, whole or spoilt. */
static bool passes(const struct cpg_test_env *env, void (*spoil)(void))
{
	struct cpg_policy p = {
		.far = cpg_variant_streaming(env->facts), .near = cpg_variant_cached(env->facts),
		.window = 16 << 10, .batch = 64 << 10, .unit = 16 << 10, .order = CPG_NARROW,
	};
	struct cpg_t_shape shape = cpg_t_shape_of(&p);
	struct cpg_t_trial t;

	cpg_t_trial(&t, "to be spoilt", &p, 1);
	cpg_t_run(&t, ORIGIN, 1 << 20, 300 << 10);
	if (spoil)
		spoil();
	return cpg_t_checks(&t, &shape, env);
}

void cpg_test_planted_orders(const struct cpg_test_env *env)
{
	unsigned int i;

	cpg_t_result(env, passes(env, NULL), "a right log passes");
	for (i = 0; i < CPG_ARRAY_LEN(spoilt); i++) {
		bool ok = !passes(env, spoilt[i].spoil);

		cpg_t_forget_why();
		cpg_t_result_of(env, ok, "a planted fault is caught", spoilt[i].name);
	}
}
