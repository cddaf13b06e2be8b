/* SPDX-License-Identifier: GPL-2.0-only */
/* A job for workers_run() that writes down who got which part. */
#ifndef TEST_LIB_WORK_H
#define TEST_LIB_WORK_H

#include <pthread.h>

#include "../../lib/workers.h"
#include "test_lib.h"

#define M ((size_t)1 << 20)
#define LOG_MOST 64

/* No memory lies behind the addresses of these jobs: part() only writes down what it got. */
static char *const base = (char *)((uintptr_t)1 << 40);

struct log {
	pthread_mutex_t lock;
	unsigned int parts;
	struct {
		char *addr;
		size_t len;
		pthread_t thread;
	} part[LOG_MOST];
	unsigned int fail_at;	/* the call that fails, from 1; 0: none */
	unsigned int bound;	/* parts by a thread that may run on one cpu only */
	pthread_barrier_t *meet; /* where each thread waits for the others, once */
};

static __thread bool met;

/* With this every thread has a part, whatever else runs on this machine. */
__attribute__((unused))
static void meet(pthread_barrier_t *barrier)
{
	if (!barrier || met)
		return;
	met = true;
	pthread_barrier_wait(barrier);
}

__attribute__((unused))
static int write_down(void *arg, char *addr, size_t len)
{
	struct log *l = arg;
	unsigned int n;

	pthread_mutex_lock(&l->lock);
	n = l->parts++;
	if (n < LOG_MOST) {
		l->part[n].addr = addr;
		l->part[n].len = len;
		l->part[n].thread = pthread_self();
	}
	pthread_mutex_unlock(&l->lock);
	meet(l->meet);
	return n + 1 == l->fail_at ? -EIO : 0;
}

__attribute__((unused))
static int by_addr(const void *a, const void *b)
{
	char *const *x = a, *const *y = b;

	return (*x > *y) - (*x < *y);
}

/* Do the parts make up the range, each byte once, none longer than step? */
__attribute__((unused))
static bool whole(struct log *l, const struct workers_job *job)
{
	char *at = job->addr;
	unsigned int i;

	qsort(l->part, l->parts, sizeof(l->part[0]), by_addr);
	for (i = 0; i < l->parts; i++) {
		if (l->part[i].addr != at || !l->part[i].len || l->part[i].len > job->step)
			return false;
		if (i && job->step >= 2 * M && ((uintptr_t)at & (2 * M - 1)))
			return false;
		at += l->part[i].len;
	}
	return at == job->addr + job->len;
}

#endif
