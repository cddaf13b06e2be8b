// SPDX-License-Identifier: GPL-2.0-only
/* The cases of core/test in this kernel, on this processor, before anything is replaced. */
#include "clearpages.h"

#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "../core/test/cpg_test.h"
#include "../core/test/cpg_test_variants.h"

/*
 * Cases that take seconds together (10 s on a virtual Zen, all others 0.1 s): run
 * if all are asked for. What of them concerns this processor, the variants, is run
 * short instead; the others are about the engine, and fail everywhere or nowhere.
 */
static const char *const slow[] __initconst = {
	"planted variants", "variants, bare", "variants, by the engine",
	"orders, named policies", "orders, random policies", "edges",
	"policy text, round trip", "policy text, fuzz",
};

static struct {
	unsigned int count[CPG_TEST_SKIPPED + 1];
} results __initdata;

static void __init report(void *arg, enum cpg_test_result result, const char *name,
			  const char *why)
{
	results.count[result]++;
	if (result == CPG_TEST_FAILED)
		pr_err("self-test: failed: %s: %s\n", name, why);
	cond_resched();
}

static bool __init is_slow(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(slow); i++)
		if (!strcmp(slow[i], name))
			return true;
	return false;
}

/* All of the largest power of two that the buffer holds, with dirt on both sides. */
static bool __init zeroes_whole(const struct cpg_test_env *env, const struct cpg_variant *v)
{
	u8 *start = (u8 *)env->buffer + CPG_GRANULE;
	const struct cpg_policy p = { .far = v, .near = v };

	cpg_t_dirty(env->buffer, CPG_LARGE + 2 * CPG_GRANULE);
	cpg_clear(start, CPG_LARGE, CPG_NO_TOUCH, &p, NULL, NULL);
	return (!cpg_t_unlike(start, CPG_LARGE, 0) &&
		!cpg_t_unlike(env->buffer, CPG_GRANULE, CPG_T_DIRT) &&
		!cpg_t_unlike(start + CPG_LARGE, CPG_GRANULE, CPG_T_DIRT)) ||
	       cpg_t_why("2 MiB are not zero, or more than them is");
}

static void __init variants(const struct cpg_test_env *env)
{
	const struct cpg_variant *v;
	unsigned int i;

	for (i = 0; (v = cpg_variant_at(i)); i++) {
		if (!cpg_variant_usable(v, env->facts)) {
			cpg_t_skip(env, v->name, "this processor lacks ",
				   cpg_feature_name(v->features & ~env->facts->features));
			continue;
		}
		cpg_t_result(env, cpg_t_zeroes_short(env, v, CPG_T_BARE) &&
			     cpg_t_zeroes_short(env, v, CPG_T_ENGINE) && zeroes_whole(env, v),
			     v->name);
	}
}

int __init clearpages_selftest(const struct cpg_facts *facts, bool all)
{
	struct cpg_test_env env = {
		.size = CPG_TEST_BUFFER, .facts = facts, .seed = 20260731, .report = report,
	};
	const struct cpg_test_case *c;
	u64 start = ktime_get_ns();
	unsigned int i;

	env.buffer = vmalloc(env.size);	/* an inaccessible page behind it */
	if (!env.buffer)
		return -ENOMEM;
	if (!all)
		variants(&env);
	for (i = 0; (c = cpg_test_case_at(i)); i++)
		if (all || !is_slow(c->name))
			c->run(&env);
	vfree(env.buffer);

	pr_info("self-test%s: %u passed, %u failed, %u skipped, %llu ms\n", all ? " (all)" : "",
		results.count[CPG_TEST_OK], results.count[CPG_TEST_FAILED],
		results.count[CPG_TEST_SKIPPED], (ktime_get_ns() - start) / NSEC_PER_MSEC);
	return results.count[CPG_TEST_FAILED] || !results.count[CPG_TEST_OK] ? -EIO : 0;
}
