// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A database whose workers sort in large buffers, and count on new ones being zero.
 *
 *	cc buffers.c -lclearpages -pthread && ./a.out [queries of a worker]
 *
 * There are fewer buffers than the workers could use at their worst: one that finds
 * none waits for a while, and then says so instead of eating up memory. The
 * statistics at the end tell whether the pool has the right size: waits say that
 * it is too small, misses that its cleaner does not keep up.
 */
#include <clearpages.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS 4
#define BUFFER ((size_t)1 << 20)
#define BUFFERS 6

static struct clearpages_pool *pool;
static unsigned long queries = 200;

/* Counts how often each value of a column comes up: that needs zeros to begin with. */
static int query(unsigned int worker, unsigned long n)
{
	/* Ten seconds, in nanoseconds; 0 would be not to wait at all. */
	struct clearpages_get_opts opts = {
		.size = sizeof(opts), .timeout_ns = (uint64_t)10 * 1000000000,
	};
	size_t bytes = n % 5 ? BUFFER : 2 * BUFFER, slots = bytes / sizeof(unsigned int), i;
	unsigned int *histogram, sum = 0;
	void *memory;
	int err = clearpages_pool_get(pool, bytes, &opts, &memory);

	if (err) {
		fprintf(stderr, "worker %u: %s\n", worker, strerror(-err));
		return 0;
	}
	histogram = memory;
	for (i = 0; i < slots; i++)
		histogram[(i * 2654435761u + n) % slots]++;
	for (i = 0; i < slots; i++)
		sum += histogram[i];
	clearpages_pool_put(pool, memory, bytes);
	return sum == slots;
}

static void *work(void *arg)
{
	unsigned int worker = (unsigned int)(uintptr_t)arg;
	unsigned long n, wrong = 0;

	for (n = 0; n < queries; n++)
		wrong += !query(worker, n);
	return (void *)(uintptr_t)wrong;
}

int main(int argc, char **argv)
{
	char why[256];
	struct clearpages_pool_opts opts = {
		.size = sizeof(opts), .bytes = BUFFERS * BUFFER, .page_bytes = BUFFER,
		/* Any page size will do: they are smaller than a huge page. */
		.backing = CLEARPAGES_BACKING_THP, .why = why, .why_size = sizeof(why),
	};
	struct clearpages_pool_stats s = { .size = sizeof(s) };
	pthread_t thread[WORKERS];
	unsigned long wrong = 0, i;
	void *result;
	int err;

	if (argc > 1)
		queries = strtoul(argv[1], NULL, 0);
	err = clearpages_pool_create(&pool, &opts);
	if (err) {
		fprintf(stderr, "no pool: %s: %s\n", strerror(-err), why);
		return 1;
	}
	for (i = 0; i < WORKERS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i))
			return 1;
	for (i = 0; i < WORKERS; i++) {
		pthread_join(thread[i], &result);
		wrong += (uintptr_t)result;
	}
	clearpages_pool_stats(pool, &s);
	printf("%llu queries, %lu wrong; %llu waited for a buffer\n", (unsigned long long)s.gets,
	       wrong, (unsigned long long)s.waits);
	printf("%llu MiB were clean when they were wanted, %llu MiB were not\n",
	       (unsigned long long)s.hit_bytes >> 20, (unsigned long long)s.miss_bytes >> 20);
	return clearpages_pool_destroy(pool) || wrong;
}
