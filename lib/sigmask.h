/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * No signal handler in between: for what a handler of this thread would wait for
 * for ever. By the system call, because the C library leaves out the signals with which
 * it cancels threads. Those of a fault stay: what they would have to say of such a
 * moment is that the program is broken, and blocked they end it without a word.
 */
#ifndef CLEARPAGES_LIB_SIGMASK_H
#define CLEARPAGES_LIB_SIGMASK_H

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIGMASK_BIT(signo) ((uint64_t)1 << ((signo) - 1))
#define SIGMASK_FAULTS (SIGMASK_BIT(SIGBUS) | SIGMASK_BIT(SIGSEGV) | SIGMASK_BIT(SIGILL) | \
			SIGMASK_BIT(SIGFPE) | SIGMASK_BIT(SIGTRAP) | SIGMASK_BIT(SIGSYS))

/* What was blocked before, for sigmask_release(). */
static inline uint64_t sigmask_hold(void)
{
	uint64_t block = ~SIGMASK_FAULTS, before = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &block, &before, sizeof(block));
	return before;
}

static inline void sigmask_release(uint64_t before)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

#endif
