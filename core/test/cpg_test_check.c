/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The log of a trial against the promises. */
#include "cpg_test_check.h"

static size_t page_of(const struct cpg_t_trial *t, uintptr_t addr)
{
	return addr / CPG_GRANULE - t->base / CPG_GRANULE;
}

static bool on_a_page(const struct cpg_t_trial *t, uintptr_t addr)
{
	return addr % CPG_GRANULE == 0 || addr == t->base || addr == t->base + t->size;
}

static bool lies_in(const struct cpg_t_trial *t, const struct cpg_t_event *e)
{
	return e->len && e->lo >= t->base && e->len <= t->size &&
	       e->lo - t->base <= t->size - e->len;
}

bool cpg_t_covers(const struct cpg_t_trial *t, unsigned char *seen, size_t room)
{
	size_t pages = page_of(t, t->base + t->size - 1) + 1, i, page;

	if (cpg_t_log.full || pages > room)
		return cpg_t_why_trial(t, "too many events or pages to check");
	memset(seen, 0, pages);
	for (i = 0; i < cpg_t_log.n; i++) {
		const struct cpg_t_event *e = &cpg_t_log.event[i];

		if (!cpg_t_zeroes(e))
			continue;
		if (!lies_in(t, e))
			return cpg_t_why_trial(t, "a call outside the zone");
		if (!on_a_page(t, e->lo) || !on_a_page(t, e->lo + e->len))
			return cpg_t_why_trial(t, "a call that ends inside a page");
		for (page = page_of(t, e->lo); page <= page_of(t, e->lo + e->len - 1); page++)
			if (seen[page]++)
				return cpg_t_why_trial(t, "a page twice");
	}
	for (page = 0; page < pages; page++)
		if (!seen[page])
			return cpg_t_why_trial(t, "a page left out");
	return true;
}

/* The part of pages [first, end) that a variant of this alignment is called for. */
static struct cpg_t_event part(const struct cpg_t_trial *t, const struct cpg_t_call *c)
{
	uintptr_t origin = t->base / CPG_GRANULE * CPG_GRANULE, align = t->far.align;
	uintptr_t lo = origin + c->first * CPG_GRANULE, hi = origin + c->end * CPG_GRANULE;

	if (lo < t->base)
		lo = t->base;
	if (hi > t->base + t->size)
		hi = t->base + t->size;
	lo = (lo + align - 1) / align * align;
	hi = hi / align * align;
	return (struct cpg_t_event){ c->near ? CPG_T_NEAR : CPG_T_FAR, lo, hi > lo ? hi - lo : 0 };
}

bool cpg_t_follows(const struct cpg_t_trial *t, const struct cpg_t_shape *s)
{
	size_t touched = t->touch < t->size ? page_of(t, t->base + t->touch) : CPG_NO_TOUCH;
	size_t i = 0, k;

	cpg_t_model_of(s, t->size, page_of(t, t->base + t->size - 1) + 1, touched);
	if (cpg_t_model.full)
		return cpg_t_why_trial(t, "too many calls for the model");
	for (k = 0; k < cpg_t_model.n; k++) {
		struct cpg_t_event want = part(t, &cpg_t_model.call[k]);
		const struct cpg_t_event *e = &cpg_t_log.event[i];

		if (!want.len)
			continue;
		for (; i < cpg_t_log.n && !cpg_t_zeroes(e); e = &cpg_t_log.event[i])
			i++;
		if (i == cpg_t_log.n)
			return cpg_t_why_trial(t, "too few calls");
		if (e->what != want.what || e->lo != want.lo || e->len != want.len) {
			cpg_t_why_num("call ", k);
			return cpg_t_why_trial(t, " is not the one promised");
		}
		i++;
	}
	for (; i < cpg_t_log.n; i++)
		if (cpg_t_zeroes(&cpg_t_log.event[i]))
			return cpg_t_why_trial(t, "too many calls");
	return true;
}

bool cpg_t_breathes(const struct cpg_t_trial *t)
{
	bool whole = t->far.align == 1;	/* else some bytes, or extents, are edges and not logged */
	bool fresh = true;		/* nothing zeroed since the start or the last breath */
	size_t since = 0, before = 0, i;

	for (i = 0; i < cpg_t_log.n; i++) {
		const struct cpg_t_event *e = &cpg_t_log.event[i];

		if (e->what == CPG_T_BREATH) {
			if (fresh && whole)
				return cpg_t_why_trial(t, "a breath before an extent");
			fresh = true;
			before = since;
			since = 0;
		} else if (cpg_t_zeroes(e)) {
			if (t->policy.unit && e->len > t->policy.unit)
				return cpg_t_why_trial(t, "an extent over unit");
			since += e->len;
			if (t->policy.batch && since > t->policy.batch)
				return cpg_t_why_trial(t, "more than batch without a breath");
			if (fresh && before && whole && before + e->len <= t->policy.batch)
				return cpg_t_why_trial(t, "a breath without need");
			fresh = false;
		}
	}
	if (fresh && whole && !t->stop && cpg_t_log.n)
		return cpg_t_why_trial(t, "a breath after the last extent");
	return true;
}

bool cpg_t_fences(const struct cpg_t_trial *t)
{
	unsigned int shared = 0, own = 0, want_shared = 0, want_own = 0;
	size_t i;

	for (i = 0; i < cpg_t_log.n; i++) {
		const struct cpg_t_event *e = &cpg_t_log.event[i];

		if (e->what == CPG_T_FENCE)
			shared++;
		else if (e->what == CPG_T_NEAR_FENCE)
			own++;
		else if (shared || own)
			return cpg_t_why_trial(t, "a fence before the end");
		if (e->what == CPG_T_FAR && t->far.fence)
			want_shared = 1;
		if (e->what == CPG_T_NEAR && t->near.fence)
			*(t->own_fence ? &want_own : &want_shared) = 1;
	}
	if (shared < want_shared || own < want_own)
		return cpg_t_why_trial(t, "streamed and not fenced");
	if (shared > want_shared || own > want_own)
		return cpg_t_why_trial(t, "a fence too many");
	return true;
}

bool cpg_t_tallies(const struct cpg_t_trial *t)
{
	struct cpg_tally sum = { 0 };
	uint64_t edges;
	size_t i;

	for (i = 0; i < cpg_t_log.n; i++) {
		const struct cpg_t_event *e = &cpg_t_log.event[i];

		sum.far_calls += e->what == CPG_T_FAR;
		sum.near_calls += e->what == CPG_T_NEAR;
		sum.far_bytes += e->what == CPG_T_FAR ? e->len : 0;
		sum.near_bytes += e->what == CPG_T_NEAR ? e->len : 0;
		sum.breaths += e->what == CPG_T_BREATH;
	}
	edges = t->tally.far_bytes + t->tally.near_bytes - sum.far_bytes - sum.near_bytes;
	if (sum.far_calls != t->tally.far_calls || sum.near_calls != t->tally.near_calls ||
	    sum.breaths != t->tally.breaths || t->tally.far_bytes < sum.far_bytes ||
	    t->tally.near_bytes < sum.near_bytes || edges > 2 * (uint64_t)(t->far.align - 1))
		return cpg_t_why_trial(t, "the tally is not what was done");
	if (!t->err && t->tally.far_bytes + t->tally.near_bytes != t->size)
		return cpg_t_why_trial(t, "the tally is not the size of the zone");
	return true;
}

bool cpg_t_checks(const struct cpg_t_trial *t, const struct cpg_t_shape *s,
		  const struct cpg_test_env *env)
{
	if (t->err)
		return cpg_t_why_trial(t, "the engine failed");
	if (t->far.align == 1 && !cpg_t_covers(t, env->buffer, env->size))
		return false;
	return cpg_t_follows(t, s) && cpg_t_breathes(t) && cpg_t_fences(t) && cpg_t_tallies(t);
}
