/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many threads are worth having here, and threads that share out parts of a range. */
#ifndef CLEARPAGES_LIB_WORKERS_H
#define CLEARPAGES_LIB_WORKERS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

struct nodes;

/*
 * Cpus that this thread may run on, or as many as the cpu quota of its cgroups
 * (version 1 and 2, up the tree) pays for, rounded up, if that is fewer: at
 * least 1. root: "" for this machine; of another one all cpus that are online
 * count, because the affinity of a thread there is unknown.
 */
unsigned int workers_cpus(const char *root);

/*
 * Work on [addr, addr + len) in parts of `step` bytes; if that is a multiple of
 * 2 MiB they are cut at multiples of 2 MiB (the first and last may be shorter):
 * part() is called once for each, by up to `threads` threads, the caller among
 * them. A part that lies on a node is offered to threads on that node first.
 * Where there is no memory or no thread to be had the others do the work, the
 * caller in the end alone. Threads block all signals but those of a fault.
 * part() returns 0, or a negative errno that stops everything and is returned.
 * done (or NULL) is called after each part, or after several that were done
 * while it ran, by one thread at a time with no lock held, and stops everything
 * with -ECANCELED if it returns non-zero.
 */
struct workers_job {
	char *addr;
	size_t len;
	size_t step;
	unsigned int threads;
	int (*part)(void *arg, char *addr, size_t len);
	void *arg;
	int (*done)(void *arg, uint64_t done, uint64_t total);
	void *done_arg;
};

int workers_run(const struct workers_job *job);

/* The least that a second thread is worth being made for: zero.c has the figures. */
#define WORKERS_WORTH ((size_t)32 << 20)
/* The least of zeroing that a thread takes at a time: 0.1 ms at 40 GiB/s. */
#define WORKERS_UNIT ((size_t)4 << 20)

/*
 * How long parts should be, in multiples of unit (itself one of 2 MiB, or a page that
 * is longer): many for each thread, since the last one to end is half a part behind.
 */
size_t workers_step(size_t len, size_t unit, unsigned int threads);

/*
 * home (or NULL) says on which node the pages of a part that is not there yet
 * will be, or NODES_ANYWHERE; arg is that of the job. run (or NULL): threads of
 * somebody else's; it calls work(work_arg) in up to `threads` of them and
 * returns when all those calls have; what they leave is done by the caller.
 */
struct workers_with {
	int (*home)(void *arg, const char *addr);
	void (*run)(void *run_arg, void (*work)(void *work_arg), void *work_arg,
		    unsigned int threads);
	void *run_arg;
};

int workers_run_with(const struct workers_job *job, const struct workers_with *with);

/* The same on nodes that the caller knows or makes up (nodes.h): for tests. */
int workers_run_on(const struct workers_job *job, const struct nodes *nodes);

/* Block all signals but those of a fault, for a thread that is about to be made. */
void workers_block_signals(sigset_t *before);

#endif
