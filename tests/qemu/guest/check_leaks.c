// SPDX-License-Identifier: GPL-2.0-only
/* Loaded, used and unloaded, nothing may stay behind. */
#include <string.h>
#include <unistd.h>

#include "module.h"

#define KMEMLEAK "/sys/kernel/debug/kmemleak"

/* What modules and their data take; the kernel's own caches are not in it. */
struct memory {
	long long percpu, vmalloc, slab;	/* KiB */
};

static struct memory now_used(void)
{
	return (struct memory){
		.percpu = number_after("/proc/meminfo", "Percpu:"),
		.vmalloc = number_after("/proc/meminfo", "VmallocUsed:"),
		.slab = number_after("/proc/meminfo", "SUnreclaim:"),
	};
}

/*
 * The slab is the kernel's, mostly: it was seen to grow by 36 KiB on 5.10 while nothing
 * else did, and to shrink elsewhere. So only what is beyond that counts, and it must
 * not hide the others; kmemleak has a sharper eye (make check-qemu-debug).
 */
#define SLAB_NOISE 64

static long long growth(const struct memory *from, const struct memory *to)
{
	long long percpu = to->percpu - from->percpu, vmalloc = to->vmalloc - from->vmalloc;
	long long slab = to->slab - from->slab, most = slab - SLAB_NOISE;

	say("guest: grown by %lld KiB Percpu, %lld KiB VmallocUsed, %lld KiB SUnreclaim", percpu,
	    vmalloc, slab);
	if (most < percpu)
		most = percpu;
	return most < vmalloc ? vmalloc : most;
}

/* A leak needs no use: that one is taken out before it is in force everywhere. */
static void once(const char *file, const char *params, bool use)
{
	int err = try_load(file, params);

	if (err)
		fail("%s: %s", file, strerror(err));
	if (use && !transition_over(60000))
		fail("the transition is stuck");
	if (use)
		check_kind(&hugetlb_2m, 2, "after another load");
	unload();
}

/* KiB that the last three quarters of that many loads leave behind. */
static long long left_behind(const char *file, unsigned int times, bool use)
{
	struct memory before = { 0 }, after;
	unsigned int i;

	unload();
	need_pool(&hugetlb_2m, 16);
	for (i = 0; i < times; i++) {
		if (i == times / 4)
			before = now_used();
		once(file, i % 2 ? "" : "policy=stock", use);
	}
	after = now_used();
	say("guest: %u loads of %s", times, file);
	return growth(&before, &after);
}

/*
 * 25 and 100 loads were seen to leave 8 KiB behind at most. One block per cpu, what a
 * load allocates for its counters, is 2.2 KiB with two cpus: of 16 loads it shows.
 */
static long long allowed(unsigned int times)
{
	return 8 + times / 2;
}

void check_reloads(void)
{
	unsigned int times = setting("reloads", 20);
	long long kib = left_behind(MODULE_FILE, times, true);

	/* KASAN keeps for a while what was freed, 2 MiB of slab: there kmemleak has to see it. */
	if (kib > allowed(times) && access(KMEMLEAK, F_OK))
		fail("%u loads left %lld KiB behind", times - times / 4, kib);
	load("");
}

/* A module that keeps that block: the check before has to see it. */
void check_planted_leak(void)
{
	unsigned int times = 16;
	long long kib = left_behind("/lib/planted_leak.ko", times, false);

	if (kib <= allowed(times))
		fail("%u loads that leak left %lld KiB behind, no more than is allowed", times, kib);
}

/* ---- kmemleak ------------------------------------------------------------------- */

/* Ends the check if kmemleak reports anything at all. Younger than 5 s is never reported. */
static void no_leak(const char *when)
{
	static char text[16 << 10];

	write_text(KMEMLEAK, "scan");
	sleep_ms(6000);
	write_text(KMEMLEAK, "scan");
	read_text(KMEMLEAK, text, sizeof(text));
	if (!*text)
		return;
	say("%s", text);
	fail("kmemleak has found something %s, see the console", when);
}

/*
 * After an unload the report has no names of the module, so nothing new may be in
 * it. Before, and while it is loaded after some use, as well.
 */
void check_kmemleak(void)
{
	if (access(KMEMLEAK, F_OK))
		skip("this kernel has no kmemleak");
	unload();
	no_leak("before the module is loaded");
	load("");
	need_pool(&hugetlb_2m, 16);
	check_kind(&hugetlb_2m, 16, "for kmemleak");
	set_policy("ranges");
	set_policy("auto");
	check_kind(&hugetlb_2m, 16, "for kmemleak");
	no_leak("while the module is loaded");
	unload();
	no_leak("after the module was unloaded");
}
