/* SPDX-License-Identifier: GPL-2.0-only */
/* What `clearpages status` has to say, read once and printed in two ways. */
#ifndef CLEARPAGES_STATUS_H
#define CLEARPAGES_STATUS_H

#include <jansson.h>

#include "host.h"
#include "module.h"

#define STATUS_HELPS 6

struct status {
	const char *root;
	struct host host;
	unsigned int version;		/* of the kernel, 0x0601 for 6.1; 0: not known */
	char built[320];		/* /proc/version: the vendor's version, behind its name */
	struct module_state module;
	struct module_holders holders;	/* only in a transition */
	char blocked[160];		/* why no module can be loaded; "" */
	char no_stats[160];		/* why stats and state are empty; "" */
	char stats[32768], state[4096];	/* the files of debugfs: lines "name value" */

	/* what to make of it: status_advice.c */
	const char *function;		/* that zeroes, NULL if not known */
	const char *by_itself;		/* how this kernel does it */
	const char *thp;		/* who zeroes transparent huge pages */
	struct status_help {
		const char *what, *text;
	} help[STATUS_HELPS];
	unsigned int helps;
};

void status_read(const char *root, struct status *s);
void status_advise(struct status *s);

/* Does the module leave out what the allocator has zeroed without being told? By /proc/version. */
bool status_callers_read(const char *version);

/* Each is an exit code. */
int status_print(const struct status *s);
int status_json(const struct status *s);

/* ---- lines "name value" --------------------------------------------------------- */

/* The value of that name; "" and false if there is none. */
bool status_field(const char *text, const char *name, char *value, size_t size);

/* The same as a count, 0 if it is none. */
uint64_t status_count(const char *text, const char *name);

/*
 * The next line whose name is prefix + something + suffix: that something, and
 * the value. *at begins as the text; false at its end.
 */
bool status_next(const char **at, const char *prefix, const char *suffix, char *middle,
		 size_t size, uint64_t *value);

/* The next line of the histogram: pages of a size that took from_us to twice that. */
struct status_time {
	char size[32], from_us[32];
	uint64_t pages;
};
bool status_next_time(const char **at, struct status_time *t);

/* ---- pools ------------------------------------------------------------------------ */

/* For each page size: all nodes together (LIMITS_ANY_NODE), then each node. */
struct limits_pool;
typedef void status_pool_fn(void *arg, uint64_t page_bytes, int node,
			    const struct limits_pool *pool);
void status_pools(const struct status *s, status_pool_fn *fn, void *arg);

#endif
