/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waiting for a word of memory to change; works in a signal handler too. */
#ifndef CLEARPAGES_LIB_FUTEX_H
#define CLEARPAGES_LIB_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Sleep while *word is `seen`, or until the deadline (CLOCK_MONOTONIC; NULL:
 * none). May return early for any reason: look again. Sets errno.
 */
static inline long futex_wait(_Atomic(uint32_t) *word, uint32_t seen,
			      const struct timespec *deadline)
{
	return syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, seen, deadline, NULL,
		       FUTEX_BITSET_MATCH_ANY);
}

/* Wake all that sleep there. Sets errno. */
static inline void futex_wake(_Atomic(uint32_t) *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX);
}

/* A lock that a signal handler can take, if all who do have their signals blocked meanwhile. */
static inline void futex_lock(_Atomic(uint32_t) *lock)
{
	uint32_t was = 0;

	if (atomic_compare_exchange_strong(lock, &was, 1))
		return;
	while (atomic_exchange(lock, 2))
		futex_wait(lock, 2, NULL);
}

static inline void futex_unlock(_Atomic(uint32_t) *lock)
{
	if (atomic_exchange(lock, 0) == 2)
		futex_wake(lock);
}

/*
 * A word that counts events, and how many sleep until the next. Read the word, look whether
 * there is something to do, and only then wait for the word to change.
 */
struct bell {
	_Atomic(uint32_t) word;
	_Atomic(uint32_t) sleepers;
};

static inline uint32_t bell_read(struct bell *b)
{
	return atomic_load(&b->word);
}

static inline void bell_wait(struct bell *b, uint32_t seen, const struct timespec *deadline)
{
	atomic_fetch_add(&b->sleepers, 1);
	futex_wait(&b->word, seen, deadline);
	atomic_fetch_sub(&b->sleepers, 1);
}

static inline void bell_ring(struct bell *b)
{
	atomic_fetch_add(&b->word, 1);
	if (atomic_load(&b->sleepers))
		futex_wake(&b->word);
}

#endif
