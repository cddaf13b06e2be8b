/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The other promises of the engine: counts, breathing points, fences, far_min, tally. */
#include "cpg_test_cases.h"
#include "cpg_test_check.h"

#define ORIGIN ((uintptr_t)1 << 40)
#define M ((size_t)1 << 20)

static bool trial(const struct cpg_test_env *env, const char *policy, struct cpg_t_trial *t)
{
	struct cpg_policy p;

	if (cpg_policy_parse(policy, env->facts, &p, NULL))
		return cpg_t_why("does not parse: ") || cpg_t_why(policy);
	cpg_t_trial(t, policy, &p, 1);
	return true;
}

static void counts(const struct cpg_test_env *env, const char *policy, size_t size, size_t touch,
		   uint64_t calls, const char *name)
{
	struct cpg_t_trial t;
	bool ok = trial(env, policy, &t);

	if (ok) {
		cpg_t_run(&t, ORIGIN, size, touch);
		ok = t.tally.far_calls + t.tally.near_calls == calls;
		if (!ok)
			cpg_t_why_num("calls: ", t.tally.far_calls + t.tally.near_calls);
	}
	cpg_t_result(env, ok, name);
}

void cpg_test_counts(const struct cpg_test_env *env)
{
	counts(env, "stock", 2 * M, 0, 512, "stock, 2M touched at 0: 512 calls");
	counts(env, "stock", 2 * M, M, 512, "stock, 2M touched in the middle: 512 calls");
	counts(env, "ranges", 2 * M, 0, 2, "ranges, 2M touched at 0: 2 calls");
	counts(env, "ranges", 2 * M, M, 3, "ranges, 2M touched in the middle: 3 calls");
	counts(env, "ranges", 2 * M, 2 * M - 1, 2, "ranges, 2M touched at the end: 2 calls");
	counts(env, "ranges", 1024 * M, 0, 33, "ranges, 1G touched at 0: 33 calls");
	counts(env, "extent", 1024 * M, 512 * M, 3, "extent, 1G touched in the middle: 3 calls");
	counts(env, "oneshot", 1024 * M, 0, 1, "oneshot, 1G: 1 call");
	counts(env, "stream", 2 * M, 0, 32, "stream, 2M: 32 calls");
	counts(env, "order=narrow,unit=0,batch=0,window=0", 6 * M, 0, 1536,
	       "narrow without a unit, 6M: pages, forward");
	counts(env, "oneshot", 0, 0, 0, "oneshot, 0 bytes: no call");
}

/* Stopped at breath `stop`: so many breaths, no call after it, the fence all the same. */
static bool stops(struct cpg_t_trial *t, unsigned int stop)
{
	size_t i, breaths = 0, after = 0;

	t->stop = stop;
	cpg_t_run(t, ORIGIN, 2 * M, M + 5);
	for (i = 0; i < cpg_t_log.n; i++) {
		breaths += cpg_t_log.event[i].what == CPG_T_BREATH;
		after += breaths == stop && cpg_t_zeroes(&cpg_t_log.event[i]);
	}
	if (t->err != -ECANCELED || breaths != stop || after)
		return cpg_t_why_trial(t, "was not stopped");
	return cpg_t_breathes(t) && cpg_t_fences(t) && cpg_t_tallies(t);
}

static void cancels(const struct cpg_test_env *env, const char *policy)
{
	struct cpg_t_trial t;
	unsigned int breaths, stop;
	bool ok = trial(env, policy, &t);

	if (ok) {
		cpg_t_run(&t, ORIGIN, 2 * M, M + 5);
		breaths = (unsigned int)t.tally.breaths;
		for (stop = 1; stop <= breaths && ok; stop++)
			ok = stops(&t, stop);
		if (!breaths)
			ok = cpg_t_why("never breathes");
	}
	cpg_t_result_of(env, ok, policy, "cancelled at every breath");
}

/* Nobody asks and nobody counts: the same calls. */
static bool alone(const struct cpg_test_env *env)
{
	struct cpg_t_shape shape;
	struct cpg_t_trial t;

	if (!trial(env, "ranges,batch=512K", &t))
		return false;
	shape = cpg_t_shape_of(&t.policy);
	cpg_t_run(&t, ORIGIN, 2 * M, M);
	cpg_t_log.n = 0;
	if (cpg_clear((void *)t.base, t.size, t.touch, &t.policy, NULL, NULL))
		return cpg_t_why_trial(&t, "the engine failed");
	return cpg_t_follows(&t, &shape);
}

/* A touch outside the zone is none. */
static bool outside(const struct cpg_test_env *env, size_t touch)
{
	struct cpg_t_text none, some;
	struct cpg_t_trial t;

	if (!trial(env, "ranges,batch=512K", &t))
		return false;
	cpg_t_run(&t, ORIGIN, 2 * M, CPG_NO_TOUCH);
	cpg_t_log_text(&t, &none);
	cpg_t_run(&t, ORIGIN, 2 * M, touch);
	cpg_t_log_text(&t, &some);
	if (!cpg_t_same(none.s, some.s))
		return cpg_t_why_trial(&t, "was taken for a touch");
	return true;
}

void cpg_test_breathing(const struct cpg_test_env *env)
{
	cancels(env, "stream");
	cancels(env, "ranges,batch=64K");
	cancels(env, "reverse,unit=64K,batch=128K");
	cancels(env, "stock,unit=16K,batch=64K,window=32K");
	cpg_t_result(env, alone(env), "without breathe and tally: the same calls");
	cpg_t_result(env, outside(env, 2 * M) && outside(env, 2 * M + 1) &&
		     outside(env, CPG_NO_TOUCH - 1), "a touch outside the zone is none");
}

/* ---- fences ------------------------------------------------------------------ */

static const struct cpg_variant cached = { .name = "cached", .kind = CPG_CACHED };
static const struct cpg_variant streaming = { .name = "streaming", .kind = CPG_STREAMING };

static bool fences(const struct cpg_variant *far, const struct cpg_variant *near, bool own,
		   size_t touch, size_t far_min, const char *want)
{
	struct cpg_policy p = {
		.far = far, .near = near, .window = 4 << 10, .far_min = far_min,
		.order = CPG_FORWARD,
	};
	struct cpg_t_text log;
	struct cpg_t_trial t;

	cpg_t_trial(&t, far->name, &p, 1);
	if (own)
		cpg_t_trial_own_fence(&t);
	cpg_t_run(&t, ORIGIN, 32 << 10, touch);
	cpg_t_log_text(&t, &log);
	if (!cpg_t_same(log.s, want)) {
		cpg_t_why("expected ");
		cpg_t_why(want);
		cpg_t_why(", got ");
		return cpg_t_why(log.s);
	}
	return cpg_t_fences(&t);
}

/* Edges are plain stores: a zone without a whole line needs no fence. */
static bool edges_fence(const struct cpg_test_env *env, size_t size, size_t want)
{
	struct cpg_policy p = { .far = &streaming, .near = &streaming };
	struct cpg_t_trial t;

	cpg_t_trial(&t, "stream", &p, 64);
	cpg_t_run(&t, (uintptr_t)env->buffer + 1, size, CPG_NO_TOUCH);
	if (cpg_t_log.n != want)
		return cpg_t_why_trial(&t, "calls or fences of edges");
	return cpg_t_fences(&t);
}

void cpg_test_fences(const struct cpg_test_env *env)
{
	const struct cpg_variant *c = &cached, *s = &streaming;

	cpg_t_result(env, fences(c, c, false, 0, 0, "1-7 n0"), "cached, cached: no fence");
	cpg_t_result(env, fences(s, c, false, 0, 0, "1-7 n0 F"), "streaming, cached: one");
	cpg_t_result(env, fences(c, s, false, 0, 0, "1-7 n0 F"), "cached, streaming: one");
	cpg_t_result(env, fences(s, s, false, 0, 0, "1-7 n0 F"), "streaming twice: one");
	cpg_t_result(env, fences(s, s, true, 0, 0, "1-7 n0 F F"),
		     "streaming of two kinds: one of each");
	cpg_t_result(env, fences(c, s, false, CPG_NO_TOUCH, 0, "0-7"),
		     "a streaming window that nobody touched: none");
	cpg_t_result(env, fences(s, c, false, 0, 1 << 20, "n1-7 n0"),
		     "streaming for larger zones only: none");
	cpg_t_result(env, edges_fence(env, 100, 0), "edges only: none");
	cpg_t_result(env, edges_fence(env, 200, 2), "edges and lines: one");
}

/* ---- far_min, tally ---------------------------------------------------------------- */

static bool switches(const struct cpg_test_env *env, size_t far_min, size_t size, bool far)
{
	struct cpg_policy p = { .far = &streaming, .near = &cached, .far_min = far_min };
	struct cpg_t_trial t;

	(void)env;
	cpg_t_trial(&t, "far_min", &p, 1);
	cpg_t_run(&t, ORIGIN + 77, size, CPG_NO_TOUCH);
	if (cpg_t_log.event[0].what != (far ? CPG_T_FAR : CPG_T_NEAR))
		return cpg_t_why_trial(&t, "the wrong variant");
	if (t.tally.far_bytes != (far ? size : 0) || t.tally.near_bytes != (far ? 0 : size))
		return cpg_t_why_trial(&t, "the wrong tally");
	return true;
}

void cpg_test_far_min(const struct cpg_test_env *env)
{
	static const size_t at[] = { 2, 4096, 65536, 100001, 2 << 20 };
	bool ok = switches(env, 0, 1, true) && switches(env, 1, 1, true);
	unsigned int i;

	for (i = 0; i < CPG_ARRAY_LEN(at) && ok; i++)
		ok = switches(env, at[i], at[i] - 1, false) && switches(env, at[i], at[i], true) &&
		     switches(env, at[i], at[i] + 1, true);
	cpg_t_result(env, ok, "far_min switches at the exact byte");
}

/* The same variant far and near: what lies in the window is still counted as near. */
static bool by_role(void)
{
	struct cpg_policy p = { .far = &cached, .near = &cached, .window = 20 << 10 };
	struct cpg_t_trial t;

	cpg_t_trial(&t, "one variant", &p, 1);
	t.policy.near = &t.far;
	cpg_t_run(&t, ORIGIN, 2 * M, M);
	if (t.tally.near_bytes != 20 << 10 || t.tally.near_calls != 1 || t.tally.far_calls != 2)
		return cpg_t_why_trial(&t, "near is not what lies in the window");
	return true;
}

void cpg_test_tally(const struct cpg_test_env *env)
{
	struct cpg_tally sum = { 0 };
	struct cpg_t_trial t;
	bool ok = trial(env, "ranges,batch=64K", &t);
	unsigned int i;

	if (ok) {
		cpg_t_run(&t, ORIGIN, 2 * M, M);
		for (i = 0; i < 3; i++)
			cpg_clear((void *)t.base, t.size, t.touch, &t.policy, NULL, &sum);
		ok = sum.far_calls == 3 * t.tally.far_calls &&
		     sum.near_calls == 3 * t.tally.near_calls &&
		     sum.far_bytes == 3 * t.tally.far_bytes &&
		     sum.near_bytes == 3 * t.tally.near_bytes &&
		     sum.breaths == 3 * t.tally.breaths && sum.breaths;
	}
	cpg_t_result(env, ok, "a tally is added to");
	cpg_t_result(env, by_role(), "one variant for both: counted by where");
}
