// SPDX-License-Identifier: GPL-2.0-only
/* Policies and variants: what they leave in the pages, and in the counters. */
#include <errno.h>
#include <string.h>

#include "module.h"

static const char *const policies[] = {
	"auto", "stock", "oneshot", "forward", "reverse", "extent", "ranges", "stream",
	"forward,unit=64K", "reverse,unit=1M", "ranges,batch=64K", "auto,window=0",
	"far=movnti,near=stosb,window=16K,far_min=64K,batch=128K,order=forward",
	"far=movnti,near=mov,window=64K,unit=8K,order=narrow",
	"far=stosq,near=movnti,window=4K,far_min=4M,order=reverse",
};

static const char *const variants[] = { "stosb", "stosq", "mov", "movnti" };

static void start(void)
{
	if (!is_loaded())
		load("");
	need_pool(&hugetlb_2m, 5);
}

/* THP as well, where faults of THP reach the module. */
static void all_kinds(const char *policy, size_t pages)
{
	set_policy(policy);
	check_kind(&hugetlb_2m, pages, policy);
	check_kind(&fallocate_2m, pages, policy);
	if (!has_thp())
		return;
	choose_thp(&thp);
	check_kind(&thp, pages, policy);
}

void check_policies(void)
{
	size_t i;

	start();
	for (i = 0; i < sizeof(policies) / sizeof(*policies); i++)
		all_kinds(policies[i], 5);
	set_policy("auto");
}

void check_refused_policies(void)
{
	static const struct {
		const char *text;
		int err;
	} refused[] = {
		{ "\n", EINVAL }, { "fast", EINVAL }, { "stock,far=", EINVAL },
		{ "window=3", EINVAL }, { "far=avx2", EINVAL }, { "ranges,ranges", EINVAL },
	};
	size_t i;
	int err;

	start();
	set_policy("ranges");
	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		err = try_policy(refused[i].text);
		if (!err)
			fail("policy '%s' was taken", refused[i].text);
		if (err != refused[i].err && err != EOPNOTSUPP)
			fail("policy '%s': %s", refused[i].text, strerror(err));
	}
	check_kind(&hugetlb_2m, 4, "after refused policies");
	set_policy("auto");
}

static void one_variant(const char *variant, size_t pages)
{
	struct counters before, after, did;
	char policy[64];

	snprintf(policy, sizeof(policy), "oneshot,far=%s,near=%s", variant, variant);
	read_counters(&before);
	all_kinds(policy, pages);
	read_counters(&after);
	did = counted(&before, &after);
	if (calls_of(&did, variant) < 2 * pages || calls_of(&did, variant) != did.calls)
		fail("%s: %llu calls of it, of %llu", policy,
		     (unsigned long long)calls_of(&did, variant), (unsigned long long)did.calls);
}

void check_variants(void)
{
	size_t i;

	start();
	for (i = 0; i < sizeof(variants) / sizeof(*variants); i++)
		one_variant(variants[i], 5);
	set_policy("auto");
}

/* A trap for each 64 bytes: few pages. */
void check_clzero(void)
{
	start();
	if (!try_policy("far=clzero"))
		fail("clzero was taken on a processor that lacks it");
	unload();
	if (try_load("/lib/clzero_emulation.ko", ""))
		fail("clzero_emulation.ko does not load");
	load("policy=far=clzero,near=mov,window=16K");
	all_kinds("far=clzero,near=mov,window=16K", 4);
	one_variant("clzero", 4);
	unload();
}

static uint64_t calls_at_0(const char *policy)
{
	struct counters before, after;
	volatile unsigned char *p;

	set_policy(policy);
	dirty_free_pages(&hugetlb_2m, 1);
	p = map_pages(&hugetlb_2m, 1);
	if (!p)
		fail("no page for %s", policy);
	read_counters(&before);
	p[0] = TOUCHED;
	read_counters(&after);
	must_be_zero(&hugetlb_2m, (const unsigned char *)p, 0, policy);
	unmap_pages(&hugetlb_2m, (unsigned char *)p, 1);
	return counted(&before, &after).calls;
}

void check_call_counts(void)
{
	static const struct {
		const char *policy;
		uint64_t least, most;
	} expected[] = {
		{ "stock", 512, 512 }, { "forward", 512, 512 }, { "oneshot", 1, 1 },
		{ "ranges", 1, 3 }, { "extent", 1, 3 },
	};
	uint64_t calls;
	size_t i;

	/* The policies' own batches: what a budget allows depends on how slow QEMU is today. */
	reload("budget_us=0");
	start();
	for (i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		calls = calls_at_0(expected[i].policy);
		if (calls < expected[i].least || calls > expected[i].most)
			fail("%s: a fault of 2 MiB at offset 0 took %llu calls, expected %llu to %llu",
			     expected[i].policy, (unsigned long long)calls,
			     (unsigned long long)expected[i].least,
			     (unsigned long long)expected[i].most);
	}
	reload("");
}
