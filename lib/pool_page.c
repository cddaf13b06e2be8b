/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The word of a page. All of this is done in signal handlers too. */
#include <sched.h>

#include "pool.h"

/*
 * How long a thread that finds a page claimed looks again before it sleeps: to
 * be woken takes 30 to 75 us on a virtual machine, a 2 MiB page 40 to 170, so
 * that often the rest of one is shorter than the way to bed and back.
 */
#define LOOKS 2000

/* Who can be told to stop looks at least so often, whatever the policy's batch: 100 us or so. */
#define BREATH ((size_t)1 << 20)

bool page_take(struct clearpages_pool *p, size_t i, enum page_state from, enum page_state to,
	       unsigned int owner)
{
	uint32_t seen = from;

	if (!atomic_compare_exchange_strong(&p->word[i], &seen, (uint32_t)to | owner << 8))
		return false;
	atomic_fetch_sub_explicit(&p->count[from], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&p->count[to], 1, memory_order_relaxed);
	return true;
}

void page_give(struct clearpages_pool *p, size_t i, enum page_state from, enum page_state to)
{
	uint32_t was;

	/* Counted first: who sees the page in its new state sees it counted there. */
	atomic_fetch_sub_explicit(&p->count[from], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&p->count[to], 1, memory_order_relaxed);
	was = atomic_exchange(&p->word[i], (uint32_t)to);
	if (was & PAGE_WAITED)
		futex_wake(&p->word[i]);
}

void page_wait(struct clearpages_pool *p, size_t i)
{
	unsigned int look;
	uint32_t w;

	for (look = 0; look < LOOKS; look++) {
		if (page_state(p, i) != PAGE_CLAIMED)
			return;
		__builtin_ia32_pause();
	}
	for (;;) {
		w = atomic_load(&p->word[i]);
		if (PAGE_STATE(w) != PAGE_CLAIMED)
			return;
		if (!(w & PAGE_WAITED) &&
		    !atomic_compare_exchange_strong(&p->word[i], &w, w | PAGE_WAITED))
			continue;
		futex_wait(&p->word[i], w | PAGE_WAITED, NULL);
	}
}

int page_clear(struct clearpages_pool *p, size_t i, size_t touch, enum by by,
	       const struct cpg_breathe *breathe)
{
	struct cpg_policy policy = p->policy;
	int err;

	if (breathe && (!policy.batch || policy.batch > BREATH))
		policy.batch = BREATH;
	err = cpg_clear(p->clear + i * p->page, p->page, touch, &policy, breathe, NULL);
	if (!err)
		atomic_fetch_add_explicit(&p->cleared[by], p->page, memory_order_relaxed);
	return err;
}
