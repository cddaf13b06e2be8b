/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The insides of a pool: what a page can be, and who may change it.
 *
 * Each page has one word. A page that is free (CLEAN, DIRTY) or has been
 * touched (LENT) belongs to nobody here; whoever moves it away from there, by
 * compare-and-swap, owns it until he moves it back. So a page is cleared by
 * one thread, and never after a user could have written to it.
 *
 *	get:	 CLEAN -> MOVING_CLEAN -> LENT, or LAZY_CLEAN
 *		 DIRTY -> MOVING_DIRTY -> CLAIMED -> LENT, or LAZY_DIRTY
 *	touch:	 LAZY_* -> CLAIMED -> LENT
 *	put:	 LENT -> MOVING_DIRTY -> DIRTY	LAZY_* -> MOVING_* -> the same
 *	cleaner: DIRTY -> CLEANING -> CLEAN
 *
 * The lock is for whole ranges: who has which (extent), and that two gets do
 * not tear the same gap apart. Nothing is cleared or waited for under it, and nothing
 * mapped; but mprotect() of pages that were touched while free is called (pager_refuse()),
 * since they must not be handed out in between.
 */
#ifndef CLEARPAGES_LIB_POOL_H
#define CLEARPAGES_LIB_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include "../core/cpg.h"
#include "../include/clearpages.h"
#include "futex.h"
#include "nodes.h"

enum page_state {
	PAGE_CLEAN,	/* free, all zero */
	PAGE_DIRTY,	/* free, with old bytes */
	PAGE_CLEANING,	/* free, a cleaner is at it */
	PAGE_LENT,	/* in use, the user's own */
	PAGE_LAZY_CLEAN, /* in use, not mapped yet, all zero */
	PAGE_LAZY_DIRTY, /* in use, not mapped yet, with old bytes */
	PAGE_CLAIMED,	/* in use, being cleared and mapped */
	PAGE_MOVING_CLEAN, /* being gotten or put */
	PAGE_MOVING_DIRTY,
	PAGE_LOST,	/* out of service for good */
	PAGE_STATES,
};

/* The word of a page: its state, who claimed it, and whether somebody waits for it. */
#define PAGE_STATE(word) ((enum page_state)((word) & 0xff))
#define PAGE_OWNER(word) ((word) >> 8 & 0xffff)
#define PAGE_WAITED 0x80000000u

/* Whose page it is, for those that are CLAIMED: 0, or the number of a thread of the pager. */
#define OWNER_NONE 0u

/* Who clears, for the statistics. */
enum by { BY_GET, BY_CLEANER, BY_FAULT, BY_AHEAD, BY_TOUCH, BY_COUNT };

/* What a page is to the ranges that are in use. */
enum extent { EXTENT_NONE, EXTENT_FIRST, EXTENT_REST };

struct pager;
struct cleaners;

/* The one line for the caller. */
struct why {
	char *text;
	size_t size;
};

__attribute__((format(printf, 2, 3)))
void why_say(const struct why *why, const char *format, ...);

struct clearpages_pool {
	size_t page, pages, bytes;
	uint32_t backing, mode, pager_kind;
	_Atomic(uint32_t) limits;	/* CLEARPAGES_POOL_USER_ONLY, _BROKEN */
	int node;			/* or NODES_ANYWHERE */
	unsigned int threads;
	char *base;			/* as users see it */
	char *clear;			/* as we clear it: the same, or a second mapping */
	const uint32_t *alive;		/* 1; in a child of fork() 0 */
	struct cpg_policy policy;

	_Atomic(uint32_t) *word;	/* of each page */
	_Atomic(uint64_t) count[PAGE_STATES];
	_Atomic(uint64_t) cleared[BY_COUNT];	/* bytes */
	_Atomic(uint64_t) gets, hits, misses, waits, faults;

	pthread_mutex_t lock;
	_Atomic(unsigned char) *extent;	/* of each page; written under the lock */
	unsigned char *price;		/* of each page, for find() */
	uint32_t generation;		/* ranges handed out and taken back so far */
	bool refused;			/* free pages may be protected: see pager_refuse() */

	struct bell freed;		/* rung when a page becomes free or clean */
	struct nodes nodes;		/* where the pages lie */
	struct cleaners *cleaners;
	struct pager *pager;		/* of a lazy pool */
};

/* ---- one page: pool_page.c ------------------------------------------------------- */

static inline enum page_state page_state(struct clearpages_pool *p, size_t i)
{
	return PAGE_STATE(atomic_load(&p->word[i]));
}

static inline char *page_addr(const struct clearpages_pool *p, size_t i)
{
	return p->base + i * p->page;
}

/* The page of an address in the pool. */
static inline size_t page_index(const struct clearpages_pool *p, uintptr_t addr)
{
	return (addr - (uintptr_t)p->base) / p->page;
}

/* From a state in which nobody owns it to another; false: it was not in that state. */
bool page_take(struct clearpages_pool *p, size_t i, enum page_state from, enum page_state to,
	       unsigned int owner);

/* By its owner (`from` is what he made it): on to another state, and wake who waits. */
void page_give(struct clearpages_pool *p, size_t i, enum page_state from, enum page_state to);

/* Sleep until it is no longer CLAIMED. */
void page_wait(struct clearpages_pool *p, size_t i);

/* Zero it; touch as for clearpages_zero_at(). -ECANCELED if breathe said so. */
int page_clear(struct clearpages_pool *p, size_t i, size_t touch, enum by by,
	       const struct cpg_breathe *breathe);

/* ---- ranges of pages: pool_range.c ----------------------------------------------- */

struct range {
	size_t first, count;	/* pages */
};

/*
 * Take r->count pages in one piece, clean ones if possible: those that are clean
 * become LENT or LAZY_CLEAN (*hits of them), the others CLAIMED or LAZY_DIRTY. -EAGAIN: a
 * cleaner is in the way, and rings p->freed; -ENOMEM: there is no such piece.
 */
int range_take(struct clearpages_pool *p, struct range *r, size_t *hits);

/* End its use. False: that is not exactly one range in use; nothing has changed then. */
bool range_end(struct clearpages_pool *p, const struct range *r);

/* Is all of it in use? */
bool range_used(struct clearpages_pool *p, const struct range *r);

/* ---- memory: pool_backing.c ------------------------------------------------------ */

/*
 * Map, take and zero p->bytes; p->page, backing, mode and node say how, and o->backing
 * whether p->backing may become another. Unwinds by itself.
 */
int backing_open(struct clearpages_pool *p, const struct clearpages_pool_opts *o,
		 const struct why *why);
void backing_close(struct clearpages_pool *p);

/* AUTO to a backing, and a page size of 0 to the one it stands for. */
int backing_choose(struct clearpages_pool *p, const struct clearpages_pool_opts *o,
		   const struct why *why);

/* ---- threads that clean: pool_cleaner.c ------------------------------------------ */

int cleaners_start(struct clearpages_pool *p, unsigned int per_node, uint64_t low, uint64_t high);
void cleaners_stop(struct clearpages_pool *p);

/* They let go of what they are at, as it is, and ring p->freed; until as many releases. */
void cleaners_hold(struct clearpages_pool *p);
void cleaners_release(struct clearpages_pool *p);

/* There may be something to do. */
void cleaners_wake(struct clearpages_pool *p);

#endif
