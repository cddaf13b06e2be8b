/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reference model of the orders. */
#include "cpg_test_model.h"

struct cpg_t_model cpg_t_model;

#define MIB_PAGES ((size_t)256)

static const struct {
	const char *name;
	struct cpg_t_shape shape;
} named[] = {
	{ "stock", { .order = CPG_NARROW, .unit = 1, .batch = 1 } },
	{ "oneshot", { .order = CPG_FORWARD } },
	{ "forward", { .order = CPG_FORWARD, .unit = 1 } },
	{ "reverse", { .order = CPG_REVERSE, .unit = 1 } },
	{ "extent", { .order = CPG_FORWARD, .window = true, .before = 2, .after = 2 } },
	{ "ranges", { .order = CPG_RIGHT_FIRST, .window = true, .before = 2, .after = 2,
		      .batch = 32 * MIB_PAGES } },
	{ "stream", { .order = CPG_FORWARD, .batch = 16 } },
};

const struct cpg_t_shape *cpg_t_shape_named(const char *name)
{
	unsigned int i;

	for (i = 0; i < CPG_ARRAY_LEN(named); i++)
		if (cpg_t_same(name, named[i].name))
			return &named[i].shape;
	return NULL;
}

struct cpg_t_shape cpg_t_shape_of(const struct cpg_policy *p)
{
	struct cpg_t_shape s = {
		.order = p->order,
		.window = p->window != 0,
		.unit = p->unit / CPG_GRANULE,
		.batch = p->batch / CPG_GRANULE,
		.far_min = p->far_min,
	};
	size_t i;

	/* Page by page, one side and the other in turn; the odd one behind. */
	for (i = 1; i < p->window / CPG_GRANULE; i++) {
		if (i % 2)
			s.after++;
		else
			s.before++;
	}
	if (s.order == CPG_NARROW && !s.unit)
		s.unit = 1;
	return s;
}

static void call(size_t first, size_t end, bool near)
{
	if (cpg_t_model.n == CPG_T_CALLS) {
		cpg_t_model.full = true;
		return;
	}
	cpg_t_model.call[cpg_t_model.n++] = (struct cpg_t_call){ first, end, near };
}

static size_t longest(const struct cpg_t_shape *s)
{
	if (!s->unit || !s->batch)
		return s->unit + s->batch;
	return s->unit < s->batch ? s->unit : s->batch;
}

static void upwards(const struct cpg_t_shape *s, size_t lo, size_t hi, bool near)
{
	size_t most = longest(s), page, end;

	for (page = lo; page < hi && !cpg_t_model.full; page = end) {
		end = most && page + most < hi ? page + most : hi;
		call(page, end, near);
	}
}

static void downwards(const struct cpg_t_shape *s, size_t lo, size_t hi, bool near)
{
	size_t most = longest(s), end, page;

	for (end = hi; end > lo && !cpg_t_model.full; end = page) {
		page = most && end > lo + most ? end - most : lo;
		call(page, end, near);
	}
}

/*
 * From the ends toward the touched unit: take the edge on its left side, walk
 * toward that from the far end of the zone, and at each distance take the unit
 * on the left of the edge, then the one on the right, as far as there are any.
 */
static void narrowing(const struct cpg_t_shape *s, size_t pages, size_t touched, size_t wlo,
		      size_t whi, bool small)
{
	size_t size = longest(s), units = (pages + size - 1) / size, t = touched / size;
	size_t side[2], distance, i;

	for (distance = units; distance-- > 0;) {
		side[0] = distance < t ? t - 1 - distance : units;
		side[1] = t + distance;
		for (i = 0; i < 2; i++) {
			size_t first = side[i] * size, end = first + size;

			if (side[i] >= units)
				continue;
			if (end > pages)
				end = pages;
			call(first, end, small || (first >= wlo && end <= whi));
		}
	}
}

void cpg_t_model_of(const struct cpg_t_shape *s, size_t size, size_t pages, size_t touched)
{
	bool small = size < s->far_min;
	size_t wlo = pages, whi = pages;

	cpg_t_model.n = 0;
	cpg_t_model.full = false;
	if (s->window && touched != CPG_NO_TOUCH) {
		wlo = touched < s->before ? 0 : touched - s->before;
		whi = pages - touched <= s->after ? pages : touched + s->after + 1;
	}

	if (s->order == CPG_NARROW && size <= CPG_NARROW_MAX) {
		narrowing(s, pages, touched == CPG_NO_TOUCH ? 0 : touched, wlo, whi, small);
		return;
	}
	if (s->order == CPG_REVERSE) {
		downwards(s, whi, pages, small);
		downwards(s, 0, wlo, small);
	} else if (s->order == CPG_RIGHT_FIRST) {
		upwards(s, whi, pages, small);
		upwards(s, 0, wlo, small);
	} else {
		upwards(s, 0, wlo, small);
		upwards(s, whi, pages, small);
	}
	upwards(s, wlo, whi, true);
}
