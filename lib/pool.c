/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A pool as a whole: options, making it, taking it down, what it has done. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "api.h"
#include "pager.h"
#include "policy_core.h"
#include "pool.h"
#include "pool_policy.h"
#include "workers.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

void why_say(const struct why *why, const char *format, ...)
{
	va_list ap;

	if (!why->text || !why->size)
		return;
	va_start(ap, format);
	vsnprintf(why->text, why->size, format, ap);
	va_end(ap);
}

/* ---- making it ------------------------------------------------------------------- */

static int check_opts(const struct clearpages_pool_opts *o, const struct why *why)
{
	const char *wrong = NULL;

	if (o->backing > CLEARPAGES_BACKING_PATH)
		wrong = "backing: expected one of CLEARPAGES_BACKING_...";
	else if (o->mode > CLEARPAGES_LAZY)
		wrong = "mode: expected CLEARPAGES_EAGER or CLEARPAGES_LAZY";
	else if (o->pager > CLEARPAGES_PAGER_PROTECT)
		wrong = "pager: expected one of CLEARPAGES_PAGER_...";
	else if (o->flags & ~CLEARPAGES_POOL_NODE || o->reserved)
		wrong = "flags: a flag that this release does not know";
	else if (!!o->path != (o->backing == CLEARPAGES_BACKING_PATH))
		wrong = "path: it goes with CLEARPAGES_BACKING_PATH, and that with a path";
	else if (o->mode == CLEARPAGES_LAZY && o->backing == CLEARPAGES_BACKING_THP)
		wrong = "a lazy pool needs hugetlb pages: private memory has one mapping only";
	else if (o->clean_low > o->clean_high)
		wrong = "clean_low: above clean_high";
	else if (o->cleaners > 1024 && o->cleaners != CLEARPAGES_NONE)
		wrong = "cleaners: more than 1024 on a node";
	else if (o->handlers > 1024 && o->handlers != CLEARPAGES_NONE)
		wrong = "handlers: more than 1024";
	if (wrong)
		why_say(why, "%s", wrong);
	return wrong ? -EINVAL : 0;
}

/* A word that a child of fork() finds to be 0: cheaper than to ask for the pid each time. */
static int make_alive(struct clearpages_pool *p)
{
	uint32_t *alive = mmap(NULL, CPG_GRANULE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (alive == MAP_FAILED)
		return -ENOMEM;
	madvise(alive, CPG_GRANULE, MADV_WIPEONFORK);
	*alive = 1;
	p->alive = alive;
	return 0;
}

static void find_homes(struct clearpages_pool *p)
{
	char **first = nodes_many() ? calloc(p->pages, sizeof(*first)) : NULL;
	size_t i;

	for (i = 0; first && i < p->pages; i++)
		first[i] = p->clear + i * p->page;
	if (first)
		nodes_find(&p->nodes, first, p->pages);
	free(first);
}

static int make_words(struct clearpages_pool *p)
{
	p->word = calloc(p->pages, sizeof(*p->word));
	p->extent = calloc(p->pages, sizeof(*p->extent));
	p->price = calloc(p->pages, sizeof(*p->price));
	if (!p->word || !p->extent || !p->price)
		return -ENOMEM;
	/* All CLEAN, which is 0: the kernel has zeroed them. */
	p->count[PAGE_CLEAN] = p->pages;
	return make_alive(p);
}

static struct clearpages_pool *pool_alloc(const struct clearpages_pool_opts *o)
{
	struct clearpages_pool *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	*p = (struct clearpages_pool){
		.base = MAP_FAILED, .clear = MAP_FAILED, .mode = o->mode,
		.pager_kind = o->pager, .nodes = { .count = 1 },
		.node = o->flags & CLEARPAGES_POOL_NODE ? o->node : NODES_ANYWHERE,
		.policy = *policy_core(o->policy),
		.threads = o->threads ? o->threads : workers_cpus(""),
	};
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

/* Of the process that made it, or of a child that has a copy of the struct and nothing else. */
static void pool_free(struct clearpages_pool *p)
{
	bool here = !p->alive || *p->alive;

	if (here)
		cleaners_stop(p);
	else
		free((void *)p->cleaners);
	pager_close(p);
	if (here)
		backing_close(p);
	if (p->alive)
		munmap((void *)p->alive, CPG_GRANULE);
	nodes_free(&p->nodes);
	pthread_mutex_destroy(&p->lock);
	free((void *)p->word);
	free((void *)p->extent);
	free(p->price);
	free(p);
}

static int build(struct clearpages_pool *p, const struct clearpages_pool_opts *o,
		 const struct why *why)
{
	uint32_t cleaners = !o->cleaners ? 1 : o->cleaners == CLEARPAGES_NONE ? 0 : o->cleaners;
	int err = backing_choose(p, o, why);

	if (!err)
		err = backing_open(p, o, why);
	if (err)
		return err;
	err = make_words(p);
	if (!err && p->mode == CLEARPAGES_LAZY) {
		err = pager_open(p, o, why);
		if (err)
			return err;
	}
	if (!err) {
		find_homes(p);
		err = cleaners ? cleaners_start(p, cleaners, o->clean_low, o->clean_high) : 0;
	}
	if (err)
		why_say(why, "no memory or no thread to be had for the pool itself");
	return err;
}

static int create(struct clearpages_pool **pool, const struct clearpages_pool_opts *o)
{
	struct why why = { o->why, o->why_size };
	struct clearpages_pool *p;
	int err;

	why_say(&why, "%s", "");
	err = check_opts(o, &why);
	if (err)
		return err;
	p = pool_alloc(o);
	if (!p)
		return -ENOMEM;
	err = build(p, o, &why);
	if (err)
		pool_free(p);
	else
		*pool = p;
	return err;
}

API int clearpages_pool_create(struct clearpages_pool **pool,
			       const struct clearpages_pool_opts *opts)
{
	struct clearpages_pool_opts o;
	int cancel, err;

	*pool = NULL;
	if (!api_struct_in(&o, sizeof(o), sizeof(o), opts))
		return -EINVAL;
	cancel = api_cancel_off();
	err = create(pool, &o);
	api_cancel_as(cancel);
	return err;
}

API int clearpages_pool_destroy(struct clearpages_pool *p)
{
	bool used = false;
	int cancel;
	size_t i;

	if (!p)
		return 0;
	if (*p->alive) {
		pthread_mutex_lock(&p->lock);
		for (i = 0; i < p->pages && !used; i++)
			used = p->extent[i] != EXTENT_NONE;
		pthread_mutex_unlock(&p->lock);
	}
	if (used)
		return -EBUSY;
	cancel = api_cancel_off();
	pool_free(p);
	api_cancel_as(cancel);
	return 0;
}

/* ---- looking at it --------------------------------------------------------------- */

static uint64_t bytes_in(struct clearpages_pool *p, enum page_state state)
{
	return atomic_load_explicit(&p->count[state], memory_order_relaxed) * p->page;
}

API int clearpages_pool_stats(struct clearpages_pool *p, struct clearpages_pool_stats *stats)
{
	struct clearpages_pool_stats s = {
		.page_bytes = p->page, .total_bytes = p->bytes,
		.get_cleared_bytes = p->cleared[BY_GET],
		.cleaner_cleared_bytes = p->cleared[BY_CLEANER],
		.fault_cleared_bytes = p->cleared[BY_FAULT],
		.ahead_cleared_bytes = p->cleared[BY_AHEAD],
		.touch_cleared_bytes = p->cleared[BY_TOUCH],
		.gets = p->gets, .hit_bytes = p->hits * p->page, .miss_bytes = p->misses * p->page,
		.waits = p->waits, .faults = p->faults,
		.backing = p->backing, .mode = p->mode, .pager = p->pager_kind,
		.limits = p->limits,
	};

	if (!api_size_known(stats->size, sizeof(s)))
		return -EINVAL;
	if (!*p->alive)
		return -ECHILD;
	s.clean_bytes = bytes_in(p, PAGE_CLEAN);
	s.dirty_bytes = bytes_in(p, PAGE_DIRTY) + bytes_in(p, PAGE_CLEANING);
	s.untouched_bytes = bytes_in(p, PAGE_LAZY_CLEAN) + bytes_in(p, PAGE_LAZY_DIRTY);
	s.used_bytes = s.untouched_bytes + bytes_in(p, PAGE_LENT) + bytes_in(p, PAGE_CLAIMED);
	s.lost_bytes = bytes_in(p, PAGE_LOST);
	api_struct_out(stats, sizeof(s), sizeof(s), &s);
	return 0;
}

int pool_policy_set(struct clearpages_pool *p, const struct clearpages_policy *policy)
{
	p->policy = *policy_core(policy);
	return 0;
}
