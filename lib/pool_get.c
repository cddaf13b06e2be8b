/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Handing out memory of a pool, making it ready, taking it back. */
#include <errno.h>
#include <time.h>

#include "api.h"
#include "pager.h"
#include "pool.h"
#include "workers.h"

/* ---- waiting --------------------------------------------------------------------- */

/* NULL: for ever. */
static const struct timespec *deadline_of(uint64_t timeout_ns, struct timespec *t)
{
	const uint64_t second = 1000000000;
	uint64_t ns;

	if (timeout_ns / second > INT32_MAX || clock_gettime(CLOCK_MONOTONIC, t))
		return NULL;
	ns = (uint64_t)t->tv_nsec + timeout_ns % second;
	t->tv_sec += (time_t)(timeout_ns / second + ns / second);
	t->tv_nsec = (long)(ns % second);
	return t;
}

static bool is_over(const struct timespec *deadline)
{
	struct timespec now;

	if (!deadline || clock_gettime(CLOCK_MONOTONIC, &now))
		return false;
	return now.tv_sec > deadline->tv_sec ||
	       (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

/*
 * A cleaner that is in the way is told to let go: it does so within a batch, if it gets to
 * run at all, which one of idle priority does not on a busy cpu. Without a timeout it has
 * as long as this to do so, since the range is free: to say at once that there is none
 * would be a lie nearly always.
 */
#define GRACE_NS 100000000u

static int wait_take(struct clearpages_pool *p, struct range *r, uint64_t timeout_ns,
		     size_t *hits)
{
	const struct timespec *deadline = NULL;
	bool waited = false, held = false;
	struct timespec t;
	int err;

	for (;;) {
		uint32_t seen = bell_read(&p->freed);

		err = range_take(p, r, hits);
		if (!err || (err == -ENOMEM && !timeout_ns))
			break;
		if (!waited) {
			atomic_fetch_add(&p->waits, 1);
			deadline = deadline_of(timeout_ns ? timeout_ns : GRACE_NS, &t);
			waited = true;
		}
		if (held != (err == -EAGAIN)) {
			held = !held;
			if (held)
				cleaners_hold(p);
			else
				cleaners_release(p);
		}
		if (is_over(deadline)) {
			err = timeout_ns ? -ETIMEDOUT : -ENOMEM;
			break;
		}
		bell_wait(&p->freed, seen, deadline);
	}
	if (held)
		cleaners_release(p);
	return err;
}

/* ---- making it ready ------------------------------------------------------------- */

struct ready {
	struct clearpages_pool *pool;
	struct cpg_policy policy;
	enum by by;
};

/* The engine sees runs of pages and parts of one; far_min is about a page. */
static struct cpg_policy for_pages(const struct clearpages_pool *p)
{
	struct cpg_policy policy = p->policy;

	if (p->page < policy.far_min)
		policy.far = policy.near;
	policy.far_min = 0;
	return policy;
}

/* Of an eager pool: zero what lies in pages that get claimed, run by run. */
static int ready_bytes(void *arg, char *addr, size_t len)
{
	struct ready *job = arg;
	struct clearpages_pool *p = job->pool;
	char *end = addr + len, *from = addr, *to;

	while (from < end) {
		for (to = from; to < end && page_state(p, page_index(p, (uintptr_t)to)) ==
					    PAGE_CLAIMED;)
			to = page_addr(p, page_index(p, (uintptr_t)to) + 1);
		if (to > end)
			to = end;
		if (to > from)
			cpg_clear(from, (size_t)(to - from), CPG_NO_TOUCH, &job->policy, NULL,
				  NULL);
		atomic_fetch_add(&p->cleared[job->by], (uint64_t)(to - from));
		/* What stopped the run needs nothing. */
		from = to < end ? page_addr(p, page_index(p, (uintptr_t)to) + 1) : end;
	}
	return 0;
}

/* Of a lazy one: page by page, each of them claimed by who clears it. */
static int ready_pages(void *arg, char *addr, size_t len)
{
	struct ready *job = arg;
	struct clearpages_pool *p = job->pool;
	size_t i = page_index(p, (uintptr_t)addr), end = page_index(p, (uintptr_t)addr + len - 1);
	int err = 0;

	for (; i <= end && !err; i++)
		err = pager_touch(p, i, job->by);
	return err;
}

/* `dirty` of the pages have to be cleared. */
static int make_ready(struct clearpages_pool *p, const struct range *r, size_t dirty, enum by by)
{
	bool lazy = p->mode == CLEARPAGES_LAZY;
	struct ready job = { .pool = p, .policy = for_pages(p), .by = by };
	size_t worth = dirty * p->page / WORKERS_WORTH, i;
	struct workers_job work = {
		.addr = page_addr(p, r->first), .len = r->count * p->page,
		.part = lazy ? ready_pages : ready_bytes, .arg = &job,
	};
	int err;

	work.threads = worth < p->threads ? (unsigned int)worth : p->threads;
	if (work.threads > 1)
		work.step = workers_step(work.len, lazy && p->page > WORKERS_UNIT ? p->page :
					 WORKERS_UNIT, work.threads);
	if (work.threads < 2)
		err = work.part(&job, work.addr, work.len);
	else
		err = workers_run(&work);
	for (i = r->first; i < r->first + r->count && !lazy; i++)
		if (page_state(p, i) == PAGE_CLAIMED)
			page_give(p, i, PAGE_CLAIMED, PAGE_LENT);
	return err;
}

/* ---- taking it back -------------------------------------------------------------- */

/* From the moment it has ended here, a fault on the page is nobody's. */
static bool leave(struct clearpages_pool *p, size_t i)
{
	for (;;) {
		if (page_take(p, i, PAGE_LENT, PAGE_MOVING_DIRTY, OWNER_NONE))
			return true;
		if (page_take(p, i, PAGE_LAZY_DIRTY, PAGE_MOVING_DIRTY, OWNER_NONE) ||
		    page_take(p, i, PAGE_LAZY_CLEAN, PAGE_MOVING_CLEAN, OWNER_NONE) ||
		    page_state(p, i) == PAGE_LOST)
			return false;
		page_wait(p, i);
	}
}

/*
 * No page may be handed out again before this user's mapping of it is gone.
 * Pages that were never touched go back as they came.
 */
static void give_back(struct clearpages_pool *p, const struct range *r)
{
	size_t i, end = r->first + r->count;
	bool mapped = false, gone = true;

	for (i = r->first; i < end; i++)
		mapped |= leave(p, i);
	if (mapped && p->mode == CLEARPAGES_LAZY)
		gone = !pager_unmap(p, r->first, r->count);
	for (i = r->first; i < end; i++) {
		enum page_state now = page_state(p, i);

		if (now != PAGE_LOST)
			page_give(p, i, now, !gone ? PAGE_LOST :
					     now == PAGE_MOVING_CLEAN ? PAGE_CLEAN : PAGE_DIRTY);
	}
	bell_ring(&p->freed);
	cleaners_wake(p);
}

/* ---- the three calls ------------------------------------------------------------- */

static size_t pages_of(const struct clearpages_pool *p, size_t bytes)
{
	return (bytes - 1) / p->page + 1;
}

static int get(struct clearpages_pool *p, size_t count, const struct clearpages_get_opts *o,
	       void **addr)
{
	struct range r = { .count = count };
	size_t hits = 0;
	int err = wait_take(p, &r, o->timeout_ns, &hits);

	if (err)
		return err;
	atomic_fetch_add(&p->gets, 1);
	atomic_fetch_add(&p->hits, hits);
	atomic_fetch_add(&p->misses, count - hits);
	cleaners_wake(p); /* there are fewer clean ones now */
	if (p->mode == CLEARPAGES_LAZY)
		err = pager_lend(p, r.first, r.count);
	if (!err && hits < count &&
	    (p->mode == CLEARPAGES_EAGER || o->flags & CLEARPAGES_GET_READY))
		err = make_ready(p, &r, count - hits, BY_GET);
	if (err) {
		range_end(p, &r);
		give_back(p, &r);
		return err;
	}
	*addr = page_addr(p, r.first);
	return 0;
}

API int clearpages_pool_get(struct clearpages_pool *p, size_t bytes,
			    const struct clearpages_get_opts *opts, void **addr)
{
	struct clearpages_get_opts o = { .size = sizeof(o) };

	*addr = NULL;
	if (opts && !api_struct_in(&o, sizeof(o), sizeof(o), opts))
		return -EINVAL;
	if (o.flags & ~CLEARPAGES_GET_READY || o.reserved)
		return -EINVAL;
	if (!*p->alive)
		return -ECHILD;
	if (!bytes)
		return 0;
	if (bytes > p->bytes)
		return -ENOMEM;
	return get(p, pages_of(p, bytes), &o, addr);
}

/* The pages that [addr, addr + len) touches, len not 0; false: not all of it is ours. */
static bool to_range(const struct clearpages_pool *p, const void *addr, size_t len,
		     struct range *r)
{
	uintptr_t at = (uintptr_t)addr - (uintptr_t)p->base;

	if (at >= p->bytes || len > p->bytes - at)
		return false;
	r->first = at / p->page;
	r->count = (at + len - 1) / p->page - r->first + 1;
	return true;
}

API int clearpages_pool_put(struct clearpages_pool *p, void *addr, size_t bytes)
{
	struct range r;

	if (!*p->alive)
		return -ECHILD;
	if (!bytes)
		return 0;
	if (!to_range(p, addr, bytes, &r) || (char *)addr != page_addr(p, r.first) ||
	    !range_end(p, &r))
		return -EINVAL;
	give_back(p, &r);
	return 0;
}

API int clearpages_pool_touch(struct clearpages_pool *p, void *addr, size_t len)
{
	struct range r;
	int err = 0;

	if (!*p->alive)
		return -ECHILD;
	if (!len)
		return 0;
	if (!to_range(p, addr, len, &r) || !range_used(p, &r))
		return -EINVAL;
	if (p->mode == CLEARPAGES_LAZY)
		err = make_ready(p, &r, r.count, BY_TOUCH);
	return err;
}
