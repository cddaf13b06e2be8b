// SPDX-License-Identifier: GPL-2.0-only
/* A get and a cleaner that is in its way: it lets go, and if it does not the time is over. */
#include <pthread.h>
#include <time.h>

#include "../../lib/pool.h"
#include "test_pool.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int get_within(struct clearpages_pool *p, size_t bytes, uint64_t timeout_ns, void **a)
{
	struct clearpages_get_opts o = { .size = sizeof(o), .timeout_ns = timeout_ns };

	return clearpages_pool_get(p, bytes, &o, a);
}

static struct clearpages_pool *dirty(size_t page, size_t pages, uint32_t cleaners)
{
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .bytes = pages * page, .page_bytes = page,
		.backing = CLEARPAGES_BACKING_THP, .cleaners = cleaners,
	};
	struct clearpages_pool *p = pool_or_die(&o);
	void *a;

	if (clearpages_pool_get(p, pages * page, NULL, &a))
		die("clearpages_pool_get", "");
	memset(a, 0xaa, pages * page);
	clearpages_pool_put(p, a, pages * page);
	return p;
}

/* ---- one that does not get to run -------------------------------------------------- */

static void *let_go(void *arg)
{
	struct clearpages_pool *p = arg;

	usleep(20000);
	page_give(p, 1, PAGE_CLEANING, PAGE_DIRTY);
	bell_ring(&p->freed);
	return NULL;
}

static void test_stuck(void)
{
	struct clearpages_pool *p = dirty(P, 3, CLEARPAGES_NONE);
	pthread_t thread;
	double begun;
	void *a;
	int err;

	page_take(p, 1, PAGE_DIRTY, PAGE_CLEANING, OWNER_NONE);
	begun = now();
	err = get_within(p, 3 * P, 0, &a);
	tap_ok(err == -ENOMEM && now() - begun < 5, "a stuck cleaner, no timeout: %d in %.3f s",
	       err, now() - begun);
	begun = now();
	err = get_within(p, 3 * P, 1000000, &a);
	tap_ok(err == -ETIMEDOUT && now() - begun < 5, "... a timeout of 1 ms: %d in %.3f s", err,
	       now() - begun);
	tap_ok(!get_within(p, P, 0, &a) && !clearpages_pool_put(p, a, P),
	       "... what it is not at can be had");
	pthread_create(&thread, NULL, let_go, p);
	err = get_within(p, 3 * P, 30000000000, &a);
	pthread_join(thread, NULL);
	tap_ok(!err && is_filled(a, 3 * P, 0), "... and all of it when it lets go");
	clearpages_pool_put(p, a, 3 * P);
	clearpages_pool_destroy(p);
}

/* ---- one that runs ------------------------------------------------------------------- */

/* A long page, so that there is time to be in the way. */
static void test_lets_go(void)
{
	const size_t page = (size_t)64 << 20;
	struct clearpages_pool *p = dirty(page, 1, 1);
	struct clearpages_pool_stats s = { .size = sizeof(s) };
	unsigned int i, k, bad = 0;
	void *a;

	for (i = 0; i < 50 && !bad && !s.get_cleared_bytes; i++) {
		for (k = 0; k < 1000000 && page_state(p, 0) != PAGE_CLEANING; k++)
			sched_yield();
		bad += get_within(p, page, UINT64_MAX, &a) || !is_filled(a, page, 0);
		memset(a, 0xaa, page);
		bad += !!clearpages_pool_put(p, a, page);
		clearpages_pool_stats(p, &s);
	}
	tap_ok(!bad && s.get_cleared_bytes, "a cleaner lets go of a page that is needed");
	for (k = 0; k < 30000 && s.clean_bytes != page; k++) {
		usleep(1000);
		clearpages_pool_stats(p, &s);
	}
	tap_ok(s.clean_bytes == page, "... and goes on when it is back");
	clearpages_pool_destroy(p);
}

int main(void)
{
	test_stuck();
	test_lets_go();
	return tap_done();
}
