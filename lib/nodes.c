/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Of libnuma only what wraps a system call or a number it has at hand is used:
 * its functions on masks print to stderr when /sys is odd, end the program when
 * memory is short, and fill a cache without a lock.
 */
#include <numa.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "machine.h"
#include "nodes.h"

bool nodes_many(void)
{
	return numa_available() >= 0 && numa_max_node() > 0;
}

static void near(unsigned int node, const struct list *ours, struct list *cpus)
{
	char path[64], line[4096];
	struct list all = { 0 };
	size_t i;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", node);
	if (machine_line("", path, line, sizeof(line)) > 0)
		list_add(&all, line);
	for (i = 0; i < LIST_MOST / LIST_WORD; i++) {
		cpus->bits[i] = all.bits[i] & ours->bits[i];
		cpus->count += (unsigned int)__builtin_popcountl(cpus->bits[i]);
	}
}

unsigned int nodes_cpus(unsigned int node)
{
	struct list ours, cpus = { 0 };

	cpus_ours(&ours);
	near(node, &ours, &cpus);
	return cpus.count;
}

/* Ask where the pages are; nothing is moved, and nothing faulted in. */
static bool find_homes(struct nodes *n, char **first, size_t parts)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void **pages = calloc(parts, sizeof(*pages));
	size_t i;
	int err;

	if (!pages)
		return false;
	for (i = 0; i < parts; i++)
		pages[i] = (void *)((uintptr_t)first[i] & ~(page - 1));
	err = numa_move_pages(0, parts, pages, NULL, n->home, 0);
	free(pages);
	/* Those that are not there have -ENOENT or the like for a node. */
	for (i = 0; i < parts; i++)
		if (err || n->home[i] < 0 || (unsigned int)n->home[i] >= n->count)
			n->home[i] = NODES_ANYWHERE;
	return !err;
}

void nodes_find(struct nodes *n, char **first, size_t parts)
{
	struct list ours;
	unsigned int i;

	*n = (struct nodes){ .count = 1 };
	if (!nodes_many())
		return;
	n->count = (unsigned int)numa_max_node() + 1;
	n->home = calloc(parts, sizeof(*n->home));
	n->cpus = calloc(n->count, sizeof(*n->cpus));
	if (!n->home || !n->cpus || !find_homes(n, first, parts)) {
		nodes_free(n);
		return;
	}
	cpus_ours(&ours);
	for (i = 0; i < n->count; i++)
		near(i, &ours, &n->cpus[i]);
}

void nodes_free(struct nodes *n)
{
	free(n->home);
	free(n->cpus);
	*n = (struct nodes){ .count = 1 };
}

unsigned int nodes_here(const struct nodes *n)
{
	int cpu = sched_getcpu();
	unsigned int i;

	for (i = 0; n->cpus && cpu >= 0 && i < n->count; i++)
		if (list_has(&n->cpus[i], (unsigned int)cpu))
			return i;
	return 0;
}
