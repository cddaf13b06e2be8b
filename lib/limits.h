/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * May this process have so many huge pages of hugetlb? The pools, per size and
 * node, and the hugetlb limits of its cgroups, version 1 and 2, up the tree.
 * A look, not a promise: others may take the pages in between.
 */
#ifndef CLEARPAGES_LIB_LIMITS_H
#define CLEARPAGES_LIB_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#define LIMITS_ANY_NODE (-1)

struct limits_pool {
	uint64_t total;
	uint64_t free;
	uint64_t reserved;	/* promised to mappings, not faulted in yet */
	uint64_t surplus;	/* total beyond nr_hugepages */
	uint64_t overcommit;	/* how many surplus ones there may be */
};

/*
 * The pool of that page size, of a node or of all. The kernel counts reserved
 * and overcommit for all nodes only: for one node they read 0. -ENOENT: this
 * kernel has no such pages, or there is no such node.
 */
int limits_pool(const char *root, uint64_t page_bytes, int node, struct limits_pool *pool);

/* Pages that a new mapping could have: free, less reserved, plus overcommit left over. */
uint64_t limits_available(const struct limits_pool *pool);

/*
 * Is there room for `pages` more of that size, for a mapping that has not
 * reserved them yet? 0, -ENOENT (no such page size or node) or -ENOMEM; then
 * why says in one line what is in the way, by its path below root, with what
 * was needed and what is free: the pool of all nodes, that of the node, or the
 * limit of a cgroup, the nearest first. why is "" if nothing is.
 */
int limits_check(const char *root, uint64_t page_bytes, uint64_t pages, int node, char *why,
		 size_t why_size);

/* The cgroup limits alone (before pages are reserved for a run, say): 0 or -ENOMEM. */
int limits_check_cgroup(const char *root, uint64_t page_bytes, uint64_t pages, char *why,
			size_t why_size);

/*
 * Pages that are about to be faulted into a mapping that exists, by who holds
 * a promise of them. A mapping made without MAP_NORESERVE has reserved its pages
 * and been charged for that (rsvd) when it was made; the other charge comes now.
 */
struct limits_fault {
	uint64_t page_bytes;
	int node;		/* the only one they may come from, or LIMITS_ANY_NODE */
	uint64_t reserved;	/* promised to the mapping */
	uint64_t perhaps;	/* perhaps promised to its file, by another mapping */
	uint64_t unreserved;	/* not promised */
};

/*
 * Is there room for them? As limits_check(), but only what is certainly in the way
 * is an error.
 */
int limits_check_fault(const char *root, const struct limits_fault *f, char *why,
		       size_t why_size);

#endif
