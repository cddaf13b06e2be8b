/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine: a zone, a touch and a policy become calls of variants.
 *
 * All positions are addresses, not offsets: inner boundaries lie on multiples
 * of the granule even where the zone does not begin on one, so that only its
 * two ends can need anything but a variant.
 */
#include "cpg.h"

struct run {
	const struct cpg_policy *policy;
	const struct cpg_breathe *breathe;
	struct cpg_tally *tally;
	void (*fence[2])(void);		/* that of far, of near: of those called so far */
	bool small;			/* under far_min: near takes all of it */
	uintptr_t lo, hi;		/* the zone */
	uintptr_t wlo, whi;		/* the window in it, empty if wlo == whi */
	size_t step;			/* the longest extent, 0: no limit */
	size_t since;			/* bytes since the last breathing point */
};

static uintptr_t down(uintptr_t x, uintptr_t to)
{
	return x & ~(to - 1);
}

static uintptr_t up(uintptr_t x, uintptr_t to)
{
	return down(x + to - 1, to);
}

/*
 * Fewer bytes than any variant's alignment. A loop and not rep stosb: without
 * FSRM a short rep takes longer than 63 stores. The barrier keeps the
 * compiler from making a call of memset out of it.
 */
static void edge(uintptr_t lo, uintptr_t hi)
{
	unsigned char *p;

	for (p = (unsigned char *)lo; p < (unsigned char *)hi; p++) {
		*p = 0;
		__asm__ volatile("" : : : "memory");
	}
}

static void call(struct run *r, bool near, uintptr_t lo, uintptr_t hi)
{
	const struct cpg_variant *v = near ? r->policy->near : r->policy->far;
	uintptr_t from = up(lo, v->align), to = down(hi, v->align);
	bool any = from < to;

	if (!any)
		from = to = hi;
	edge(lo, from);
	if (any) {
		v->zero((void *)from, to - from);
		r->fence[near] = v->fence;
	}
	edge(to, hi);

	if (near) {
		r->tally->near_calls += any;
		r->tally->near_bytes += hi - lo;
	} else {
		r->tally->far_calls += any;
		r->tally->far_bytes += hi - lo;
	}
}

static int extent(struct run *r, uintptr_t lo, uintptr_t hi)
{
	bool near = r->small || (lo >= r->wlo && hi <= r->whi);

	if (r->policy->batch && r->since && r->since + (hi - lo) > r->policy->batch) {
		r->tally->breaths++;
		r->since = 0;
		if (r->breathe && !r->breathe->fn(r->breathe->arg))
			return -ECANCELED;
	}
	call(r, near, lo, hi);
	r->since += hi - lo;
	return 0;
}

static int forward(struct run *r, uintptr_t lo, uintptr_t hi)
{
	while (lo < hi) {
		uintptr_t next = hi;
		int err;

		if (r->step && hi - down(lo, CPG_GRANULE) > r->step)
			next = down(lo, CPG_GRANULE) + r->step;
		err = extent(r, lo, next);
		if (err)
			return err;
		lo = next;
	}
	return 0;
}

static int reverse(struct run *r, uintptr_t lo, uintptr_t hi)
{
	while (lo < hi) {
		uintptr_t next = lo;
		int err;

		if (r->step && up(hi, CPG_GRANULE) - lo > r->step)
			next = up(hi, CPG_GRANULE) - r->step;
		err = extent(r, next, hi);
		if (err)
			return err;
		hi = next;
	}
	return 0;
}

/* Unit i of the zone, counted on the grid that its first granule begins. */
static int unit(struct run *r, size_t i)
{
	uintptr_t lo = down(r->lo, CPG_GRANULE) + i * r->step, hi = lo + r->step;

	if (lo < r->lo)
		lo = r->lo;
	if (hi > r->hi)
		hi = r->hi;
	return extent(r, lo, hi);
}

/*
 * What process_huge_page() of kernels <= 6.19 does. The units that have no
 * mirror image on the other side of the touched unit t come first, the
 * farthest of them at once; the others in pairs, left then right, closing in.
 * The touched unit is the last right one. A touch in unit 0 therefore means
 * plain descending order, the one that hardware prefetch likes least.
 */
static int narrow(struct run *r, size_t touch)
{
	size_t n = (r->hi - down(r->lo, CPG_GRANULE) + r->step - 1) / r->step;
	size_t t = (r->lo + touch - down(r->lo, CPG_GRANULE)) / r->step;
	size_t left, pairs, i;
	int err = 0;

	if (2 * t <= n) {
		left = 0;
		pairs = t;
		for (i = n; i > 2 * t && !err; i--)
			err = unit(r, i - 1);
	} else {
		left = 2 * t - n;
		pairs = n - t;
		for (i = 0; i < left && !err; i++)
			err = unit(r, i);
	}
	for (i = 0; i < pairs && !err; i++) {
		err = unit(r, left + i);
		if (!err)
			err = unit(r, left + 2 * pairs - 1 - i);
	}
	return err;
}

static void place_window(struct run *r, size_t touch)
{
	size_t window = r->policy->window, before;
	uintptr_t page;

	r->wlo = r->whi = r->hi;
	if (!window || touch == CPG_NO_TOUCH)
		return;
	page = down(r->lo + touch, CPG_GRANULE);
	before = down((window - CPG_GRANULE) / 2, CPG_GRANULE);
	r->wlo = page > r->lo && page - r->lo > before ? page - before : r->lo;
	r->whi = r->hi - page > window - before ? page + window - before : r->hi;
}

static size_t longest_extent(const struct cpg_policy *policy)
{
	size_t step = policy->unit;

	if (!step && policy->order == CPG_NARROW)
		step = CPG_GRANULE;
	if (!step || (policy->batch && policy->batch < step))
		step = policy->batch;
	return step;
}

static int sweep(struct run *r, size_t touch, bool narrowing)
{
	int err;

	if (narrowing)
		return narrow(r, touch);
	if (r->policy->order == CPG_REVERSE) {
		err = reverse(r, r->whi, r->hi);
		if (!err)
			err = reverse(r, r->lo, r->wlo);
	} else if (r->policy->order == CPG_RIGHT_FIRST) {
		err = forward(r, r->whi, r->hi);
		if (!err)
			err = forward(r, r->lo, r->wlo);
	} else {
		err = forward(r, r->lo, r->wlo);
		if (!err)
			err = forward(r, r->whi, r->hi);
	}
	return err ? err : forward(r, r->wlo, r->whi);
}

int cpg_clear(void *base, size_t size, size_t touch, const struct cpg_policy *policy,
	      const struct cpg_breathe *breathe, struct cpg_tally *tally)
{
	bool narrowing = policy->order == CPG_NARROW && size <= CPG_NARROW_MAX;
	struct cpg_tally scratch = { 0 };
	struct run r = {
		.policy = policy,
		.small = size < policy->far_min,
		.breathe = breathe,
		.tally = tally ? tally : &scratch,
		.lo = (uintptr_t)base,
		.hi = (uintptr_t)base + size,
		.step = longest_extent(policy),
	};
	int err;

	if (!size)
		return 0;
	if (touch >= size)
		touch = CPG_NO_TOUCH;
	place_window(&r, touch);
	err = sweep(&r, touch == CPG_NO_TOUCH ? 0 : touch, narrowing);

	if (r.fence[0])
		r.fence[0]();
	if (r.fence[1] && r.fence[1] != r.fence[0])
		r.fence[1]();
	return err;
}
