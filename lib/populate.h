/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of clearpages_populate(), and what its tests put in the place of the kernel. */
#ifndef CLEARPAGES_LIB_POPULATE_H
#define CLEARPAGES_LIB_POPULATE_H

#include "../include/clearpages.h"
#include "mapping.h"

struct populate_system {
	const char *root;	/* for pools and limits; "" for this machine */
	int (*madvise)(void *addr, size_t len, int advice);
	/* Make the page writable, its contents as they were: 0 or -errno, never a signal. */
	int (*touch)(void *addr);
};

int populate_with(const struct populate_system *sys, void *addr, size_t len,
		  struct clearpages_populate_opts *opts);

/* The touch that the library has. */
int populate_touch(void *addr);

/* ---- between populate*.c ------------------------------------------------------ */

struct populate {
	const struct populate_system *sys;
	struct clearpages_populate_opts o;
	struct mappings maps;	/* side by side from `from` to `to` */
	uintptr_t from, to;
	int here;		/* the node of the calling thread, or NODES_ANYWHERE */
	unsigned int threads;	/* at most */
	bool by_touch;		/* this kernel has no MADV_POPULATE_WRITE */
	uint64_t before;	/* bytes of the runs that are done */
	uint64_t pmd;		/* the size of a transparent huge page, 0: there are none */
	int huge_err;		/* the first that MADV_HUGEPAGE or MADV_COLLAPSE said */
};

/* Write the reason where the caller wants it, and return err. */
int populate_say(struct populate *p, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Are there pages for what is absent? doubt: after a failure, when it has become
 * clear that what the mappings seem to have reserved may not be theirs.
 */
int populate_look(struct populate *p, bool doubt);

/* Does the range end within the files behind it, as far as those can be found? */
int populate_look_files(struct populate *p);

/* Threads for `units` pieces of work each worth a thread. */
unsigned int populate_threads(const struct populate *p, uint64_t units);

/* What o.huge asks for, before and after the filling. */
int populate_huge_before(struct populate *p);
int populate_huge_after(struct populate *p);

#endif
