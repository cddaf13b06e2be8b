// SPDX-License-Identifier: GPL-2.0-only
/* See choose.h. */
#include "choose.h"

static unsigned int percent(unsigned int a, unsigned int b)
{
	uint64_t of_b = b ? (uint64_t)a * 100 / b : 0;

	return of_b < ~0u ? (unsigned int)of_b : ~0u;
}

/*
 * Half as fast again. Zeros that went past the cache have to be fetched by who
 * reads them: on Milan a 2 MB page takes 94 us less to zero by streaming than by
 * rep stosb, and 70 us more to be read through afterwards. Where the gain is
 * small a program that uses its memory at once would lose.
 */
static bool clearly_faster(unsigned int a, unsigned int b)
{
	return percent(a, b) >= CPG_PERCENT_TO_STREAM;
}

/* Its place in the table. There always is one: each kind has variants that need no feature. */
static unsigned int fastest(const struct cpg_facts *facts, const unsigned int *rate,
			    enum cpg_kind kind)
{
	const struct cpg_variant *v;
	unsigned int i, best = CPG_VARIANTS_MAX;

	for (i = 0; i < CPG_VARIANTS_MAX && (v = cpg_variant_at(i)); i++)
		if (v->kind == kind && cpg_variant_usable(v, facts) &&
		    (best == CPG_VARIANTS_MAX || rate[i] > rate[best]))
			best = i;
	return best;
}

static unsigned int place(const struct cpg_variant *v)
{
	unsigned int i = 0;

	while (cpg_variant_at(i) != v)
		i++;
	return i;
}

/*
 * Streaming has to beat the fastest cached variant, whichever that is. What
 * goes through the cache is the kernel's own choice all the same, unless
 * another is clearly faster: what microcode does best changes with its age.
 */
void clearpages_choose(const struct cpg_facts *facts, const struct clearpages_rates *rates,
		       struct clearpages_choice *choice)
{
	unsigned int s = fastest(facts, rates->large, CPG_STREAMING);
	unsigned int c = fastest(facts, rates->large, CPG_CACHED);
	unsigned int small = fastest(facts, rates->small, CPG_CACHED);
	unsigned int near = place(cpg_variant_cached(facts));
	struct cpg_policy *p = &choice->policy;

	*choice = (struct clearpages_choice){ .percent = percent(rates->large[s], rates->large[c]) };
	cpg_policy_named("auto", strlen("auto"), facts, p);
	if (!rates->large[near])
		return;
	choice->cached = cpg_variant_at(c);
	choice->streaming = cpg_variant_at(s);
	if (clearly_faster(rates->large[c], rates->large[near]))
		near = c;
	cpg_policy_named("ranges", strlen("ranges"), facts, p);
	p->far = p->near = cpg_variant_at(near);
	/* The shape of core's auto, which has no window: core/cpg_auto.c says why. */
	if (clearly_faster(rates->large[s], rates->large[c]))
		*p = (struct cpg_policy){
			.far = cpg_variant_at(s),
			.near = cpg_variant_at(near),
			.far_min = clearly_faster(rates->small[s], rates->small[small]) ?
				   CPG_SMALL : CPG_LARGE,
			.order = CPG_FORWARD,
		};
	p->batch = 0;
}
