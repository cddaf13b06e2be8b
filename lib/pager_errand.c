/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A userfaultfd for threads that have none: the program has closed all descriptors, say, or
 * has another file under that number. The pager's readers have theirs in a table of
 * their own, and do it for them, one at a time.
 *
 * They are called by a bell, as they are to end. Until whoever moved it is back from
 * mremap() the kernel answers UFFDIO_CONTINUE with EAGAIN, so the reader waits for him.
 */
#include <errno.h>
#include <sys/stat.h>

#include "pager.h"
#include "sigmask.h"

enum { ERRAND_NONE, ERRAND_CALLING, ERRAND_POSTED, ERRAND_TAKEN, ERRAND_DONE };

static void set(struct errand *e, uint32_t state)
{
	atomic_store(&e->state, state);
	futex_wake(&e->state);
}

static void wait_while(struct errand *e, uint32_t low, uint32_t high)
{
	uint32_t now;

	while ((now = atomic_load(&e->state)) >= low && now <= high)
		futex_wait(&e->state, now, NULL);
}

/* Is that number our userfaultfd, in the table of this thread? */
bool pager_has_uffd(const struct pager *g)
{
	struct stat now;

	return g->uffd >= 0 && !fstat(g->uffd, &now) && now.st_dev == g->dev &&
	       now.st_ino == g->ino;
}

/* With no signals: a handler that touches a page may have the next errand. */
static int send(struct pager *g, unsigned long request, void *arg)
{
	struct errand *e = &g->errand;
	uint64_t before = sigmask_hold();
	int err = -EBADF;

	futex_lock(&e->lock);
	e->request = request;
	e->arg = arg;
	set(e, ERRAND_CALLING);
	if (crew_call(g)) {
		set(e, ERRAND_POSTED);
		wait_while(e, ERRAND_POSTED, ERRAND_TAKEN);
		err = e->err;
	}
	set(e, ERRAND_NONE);
	futex_unlock(&e->lock);
	sigmask_release(before);
	return err;
}

int pager_call(struct pager *g, unsigned long request, void *arg)
{
	int err = -EBADF;

	if (pager_has_uffd(g))
		err = pager_ioctl(g->uffd, request, arg) ? -errno : 0;
	if (err == -EBADF && !g->shared)
		err = send(g, request, arg);
	return err;
}

void errand_run(struct member *m)
{
	struct pager *g = m->pool->pager;
	struct errand *e = &g->errand;
	uint32_t posted = ERRAND_POSTED;

	wait_while(e, ERRAND_CALLING, ERRAND_CALLING);
	e->number = m->number;
	if (!atomic_compare_exchange_strong(&e->state, &posted, ERRAND_TAKEN))
		return;
	e->err = pager_ioctl(g->uffd, e->request, e->arg) ? -errno : 0;
	set(e, ERRAND_DONE);
}

void errand_lost(struct member *m)
{
	struct errand *e = &m->pool->pager->errand;

	if (atomic_load(&e->state) == ERRAND_TAKEN && e->number == m->number) {
		e->err = -EIO;
		set(e, ERRAND_DONE);
	}
}
