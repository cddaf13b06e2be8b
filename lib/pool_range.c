/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ranges of pages: where there is one to be had, and which ones are in use. */
#include <errno.h>

#include "pager.h"
#include "pool.h"

#define NO_PAGE SIZE_MAX

/* What it costs to take a page. A cleaner that is at it has to be waited for. */
enum { PRICE_CLEAN, PRICE_DIRTY, PRICE_CLEANING, PRICE_NONE };

static const uint64_t cost[] = {
	[PRICE_CLEAN] = 0, [PRICE_DIRTY] = 1, [PRICE_CLEANING] = (uint64_t)1 << 32,
};

static unsigned char price(struct clearpages_pool *p, size_t i)
{
	switch (page_state(p, i)) {
	case PAGE_CLEAN:
		return PRICE_CLEAN;
	case PAGE_DIRTY:
		return PRICE_DIRTY;
	case PAGE_CLEANING:
		return PRICE_CLEANING;
	default:
		return PRICE_NONE;
	}
}

/*
 * The range of `count` free pages that costs the least, the lowest of several;
 * NO_PAGE if there is none. Cleaners change prices meanwhile, which is why each
 * page's is written down: what leaves the sum has to be what went in.
 */
static size_t find(struct clearpages_pool *p, size_t count, uint64_t *least)
{
	size_t i, run = 0, best = NO_PAGE;
	uint64_t sum = 0;

	*least = UINT64_MAX;
	for (i = 0; i < p->pages && *least; i++) {
		p->price[i] = price(p, i);
		if (p->price[i] == PRICE_NONE) {
			run = 0;
			sum = 0;
			continue;
		}
		sum += cost[p->price[i]];
		if (run == count)
			sum -= cost[p->price[i - count]];
		else
			run++;
		if (run == count && sum < *least) {
			*least = sum;
			best = i + 1 - count;
		}
	}
	return best;
}

/* On to what they are in use, or back to what they were. */
static void move(struct clearpages_pool *p, size_t first, size_t end, enum page_state clean,
		 enum page_state dirty)
{
	size_t i;

	for (i = first; i < end; i++) {
		enum page_state now = page_state(p, i);

		page_give(p, i, now, now == PAGE_MOVING_CLEAN ? clean : dirty);
	}
}

/*
 * All of them or none. Only a cleaner can be in the way: all others that take or
 * give back free pages hold the lock. DIRTY is tried first, because a page becomes
 * clean under our hands, and not the other way round. Until all are taken they
 * are nobody's: a thread that clears ahead must not find one that goes back.
 */
static bool take(struct clearpages_pool *p, const struct range *r, size_t *hits)
{
	bool lazy = p->mode == CLEARPAGES_LAZY;
	size_t i, end = r->first + r->count;

	*hits = 0;
	for (i = r->first; i < end; i++) {
		if (page_take(p, i, PAGE_DIRTY, PAGE_MOVING_DIRTY, OWNER_NONE))
			continue;
		if (!page_take(p, i, PAGE_CLEAN, PAGE_MOVING_CLEAN, OWNER_NONE)) {
			move(p, r->first, i, PAGE_CLEAN, PAGE_DIRTY);
			return false;
		}
		++*hits;
	}
	for (i = r->first; i < end; i++)
		p->extent[i] = i == r->first ? EXTENT_FIRST : EXTENT_REST;
	p->generation++;
	if (lazy)
		move(p, r->first, end, PAGE_LAZY_CLEAN, PAGE_LAZY_DIRTY);
	else
		move(p, r->first, end, PAGE_LENT, PAGE_CLAIMED);
	return true;
}

int range_take(struct clearpages_pool *p, struct range *r, size_t *hits)
{
	uint64_t least;
	int err;

	pthread_mutex_lock(&p->lock);
	/* A cleaner that was faster: there may be another range, without it. */
	do {
		r->first = find(p, r->count, &least);
		err = r->first == NO_PAGE ? -ENOMEM : take(p, r, hits) ? 0 : -EAGAIN;
	} while (err == -EAGAIN && least < cost[PRICE_CLEANING]);
	if (!err && p->refused)
		pager_reopen(p, r->first, r->count);
	pthread_mutex_unlock(&p->lock);
	return err;
}

static bool is_range(struct clearpages_pool *p, const struct range *r)
{
	size_t i, end = r->first + r->count;

	if (p->extent[r->first] != EXTENT_FIRST)
		return false;
	for (i = r->first + 1; i < end; i++)
		if (p->extent[i] != EXTENT_REST)
			return false;
	return end == p->pages || p->extent[end] != EXTENT_REST;
}

bool range_end(struct clearpages_pool *p, const struct range *r)
{
	size_t i;
	bool whole;

	pthread_mutex_lock(&p->lock);
	whole = is_range(p, r);
	p->generation += whole;
	for (i = r->first; i < r->first + r->count && whole; i++)
		p->extent[i] = EXTENT_NONE;
	pthread_mutex_unlock(&p->lock);
	return whole;
}

bool range_used(struct clearpages_pool *p, const struct range *r)
{
	size_t i;

	for (i = r->first; i < r->first + r->count; i++)
		if (p->extent[i] == EXTENT_NONE)
			return false;
	return true;
}
