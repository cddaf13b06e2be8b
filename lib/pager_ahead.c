/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Clearing ahead of a program that goes forward. How far: as many pages as it
 * has touched in a row before this one, so that a first step promises nothing,
 * and each window is twice the one before, up to the limit. That needs no
 * memory of who touched what: several threads, each with its part of a range,
 * are told apart by where they are.
 */
#include "pager.h"

#define PACK(next, end) ((uint64_t)(next) << 32 | (end))
#define NEXT(stream) ((size_t)((stream) >> 32))
#define END(stream) ((size_t)((stream) & UINT32_MAX))

/* The end of the window after page i, in the range that it lies in. */
static size_t window_end(struct clearpages_pool *p, size_t i)
{
	size_t limit = p->pager->ahead, back = 0, end = i + 1;

	while (back < limit && back < i && p->extent[i - back] == EXTENT_REST &&
	       page_state(p, i - back - 1) == PAGE_LENT)
		back++;
	while (end < p->pages && end - i <= back && p->extent[end] == EXTENT_REST)
		end++;
	return end;
}

void ahead_hint(struct clearpages_pool *p, size_t i)
{
	struct pager *g = p->pager;
	size_t end, k;
	uint64_t s;

	if (!g->ahead)
		return;
	end = window_end(p, i);
	if (end == i + 1)
		return;
	for (k = 0; k < STREAMS; k++) {
		s = atomic_load(&g->stream[k]);
		/* Its own stream: further on, and not back to what is done. */
		if (s && NEXT(s) <= end && END(s) >= i) {
			size_t next = NEXT(s) > i ? NEXT(s) : i + 1;

			if (END(s) < end)
				atomic_compare_exchange_strong(&g->stream[k], &s, PACK(next, end));
			break;
		}
	}
	if (k == STREAMS)
		atomic_store(&g->stream[atomic_fetch_add(&g->next_stream, 1) % STREAMS],
			     PACK(i + 1, end));
	bell_ring(&g->hint);
}

bool ahead_one(struct clearpages_pool *p, unsigned int owner)
{
	struct pager *g = p->pager;
	size_t k;

	for (k = 0; k < STREAMS; k++) {
		uint64_t s = atomic_load(&g->stream[k]);
		size_t i = NEXT(s);

		while (i < END(s)) {
			if (!atomic_compare_exchange_weak(&g->stream[k], &s,
							  PACK(i + 1, END(s)))) {
				i = NEXT(s);
				continue;
			}
			if (page_state(p, i) == PAGE_LAZY_DIRTY ||
			    page_state(p, i) == PAGE_LAZY_CLEAN) {
				pager_try(p, i, CPG_NO_TOUCH, BY_AHEAD, owner);
				return true;
			}
			s = atomic_load(&g->stream[k]);
			i = NEXT(s);
		}
	}
	return false;
}
