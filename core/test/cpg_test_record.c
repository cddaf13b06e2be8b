/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The recording variants. */
#include "cpg_test_record.h"

struct cpg_t_log cpg_t_log;

static void add(enum cpg_t_what what, void *addr, size_t len)
{
	if (cpg_t_log.n == CPG_T_EVENTS) {
		cpg_t_log.full = true;
		return;
	}
	cpg_t_log.event[cpg_t_log.n++] = (struct cpg_t_event){ what, (uintptr_t)addr, len };
}

static void far_zero(void *addr, size_t len)
{
	add(CPG_T_FAR, addr, len);
}

static void near_zero(void *addr, size_t len)
{
	add(CPG_T_NEAR, addr, len);
}

static void fence(void)
{
	add(CPG_T_FENCE, NULL, 0);
}

static void near_fence(void)
{
	add(CPG_T_NEAR_FENCE, NULL, 0);
}

static unsigned int breaths_left;

static bool breathe(void *arg)
{
	const struct cpg_t_trial *t = arg;

	add(CPG_T_BREATH, NULL, 0);
	return !t->stop || --breaths_left;
}

static struct cpg_variant recorder(const struct cpg_variant *v, unsigned int align,
				   void (*zero)(void *addr, size_t len))
{
	return (struct cpg_variant){
		.name = "recorder", .what = "writes down its calls",
		.kind = v->kind, .align = align, .zero = zero,
		.fence = v->kind == CPG_STREAMING ? fence : NULL,
	};
}

void cpg_t_trial(struct cpg_t_trial *t, const char *name, const struct cpg_policy *p,
		 unsigned int align)
{
	*t = (struct cpg_t_trial){
		.name = name, .policy = *p,
		.far = recorder(p->far, align, far_zero),
		.near = recorder(p->near, align, near_zero),
	};
	t->policy.far = &t->far;
	t->policy.near = &t->near;
}

void cpg_t_trial_own_fence(struct cpg_t_trial *t)
{
	t->own_fence = true;
	t->near.fence = near_fence;
}

void cpg_t_run(struct cpg_t_trial *t, uintptr_t base, size_t size, size_t touch)
{
	struct cpg_breathe b = { breathe, t };

	t->base = base;
	t->size = size;
	t->touch = touch;
	t->tally = (struct cpg_tally){ 0 };
	cpg_t_log.n = 0;
	cpg_t_log.full = false;
	breaths_left = t->stop;
	t->err = cpg_clear((void *)base, size, touch, &t->policy, &b, &t->tally);
}

static void put_call(const struct cpg_t_trial *t, const struct cpg_t_event *e,
		     struct cpg_t_text *text)
{
	uintptr_t first = e->lo / CPG_GRANULE, last = (e->lo + e->len - 1) / CPG_GRANULE;

	if (text->len && text->s[text->len - 1] != '|')
		cpg_t_put(text, " ");
	cpg_t_put_num(text, e->what == CPG_T_NEAR ? "n" : "", first - t->base / CPG_GRANULE);
	if (first != last)
		cpg_t_put_num(text, "-", last - t->base / CPG_GRANULE);
}

void cpg_t_log_text(const struct cpg_t_trial *t, struct cpg_t_text *text)
{
	size_t i;

	text->len = 0;
	text->s[0] = '\0';
	for (i = 0; i < cpg_t_log.n; i++) {
		const struct cpg_t_event *e = &cpg_t_log.event[i];

		if (cpg_t_zeroes(e))
			put_call(t, e, text);
		else
			cpg_t_put(text, e->what == CPG_T_BREATH ? "|" : " F");
	}
}

bool cpg_t_why_trial(const struct cpg_t_trial *t, const char *what)
{
	cpg_t_why(what);
	cpg_t_why(": ");
	cpg_t_why(t->name);
	cpg_t_why_num(", base ", t->base);
	cpg_t_why_num(" size ", t->size);
	if (t->touch == CPG_NO_TOUCH)
		cpg_t_why(" untouched");
	else
		cpg_t_why_num(" touch ", t->touch);
	cpg_t_why_num(" window ", t->policy.window);
	cpg_t_why_num(" batch ", t->policy.batch);
	cpg_t_why_num(" unit ", t->policy.unit);
	return cpg_t_why_num(" order ", t->policy.order);
}
