/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Huge pages for the time of a run, given back whatever happens.
 *
 * A child process (the keeper) enlarges the pools and shrinks them again by as
 * much when its socket closes: on reserve_release(), and when this process
 * dies, be it by SIGKILL. SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGBUS and SIGSEGV
 * wait for it before they end the program.
 */
#ifndef CLEARPAGES_RESERVE_H
#define CLEARPAGES_RESERVE_H

#include <stdint.h>

enum reserve_mode {
	RESERVE_AS_ROOT,	/* where root runs the command, with a note */
	RESERVE_ASKED,		/* --reserve */
	RESERVE_NEVER,		/* --no-reserve */
};

/*
 * Make sure that `pages` huge pages can be mapped: look at pools and cgroup
 * limits, and enlarge the pool if that is what is missing and mode allows it.
 * root: "", or a dump; the same in all calls until reserve_release(). node:
 * LIMITS_ANY_NODE or a node. TOOL_OK, or an exit code with why (one line, of
 * what is missing and what to type) written, not printed. To be called before
 * there are threads.
 */
int reserve_need(const char *root, uint64_t page_bytes, uint64_t pages, int node,
		 enum reserve_mode mode, char *why, unsigned int why_size);

/* Give back all that was reserved, and wait until it is done. */
void reserve_release(void);

#endif
