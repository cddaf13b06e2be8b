/* SPDX-License-Identifier: GPL-2.0-only */
/* For the tests of pools, here and in live/. */
#ifndef TEST_POOL_H
#define TEST_POOL_H

#include <clearpages.h>
#include <sched.h>
#include <signal.h>

#include "test_lib.h"

#define P ((size_t)4096)

/* A pool, or no test. */
__attribute__((unused))
static struct clearpages_pool *pool_or_die(const struct clearpages_pool_opts *opts)
{
	struct clearpages_pool_opts o = *opts;
	struct clearpages_pool *pool;
	char why[512];

	o.why = why;
	o.why_size = sizeof(why);
	errno = -clearpages_pool_create(&pool, &o);
	if (errno)
		die("clearpages_pool_create:", why);
	return pool;
}

__attribute__((unused))
static int get_pages(struct clearpages_pool *p, size_t pages, char **addr)
{
	void *a;
	int err = clearpages_pool_get(p, pages * P, NULL, &a);

	*addr = a;
	return err;
}

__attribute__((unused))
static bool is_filled(const void *addr, size_t bytes, unsigned char with)
{
	const unsigned char *a = addr;

	return a && a[0] == with && !memcmp(a, a + 1, bytes - 1);
}

#endif
