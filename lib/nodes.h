/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which NUMA node a part of a range lies on, and which of our cpus are near it. */
#ifndef CLEARPAGES_LIB_NODES_H
#define CLEARPAGES_LIB_NODES_H

#include <stddef.h>

#include "list.h"

/* The cpus that this thread may run on; empty if that can't be known. */
void cpus_ours(struct list *ours);

#define NODES_ANYWHERE (-1)

/*
 * count: nodes, 1 on a machine with one, and then the rest is NULL.
 * home[part]: the node that it lies on; NODES_ANYWHERE if it is not there yet.
 * cpus[node]: those of ours on that node, perhaps none.
 */
struct nodes {
	unsigned int count;
	int *home;
	struct list *cpus;
};

/*
 * Find out for the parts that begin at first[0 .. parts). Whatever fails leaves
 * the answer of a machine with one node: to know less makes the work slower,
 * not wrong. nodes_free() in any case.
 */
void nodes_find(struct nodes *n, char **first, size_t parts);
void nodes_free(struct nodes *n);

/* Is this a machine on which nodes_find() has anything to find? */
bool nodes_many(void);

/* How many of our cpus are on that node. */
unsigned int nodes_cpus(unsigned int node);

/* The node that this thread runs on, as far as can be told; else 0. */
unsigned int nodes_here(const struct nodes *n);

#endif
