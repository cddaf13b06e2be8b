// SPDX-License-Identifier: GPL-2.0-only
/* How fast each variant is here, and which of them `auto` takes. */
#include "clearpages.h"

#include <linux/gfp.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <asm/cacheflush.h>

/* Several in turn, for one may lie better or worse than others. */
#define BUFFERS 8
#define ROUNDS 4
/* A variant that takes longer for its first buffer is not run again: emulated, or swapped out. */
#define TOO_LONG_NS (5 * NSEC_PER_MSEC)

static struct {
	struct page *page[BUFFERS];
	unsigned int order, n;
	size_t size;
} pool __initdata;

/* Huge pages if there are any to be had, else the largest blocks there are. */
static bool __init get_pool(void)
{
	gfp_t gfp = GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY;
	unsigned int order = get_order(CPG_LARGE);

	do {
		pool.order = order;
		pool.size = PAGE_SIZE << order;
		for (pool.n = 0; pool.n < BUFFERS; pool.n++) {
			pool.page[pool.n] = alloc_pages(gfp, order);
			if (!pool.page[pool.n])
				break;
		}
	} while (!pool.n && order-- > get_order(CPG_SMALL));
	return pool.n;
}

static void __init put_pool(void)
{
	while (pool.n)
		__free_pages(pool.page[--pool.n], pool.order);
}

/*
 * As a fault finds its page: full of other bytes, and not in any cache. Free
 * memory is far larger than the cache, and what was freed is handed out again
 * after other things have gone through it. Left in a cache the buffers would
 * flatter the cached variants and punish those that stream, which first have to
 * throw the lines out. On Ice Lake-X cold 2 MB pages take 21.9 GB/s by MOVNTI and
 * 12.5 by rep stosb, but in a warm buffer MOVNTI loses by 12 % (core/cpg_auto.c).
 * To write other buffers in between is not enough: caches of 16 MiB and
 * more keep them all.
 */
static void __init make_cold(void *buffer)
{
	memset(buffer, 0xa5, pool.size);
	clflush_cache_range(buffer, pool.size);
	cond_resched();
}

/* One buffer in calls of `chunk` bytes, fenced after each as a fault is. */
static u64 __init time_one(const struct cpg_variant *v, void *buffer, size_t chunk)
{
	size_t at;
	u64 start;

	start = ktime_get_ns();
	for (at = 0; at < pool.size; at += chunk) {
		v->zero(buffer + at, chunk);
		if (v->fence)
			v->fence();
	}
	start = ktime_get_ns() - start;
	make_cold(buffer);
	return start;
}

/* The best of some rounds: what disturbs a measurement only ever makes it slower. */
static void __init measure(const struct cpg_facts *facts, size_t chunk, unsigned int *rate)
{
	u64 best[CPG_VARIANTS_MAX] = { 0 }, ns;
	unsigned int round, i, buffer = 0;
	const struct cpg_variant *v;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < CPG_VARIANTS_MAX && (v = cpg_variant_at(i)); i++) {
			if (!cpg_variant_usable(v, facts) || best[i] > TOO_LONG_NS)
				continue;
			ns = time_one(v, page_address(pool.page[buffer++ % pool.n]), chunk);
			if (!best[i] || ns < best[i])
				best[i] = max(ns, 1ull);
		}
	}
	for (i = 0; i < CPG_VARIANTS_MAX; i++)
		rate[i] = best[i] ? clamp_t(u64, div64_u64(pool.size * 1000, best[i]), 1, UINT_MAX) : 0;
}

void __init clearpages_calibrate(const struct cpg_facts *facts, struct clearpages_rates *rates)
{
	const struct cpg_variant *v;
	unsigned int i;

	*rates = (struct clearpages_rates){ 0 };
	if (!get_pool()) {
		pr_warn("no memory to measure variants in: the choice is by the processor's name\n");
		return;
	}
	for (i = 0; i < pool.n; i++)
		make_cold(page_address(pool.page[i]));
	measure(facts, min(CPG_SMALL, pool.size), rates->small);
	measure(facts, pool.size, rates->large);

	for (i = 0; i < CPG_VARIANTS_MAX && (v = cpg_variant_at(i)); i++) {
		if (rates->large[i])
			pr_info("%-7s %6u MB/s at 64 KiB, %6u MB/s at %zu KiB (%s)\n", v->name,
				rates->small[i], rates->large[i], pool.size >> 10, v->what);
		else
			pr_info("%-7s not run: this processor lacks %s\n", v->name,
				cpg_feature_name(v->features & ~facts->features));
	}
	put_pool();
}

/* ---- the choice -------------------------------------------------------------------- */

void __init clearpages_auto(const struct cpg_facts *facts, const struct clearpages_rates *rates,
			    struct cpg_policy *policy)
{
	struct clearpages_choice c;
	char text[CPG_POLICY_TEXT];

	clearpages_choose(facts, rates, &c);
	*policy = c.policy;
	cpg_policy_format(policy, text, sizeof(text));
	if (!c.cached)
		pr_info("auto is %s: by the processor's name\n", text);
	else
		pr_info("auto is %s: %s has %u %% of the rate of %s, the fastest through the cache, and streaming takes %u %%\n",
			text, c.streaming->name, c.percent, c.cached->name, CPG_PERCENT_TO_STREAM);
}
