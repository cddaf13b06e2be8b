/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The threads of a pager. Each is a pair: a guard, which has its own table of
 * descriptors with nothing in it but the userfaultfd, and the thread that it
 * made, which shares that table. So
 *
 * - a program that closes descriptors which are not its own (a daemon that begins
 *   with a loop over all of them) does not close the userfaultfd for good. The
 *   kernel would drop all registrations with the last of them, and show untouched
 *   pages as they are;
 * - when the thread ends in a way that was not planned, the guard notices, and
 *   closes what the thread can no longer answer for. It stays in its place then: the table
 *   may be the last that has the userfaultfd, and who moves memory waits in the kernel
 *   until the event has been read.
 *
 * A thread that reads is told to end by an event of its own: an mremap() of
 * a page that is there for this only. That takes no descriptor, and so nothing
 * that a program could have closed and opened anew as something else.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "pager.h"
#include "workers.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1u << 1)
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#ifdef CLEARPAGES_SANITIZED
#define FIRST_TO_CLOSE 3u /* a sanitizer that has found something says so on stderr */
#else
#define FIRST_TO_CLOSE 0u
#endif

/*
 * Kernels before 5.9 cannot do it: then the table stays common, and closing
 * everything is what it was. Nothing else is lost.
 */
static void own_table(struct pager *g)
{
	unsigned int fd = (unsigned int)g->uffd;

	if (syscall(SYS_close_range, fd + 1, ~0u, CLOSE_RANGE_UNSHARE)) {
		g->shared = true;
		return;
	}
	if (fd > FIRST_TO_CLOSE)
		syscall(SYS_close_range, FIRST_TO_CLOSE, fd - 1, 0);
}

/* ---- death ----------------------------------------------------------------------- */

static void lose(struct clearpages_pool *p, size_t i)
{
	mprotect(page_addr(p, i), p->page, PROT_NONE);
}

/*
 * Pages that the dead thread had claimed, and without anybody to answer faults
 * all that are untouched: to touch them is SIGSEGV from now on. Protected
 * before they are given, so that a thread that waits finds them so.
 */
static void bury(struct member *m)
{
	struct clearpages_pool *p = m->pool;
	bool all = m->reads && !p->pager->signals;
	size_t i;

	p->limits |= CLEARPAGES_POOL_BROKEN;
	for (i = 0; i < p->pages; i++) {
		uint32_t w = atomic_load(&p->word[i]);

		if (PAGE_STATE(w) == PAGE_CLAIMED && PAGE_OWNER(w) == m->number) {
			lose(p, i);
			page_give(p, i, PAGE_CLAIMED, PAGE_LOST);
		} else if (all && (page_take(p, i, PAGE_LAZY_CLEAN, PAGE_LOST, OWNER_NONE) ||
				   page_take(p, i, PAGE_LAZY_DIRTY, PAGE_LOST, OWNER_NONE))) {
			lose(p, i);
		}
	}
	pager_wake(p, (uintptr_t)p->base, p->bytes);
}

static void *member_main(void *arg)
{
	struct member *m = arg;

	m->work(m);
	return NULL;
}

/* Until the thread ends. Not as it was told to: the guard takes its place, and reads. */
static void watch(struct member *m)
{
	pthread_join(m->thread, NULL);
	if (m->reads ? m->heard : m->pool->pager->stop)
		return;
	errand_lost(m);
	bury(m);
	if (m->reads)
		thread_read(m);
}

static void *guard_main(void *arg)
{
	struct member *m = arg;
	struct pager *g = m->pool->pager;
	int err;

	if (g->uffd >= 0)
		own_table(g);
	err = pthread_create(&m->thread, NULL, member_main, m);
	if (err)
		g->start_err = -err;
	atomic_fetch_add(&g->started, 1);
	futex_wake(&g->started);
	if (!err)
		watch(m);
	if (m->reads) {
		atomic_fetch_add(&g->ended, 1);
		futex_wake(&g->ended);
	}
	return NULL;
}

/* ---- the crew -------------------------------------------------------------------- */

/* Of member i; the last one is for errands. */
static char *bell_of(const struct pager *g, unsigned int i)
{
	return g->bells + 2 * CPG_GRANULE * i;
}

enum bell_kind crew_bell(const struct pager *g, uintptr_t from)
{
	uintptr_t at = from - (uintptr_t)g->bells;

	if (at >= g->bell_bytes)
		return BELL_NONE;
	return at < g->bell_bytes - 2 * CPG_GRANULE ? BELL_END : BELL_ERRAND;
}

/* A page that is moved onto the one after it when the time has come. */
static int hang_bell(const struct pager *g, unsigned int i)
{
	struct uffdio_register r = {
		.range = { (uintptr_t)bell_of(g, i), CPG_GRANULE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	return pager_ioctl(g->uffd, UFFDIO_REGISTER, &r) ? -errno : 0;
}

/* What was moved stays a mapping: nobody gets one there, to be unmapped in the end. */
static bool ring(const struct pager *g, unsigned int i)
{
	char *bell = bell_of(g, i);

	return mremap(bell, CPG_GRANULE, CPG_GRANULE, MREMAP_MAYMOVE | MREMAP_FIXED |
		      MREMAP_DONTUNMAP, bell + CPG_GRANULE) != MAP_FAILED;
}

static int start_one(struct member *m)
{
	sigset_t before;
	int err = m->reads ? hang_bell(m->pool->pager, m->number - 1) : 0;

	if (err)
		return err;
	workers_block_signals(&before);
	err = -pthread_create(&m->guard, NULL, guard_main, m);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

static int make_bells(struct pager *g, unsigned int count)
{
	g->bell_bytes = 2 * CPG_GRANULE * (count + 1);
	g->bells = mmap(NULL, g->bell_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (g->bells == MAP_FAILED) {
		g->bells = NULL;
		return -ENOMEM;
	}
	madvise(g->bells, g->bell_bytes, MADV_DONTFORK);
	return 0;
}

int crew_start(struct clearpages_pool *p, unsigned int readers, unsigned int helpers)
{
	struct pager *g = p->pager;
	unsigned int i, count = readers + helpers;
	int err;

	if (!count)
		return 0;
	g->member = calloc(count, sizeof(*g->member));
	err = g->member ? make_bells(g, count) : -ENOMEM;
	if (!err && readers)
		err = hang_bell(g, count);
	g->count = err ? 0 : count;
	for (i = 0; i < count && !err; i++) {
		g->member[i] = (struct member){
			.pool = p, .number = i + 1, .reads = i < readers,
			.work = i < readers ? thread_read : thread_help,
		};
		err = start_one(&g->member[i]);
		if (err)
			g->count = i;
	}
	/* Until each has a userfaultfd of its own; those that failed are over. */
	for (i = g->started; i < g->count; i = g->started)
		futex_wait(&g->started, i, NULL);
	return err ? err : g->start_err;
}

/*
 * Any reader hears any bell, and ends: as many bells as there are readers, and the next
 * one only when one of them has obeyed, or a reader takes two in one read() and
 * another waits for its own for ever.
 */
static void stop_readers(struct pager *g)
{
	unsigned int readers = 0, rung = 0;

	while (readers < g->count && g->member[readers].reads)
		readers++;
	while (atomic_load(&g->ended) < readers) {
		uint32_t before = atomic_load(&g->ended);

		if (before < readers && ring(g, rung++ % readers))
			while (atomic_load(&g->ended) == before)
				futex_wait(&g->ended, before, NULL);
		else
			sched_yield();
	}
}

/* The kernel lets no mremap() end before a reader has the event. */
bool crew_call(struct pager *g)
{
	return g->bells && ring(g, (unsigned int)(g->bell_bytes / CPG_GRANULE / 2) - 1);
}

void crew_stop(struct clearpages_pool *p)
{
	struct pager *g = p->pager;
	unsigned int i;

	g->stop = true;
	bell_ring(&g->hint);
	stop_readers(g);
	for (i = 0; i < g->count; i++)
		pthread_join(g->member[i].guard, NULL);
	if (g->bells)
		munmap(g->bells, g->bell_bytes);
	free(g->member);
}
