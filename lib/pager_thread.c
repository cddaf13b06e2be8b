/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the threads of a pager do. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "pager.h"

/* More than there are threads that could wait: behind their faults come the events. */
#define MESSAGES 64

/*
 * A page that is ready, though its thread waits: the answer to another has just made it
 * so, or the program has dropped it. What cannot be mapped is for the kernel to tell him.
 */
static void answer_again(struct member *m, size_t i)
{
	struct clearpages_pool *p = m->pool;
	int err = pager_again(p, i, m->number);

	if (err && err != -EAGAIN)
		pager_wake(p, (uintptr_t)page_addr(p, i), p->page);
}

/* A fault is answered, or refused; a page that another thread has in hand wakes who waits. */
static void answer(struct member *m, uintptr_t addr, uint32_t tid)
{
	struct clearpages_pool *p = m->pool;
	size_t i = page_index(p, addr);
	int err = -ENOENT;

	if (addr - (uintptr_t)p->base < p->bytes) {
		atomic_fetch_add_explicit(&p->faults, 1, memory_order_relaxed);
		if (page_state(p, i) == PAGE_LENT)
			answer_again(m, i);
		err = pager_try(p, i, addr - (uintptr_t)page_addr(p, i), BY_FAULT, m->number);
		ahead_hint(p, i);
	}
	if (err && err != -EAGAIN)
		pager_refuse(p, m->last, addr, tid);
}

/* Something was moved. True: it was the bell that tells one of the readers to end, this one. */
static bool answer_move(struct member *m, uintptr_t from)
{
	enum bell_kind kind = crew_bell(m->pool->pager, from);

	if (kind == BELL_ERRAND)
		errand_run(m);
	return kind == BELL_END;
}

/*
 * A userfaultfd is read without waiting, and waited for by poll(): between the
 * two there is time to clear ahead. Other mremap()s need no answer but to be
 * read; what comes of them is told apart by its address.
 */
void thread_read(struct member *m)
{
	struct pager *g = m->pool->pager;
	struct uffd_msg msg[MESSAGES];
	struct pollfd wait = { .fd = g->uffd, .events = POLLIN };
	bool stop = false;

	while (!stop) {
		ssize_t got = read(g->uffd, msg, sizeof(msg)), k;

		for (k = 0; k < got / (ssize_t)sizeof(msg[0]); k++) {
			if (msg[k].event == UFFD_EVENT_REMAP)
				stop |= answer_move(m, msg[k].arg.remap.from);
			if (msg[k].event == UFFD_EVENT_PAGEFAULT)
				answer(m, (uintptr_t)msg[k].arg.pagefault.address,
				       msg[k].arg.pagefault.feat.ptid);
		}
		if (got > 0 || (g->signals ? false : ahead_one(m->pool, m->number)))
			continue;
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			break;
		poll(&wait, 1, -1);
	}
	m->heard = stop;
}

void thread_help(struct member *m)
{
	struct pager *g = m->pool->pager;

	while (!g->stop) {
		uint32_t seen = bell_read(&g->hint);

		if (!ahead_one(m->pool, m->number) && !g->stop)
			bell_wait(&g->hint, seen, NULL);
	}
}
