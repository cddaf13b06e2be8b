// SPDX-License-Identifier: GPL-2.0-only
/* Loaded, used and unloaded, nothing may stay behind. */
#include "module.h"

/* What modules and their data take; the kernel's own caches are not in it. */
static long long module_kib(void)
{
	return number_after("/proc/meminfo", "Percpu:") +
	       number_after("/proc/meminfo", "VmallocUsed:") +
	       number_after("/proc/meminfo", "SUnreclaim:");
}

/* In, used, out, as often as guest.reloads says: nothing may stay behind. */
void check_reloads(void)
{
	unsigned int times = setting("reloads", 10), i;
	long long before = 0, after;

	need_pool(&hugetlb_2m, 16);
	for (i = 0; i < times; i++) {
		if (i == times / 4)
			before = module_kib();
		reload(i % 2 ? "" : "policy=stock");
		check_kind(&hugetlb_2m, 2, "after another load");
		unload();
	}
	after = module_kib();
	say("guest: %u loads, %lld KiB before and %lld after", times, before, after);
	if (after - before > 1024 + 8 * (long long)times)
		fail("%u loads left %lld KiB behind", times - times / 4, after - before);
	load("");
}
