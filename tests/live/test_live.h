/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests that need huge pages: borrowed for the time of the program, if this is root. */
#ifndef TEST_LIVE_H
#define TEST_LIVE_H

#include <pthread.h>

#include "../../lib/limits.h"
#include "../unit/test_pool.h"

#define HUGE ((size_t)2 << 20)
#define GIGA ((size_t)1 << 30)

static size_t live_borrowed[2];	/* pages of 2 MiB, of 1 GiB */
static pid_t live_owner;

static bool live_resize(size_t page, long by)
{
	struct limits_pool now;
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/hugepages-%zukB/nr_hugepages",
		 page >> 10);
	f = limits_pool("", page, LIMITS_ANY_NODE, &now) ? NULL : fopen(path, "w");
	if (!f)
		return false;
	fprintf(f, "%ld", (long)now.total + by);
	return !fclose(f);
}

/* Children come through here as well when they end by exit(). */
static void live_return(void)
{
	unsigned int i;

	for (i = 0; i < 2 && getpid() == live_owner; i++) {
		if (live_borrowed[i])
			live_resize(i ? GIGA : HUGE, -(long)live_borrowed[i]);
		live_borrowed[i] = 0;
	}
}

__attribute__((unused))
static uint64_t live_free(size_t page)
{
	struct limits_pool pool;

	return limits_pool("", page, LIMITS_ANY_NODE, &pool) ? 0 : limits_available(&pool);
}

/* Are there so many pages? More are borrowed if need be. */
__attribute__((unused))
static bool live_pages(size_t page, size_t count)
{
	uint64_t have = live_free(page);

	if (have >= count)
		return true;
	if (!live_owner) {
		live_owner = getpid();
		atexit(live_return);
	}
	if (live_resize(page, (long)(count - have)))
		live_borrowed[page == GIGA] += count - have;
	return live_free(page) >= count;
}

/* The same of 2 MiB for a test; if they are not there: a skip, by name, with the reason. */
__attribute__((unused))
static bool live_huge(const char *name, size_t count)
{
	char why[96];

	if (live_pages(HUGE, count))
		return true;
	snprintf(why, sizeof(why), "%zu huge pages of 2 MiB are not to be had (not root?)", count);
	tap_skip(name, why);
	return false;
}

/* Could a lazy pool be made here, and are there so many pages? If not: a skip as well. */
__attribute__((unused))
static bool live_lazy(const char *name, uint32_t pager, size_t count)
{
	char why[512];
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .bytes = HUGE, .page_bytes = HUGE, .why = why,
		.backing = CLEARPAGES_BACKING_HUGETLB, .mode = CLEARPAGES_LAZY, .pager = pager,
		.why_size = sizeof(why), .cleaners = CLEARPAGES_NONE,
	};
	struct clearpages_pool *p;

	if (!live_huge(name, count))
		return false;
	if (clearpages_pool_create(&p, &o)) {
		tap_skip(name, why);
		return false;
	}
	clearpages_pool_destroy(p);
	return true;
}

__attribute__((unused))
static struct clearpages_pool_stats stats_of(struct clearpages_pool *p)
{
	struct clearpages_pool_stats s = { .size = sizeof(s) };

	clearpages_pool_stats(p, &s);
	return s;
}

/* A pool of 2 MiB pages without cleaners, all of it gotten once, filled with 0xaa and put. */
__attribute__((unused))
static struct clearpages_pool *dirty_pool(size_t pages, uint32_t mode, uint32_t pager,
					  uint32_t handlers)
{
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .bytes = pages * HUGE, .page_bytes = HUGE,
		.backing = CLEARPAGES_BACKING_HUGETLB, .mode = mode, .pager = pager,
		.handlers = handlers, .cleaners = CLEARPAGES_NONE,
	};
	struct clearpages_pool *p = pool_or_die(&o);
	void *a;

	if (clearpages_pool_get(p, pages * HUGE, NULL, &a))
		die("clearpages_pool_get", "");
	memset(a, 0xaa, pages * HUGE);
	if (clearpages_pool_put(p, a, pages * HUGE))
		die("clearpages_pool_put", "");
	return p;
}

#endif
