/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads that clear what was put back, when there is nothing else for a cpu to
 * do. They take no lock: a thread of idle priority that is interrupted in a
 * critical section would make everybody wait until the machine is idle again.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "pool.h"
#include "workers.h"

struct cleaner {
	struct clearpages_pool *pool;
	unsigned int node;
	pthread_t thread;
};

struct cleaners {
	struct bell work;
	atomic_bool stop, on;
	_Atomic(uint32_t) held;	/* by gets that wait for one of them */
	uint64_t low, high;	/* pages */
	_Atomic(size_t) next;	/* where the last one found something */
	unsigned int count;
	struct cleaner cleaner[];
};

/* Between the watermarks it goes on as it was. */
static bool wanted(struct clearpages_pool *p)
{
	uint64_t have = atomic_load(&p->count[PAGE_CLEAN]);
	struct cleaners *c = p->cleaners;

	if (c->held)
		return false;
	if (have < c->low)
		c->on = true;
	if (have >= c->high)
		c->on = false;
	return c->on;
}

static bool at_home(const struct clearpages_pool *p, size_t i, unsigned int node)
{
	return !p->nodes.home || p->nodes.home[i] == NODES_ANYWHERE ||
	       p->nodes.home[i] == (int)node;
}

/* A dirty page of that node, if there is none of any; p->pages if there is none at all. */
static size_t claim(struct clearpages_pool *p, unsigned int node)
{
	size_t start = atomic_load(&p->cleaners->next), k;
	int any;

	for (any = 0; any <= 1; any++) {
		for (k = 0; k < p->pages && atomic_load(&p->count[PAGE_DIRTY]); k++) {
			size_t i = (start + k) % p->pages;

			if (page_state(p, i) == PAGE_DIRTY && (any || at_home(p, i, node)) &&
			    page_take(p, i, PAGE_DIRTY, PAGE_CLEANING, OWNER_NONE)) {
				atomic_store(&p->cleaners->next, i + 1);
				return i;
			}
		}
	}
	return p->pages;
}

static bool go_on(void *arg)
{
	struct cleaners *c = arg;

	return !c->stop && !c->held;
}

static void clean(struct clearpages_pool *p, size_t i)
{
	const struct cpg_breathe breathe = { go_on, p->cleaners };
	int err = page_clear(p, i, CPG_NO_TOUCH, BY_CLEANER, &breathe);

	page_give(p, i, PAGE_CLEANING, err ? PAGE_DIRTY : PAGE_CLEAN);
	bell_ring(&p->freed);
}

static void *cleaner_main(void *arg)
{
	struct cleaner *me = arg;
	struct clearpages_pool *p = me->pool;
	struct cleaners *c = p->cleaners;
	const struct sched_param none = { 0 };
	uint32_t seen;
	size_t i;

	/* Of this thread alone. Refused by a sandbox perhaps: then it is an ordinary thread. */
	sched_setscheduler(0, SCHED_IDLE, &none);
	while (!c->stop) {
		seen = bell_read(&c->work);
		i = wanted(p) ? claim(p, me->node) : p->pages;
		if (i < p->pages)
			clean(p, i);
		else if (!c->stop)
			bell_wait(&c->work, seen, NULL);
	}
	return NULL;
}

static int start_one(struct cleaner *me)
{
	const struct nodes *n = &me->pool->nodes;
	const struct list *cpus = n->cpus ? &n->cpus[me->node] : NULL;
	pthread_attr_t attr;
	sigset_t before;
	int err;

	if (pthread_attr_init(&attr))
		return -ENOMEM;
	if (cpus && cpus->count)
		pthread_attr_setaffinity_np(&attr, sizeof(cpus->bits),
					    (const cpu_set_t *)cpus->bits);
	workers_block_signals(&before);
	err = pthread_create(&me->thread, &attr, cleaner_main, me);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -err;
}

static bool node_has_pages(const struct clearpages_pool *p, unsigned int node)
{
	size_t i;

	for (i = 0; i < p->pages; i++)
		if (at_home(p, i, node))
			return true;
	return false;
}

int cleaners_start(struct clearpages_pool *p, unsigned int per_node, uint64_t low, uint64_t high)
{
	struct cleaners *c = calloc(1, sizeof(*c) + p->nodes.count * (size_t)per_node *
						    sizeof(c->cleaner[0]));
	unsigned int node, i;
	int err = 0;

	if (!c)
		return -ENOMEM;
	p->cleaners = c;
	c->low = low || high ? (low + p->page - 1) / p->page : p->pages;
	c->high = low || high ? (high + p->page - 1) / p->page : p->pages;
	for (node = 0; node < p->nodes.count && !err; node++) {
		if (!node_has_pages(p, node))
			continue;
		for (i = 0; i < per_node && !err; i++) {
			struct cleaner *me = &c->cleaner[c->count];

			*me = (struct cleaner){ .pool = p, .node = node };
			err = start_one(me);
			c->count += !err;
		}
	}
	if (err)
		cleaners_stop(p);
	return err;
}

void cleaners_stop(struct clearpages_pool *p)
{
	struct cleaners *c = p->cleaners;
	unsigned int i;

	if (!c)
		return;
	c->stop = true;
	bell_ring(&c->work);
	for (i = 0; i < c->count; i++)
		pthread_join(c->cleaner[i].thread, NULL);
	free(c);
	p->cleaners = NULL;
}

void cleaners_hold(struct clearpages_pool *p)
{
	if (p->cleaners)
		atomic_fetch_add(&p->cleaners->held, 1);
}

void cleaners_release(struct clearpages_pool *p)
{
	if (p->cleaners)
		atomic_fetch_sub(&p->cleaners->held, 1);
	cleaners_wake(p);
}

void cleaners_wake(struct clearpages_pool *p)
{
	if (p->cleaners && atomic_load(&p->count[PAGE_DIRTY]) && wanted(p))
		bell_ring(&p->cleaners->work);
}
