/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The pager of a lazy pool: how a page that was handed out untouched is cleared
 * and mapped when somebody gets to it. What is said here of mapping holds for
 * the users' mapping, p->base; p->clear has all pages at all times.
 *
 * pager_serve(), pager_fault() and what they call run in a signal handler: they
 * take no lock, allocate nothing and have no thread-local variables (the first
 * use of one may allocate).
 */
#ifndef CLEARPAGES_LIB_PAGER_H
#define CLEARPAGES_LIB_PAGER_H

#include <linux/userfaultfd.h>
#include <sys/types.h>

#include "pool.h"

/* Runs of pages that are to be cleared before somebody gets there: page << 32 | end. */
#define STREAMS 8

/* A touch that was refused, and by whom: each thread that refuses has some. */
#define KNOCKS 8

struct knock {
	uintptr_t page;
	uint32_t tid, generation;
};

/* A thread of the pager, and the one that looks after it: pager_crew.c. */
struct member {
	struct clearpages_pool *pool;
	unsigned int number;		/* the owner of pages that it claims, from 1 */
	void (*work)(struct member *m);
	bool reads;			/* it ends when its pager's bell is moved */
	struct knock last[KNOCKS];
	bool heard;			/* a bell, and that it is to end */
	pthread_t guard, thread;
};

/* What a reader is to do for a thread without the descriptor: pager_errand.c. */
struct errand {
	_Atomic(uint32_t) lock, state;
	unsigned long request;
	void *arg;
	int err;
	_Atomic(unsigned int) number;	/* who has taken it */
};

struct pager {
	int uffd;			/* -1 without userfaultfd */
	dev_t dev;			/* by which it is known again */
	ino_t ino;
	bool signals;			/* it is the touching thread that clears */
	uint32_t ahead;			/* pages */
	_Atomic(uint64_t) stream[STREAMS];
	_Atomic(uint32_t) next_stream;
	struct bell hint;		/* rung when there is something in stream[] */
	atomic_bool stop;
	_Atomic(uint32_t) ended;	/* readers that are gone, and their guards */

	atomic_bool shared;		/* the members have no tables of descriptors of their own */
	struct errand errand;

	char *bells;			/* two small pages for each member, and for errands */
	size_t bell_bytes;
	_Atomic(uint32_t) started;	/* members that have what they need */
	_Atomic(int) start_err;
	unsigned int count;
	struct member *member;
};

/* ioctl(2) on a userfaultfd. A test puts one in its place that fails now and then. */
extern int (*pager_ioctl)(int fd, unsigned long request, void *arg);

/* ---- making one: pager_open.c ---------------------------------------------------- */

int pager_open(struct clearpages_pool *p, const struct clearpages_pool_opts *o,
	       const struct why *why);
/*
 * Nothing if there is none. In a child of fork() it takes back what the child has of it:
 * its copy of the descriptor, and the place in the signal handler.
 */
void pager_close(struct clearpages_pool *p);

/* A userfaultfd for it, with its features agreed upon; *limits as in the statistics. */
int pager_uffd(bool signals, uint32_t *limits, const struct why *why);

/* ---- pages: pager.c -------------------------------------------------------------- */

/*
 * Page i has been touched, or is about to be: clear it if nobody has, and map
 * it. 0: it is ready; -EIO: it is not in use, or lost, or could not be mapped.
 * Waits where another thread is at it.
 */
int pager_serve(struct clearpages_pool *p, size_t i, size_t touch, enum by by,
		unsigned int owner);

/*
 * The same without waiting: -EAGAIN where another thread is at it; -ENOENT: not in use, or
 * lost; else why it could not be mapped.
 */
int pager_try(struct clearpages_pool *p, size_t i, size_t touch, enum by by, unsigned int owner);

/* As pager_serve(), of a program's thread: without its signals. Or -EIO. */
int pager_touch(struct clearpages_pool *p, size_t i, enum by by);

enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_FETCH };

/*
 * Somebody got a fault at that address in the pool. As pager_serve(); or an error if the
 * page was ready, and nothing of ours is in the way.
 */
int pager_fault(struct clearpages_pool *p, uintptr_t addr, enum access access);

/*
 * Map a page that is LENT once more: the program has dropped it perhaps. -EAGAIN: it was
 * not, or is no longer; then another thread is at it.
 */
int pager_again(struct clearpages_pool *p, size_t i, unsigned int owner);

/*
 * The range has just been taken: map all pages of it that are known to be clean.
 * -EIO: they cannot be, or there is nobody left to answer for the others.
 */
int pager_lend(struct clearpages_pool *p, size_t first, size_t count);

/* Unmap all of the range. If that fails somebody has mapped something else there. */
int pager_unmap(struct clearpages_pool *p, size_t first, size_t count);

/* Let the threads that wait for the page in the kernel look again. */
void pager_wake(struct clearpages_pool *p, uintptr_t addr, size_t len);

/*
 * Thread tid touched what is not in use (a free page, a moved mapping): if it
 * insists it gets SIGSEGV. pager_reopen(): the page is handed out again; under the
 * lock.
 */
void pager_refuse(struct clearpages_pool *p, struct knock *last, uintptr_t addr, uint32_t tid);
void pager_reopen(struct clearpages_pool *p, size_t first, size_t count);

/* ---- the descriptor: pager_errand.c ----------------------------------------------- */

/*
 * pager_ioctl(), by somebody who has the userfaultfd; in a signal handler too. 0 or -errno.
 * Not under p->lock: a reader may wait for that, and not where it would wait for this thread.
 */
int pager_call(struct pager *g, unsigned long request, void *arg);

/* Has this thread it? The number may be free, or another file's, another pool's even. */
bool pager_has_uffd(const struct pager *g);

/* By a reader that was called; by its guard, after its death. */
void errand_run(struct member *m);
void errand_lost(struct member *m);

/* ---- clearing ahead: pager_ahead.c ----------------------------------------------- */

/* Page i was touched first: if that goes on, which will be next? */
void ahead_hint(struct clearpages_pool *p, size_t i);

/* Clear one page of those; false: there is none. */
bool ahead_one(struct clearpages_pool *p, unsigned int owner);

/* ---- threads: pager_crew.c, pager_thread.c --------------------------------------- */

/* `readers` threads that read the userfaultfd, and `helpers` that clear ahead. */
int crew_start(struct clearpages_pool *p, unsigned int readers, unsigned int helpers);
void crew_stop(struct clearpages_pool *p);

/* One reader to errand_run(). True: one has heard it. */
bool crew_call(struct pager *g);

/* What is called by the event of that address. */
enum bell_kind { BELL_NONE, BELL_END, BELL_ERRAND };
enum bell_kind crew_bell(const struct pager *g, uintptr_t from);

/* What a member does: answer faults and events, or clear ahead. */
void thread_read(struct member *m);
void thread_help(struct member *m);

/* ---- signals: pager_signal.c ----------------------------------------------------- */

/* From now on faults of that signal in the pool are answered by pager_fault(). */
int signal_add(struct clearpages_pool *p, int signo);
void signal_remove(const struct clearpages_pool *p);

#endif
