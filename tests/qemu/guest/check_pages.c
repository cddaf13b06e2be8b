// SPDX-License-Identifier: GPL-2.0-only
/* Loading, and pages of every kind. */
#include <string.h>

#include "module.h"

#define PAGES 32

/* The line of a variant in `lines`: measured, or not run, and why. */
static bool has_rate(const char *lines, const char *variant)
{
	char begin[32];
	const char *line, *end;

	snprintf(begin, sizeof(begin), MODULE ": %s ", variant);
	line = strstr(lines, begin);
	end = line ? strchr(line, '\n') : NULL;
	if (!end)
		return false;
	line = strstr(line, !strcmp(variant, "clzero") ? "this processor lacks" : "MB/s at");
	return line && line < end;
}

/* The module says how fast each variant is, and what it has chosen; nobody else does. */
void check_load(void)
{
	int klog = klog_from_here();
	struct counters c;
	const char *lines;
	unsigned int i;

	load("");
	lines = klog_lines(klog, MODULE ": ");
	read_counters(&c);
	if (c.variants < 5)
		fail("%u variants have counters, expected 5", c.variants);
	for (i = 0; i < c.variants; i++)
		if (!has_rate(lines, c.variant[i].name))
			fail("loaded without a line in the log on %s", c.variant[i].name);
	if (!strstr(lines, MODULE ": auto is far="))
		fail("loaded without a line in the log on the choice");
	if (!strstr(lines, "() replaced"))
		fail("loaded without a line in the log on what was replaced");
}

static bool skips = true;

/* What the kernel itself zeroes, out of the module's reach. */
static bool never_ours(const struct kind *kind)
{
	return !kind->hugetlb && kernel_at_least(6, 13) && !booted_with("init_on_alloc=0");
}

/* What the allocator has zeroed, and the module knows it. */
static bool zeroed_before(const struct kind *kind)
{
	return skips && !kind->hugetlb &&
	       (booted_with("init_on_free=1") ||
		(!kernel_at_least(6, 13) && !booted_with("init_on_alloc=0")));
}

/* QEMU's rep stosb is slow: not for a GiB whose zeros nobody looks at. */
static void make_dirt(const struct kind *kind, size_t pages)
{
	char policy[160];
	bool slow = kind->page == GIB &&
		    read_text("/sys/module/" MODULE "/parameters/policy", policy, sizeof(policy));

	if (slow)
		set_policy("oneshot,far=mov,near=mov");
	dirty_free_pages(kind, pages);
	if (slow)
		set_policy(policy);
}

void check_kind(const struct kind *kind, size_t pages, const char *when)
{
	struct counters before, after, did;
	long long faults;
	size_t n;

	make_dirt(kind, pages);
	faults = kernel_faults(kind);
	read_counters(&before);
	n = fault_and_look(kind, pages, when);
	read_counters(&after);
	did = counted(&before, &after);

	if (faults >= 0 && kernel_faults(kind) - faults != (long long)n)
		fail("%zu touches and %lld faults that got %s %s", n,
		     kernel_faults(kind) - faults, kind->name, when);
	if (folios_of(&did, kind) != (never_ours(kind) || zeroed_before(kind) ? 0 : n))
		fail("%s %s: %zu faults, and the module counts %llu", kind->name, when, n,
		     (unsigned long long)folios_of(&did, kind));
	if (did.skipped != (zeroed_before(kind) ? n : 0))
		fail("%s %s: %zu faults, and the module counts %llu as zeroed before",
		     kind->name, when, n, (unsigned long long)did.skipped);
}

/* Several rounds: each page is first, middle, last or random in turn. */
static void check_rounds(const struct kind *kind, size_t pages, unsigned int rounds)
{
	if (!is_loaded())
		load("");
	if (kind->hugetlb)
		need_pool(kind, pages);
	else
		choose_thp(kind);
	while (rounds--)
		check_kind(kind, pages, "");
}

void check_hugetlb_2m(void)
{
	check_rounds(&hugetlb_2m, PAGES, 2);
}

void check_memfd(void)
{
	check_rounds(&memfd_2m, PAGES, 1);
}

void check_fallocate(void)
{
	check_rounds(&fallocate_2m, PAGES, 1);
}

/* Then with the parameter that has the module zero them all the same. */
void check_thp(void)
{
	check_rounds(&thp, 48, 2);
	reload("skip_zeroed=0");
	skips = false;
	check_kind(&thp, 8, "with skip_zeroed=0");
	reload("");
}

void check_mthp_64k(void)
{
	check_rounds(&mthp_64k, 1024, 2);
}

/* One page in the pool, so a round for each touch: first, middle, last, random. */
void check_hugetlb_1g(void)
{
	check_rounds(&hugetlb_1g, 1, 2);
	set_policy("ranges,far=movnti");
	check_rounds(&hugetlb_1g, 1, 2);
	set_policy("auto");
}

void check_shared_1g(void)
{
	check_rounds(&memfd_1g, 1, 1);
	check_rounds(&fallocate_1g, 1, 1);
}
