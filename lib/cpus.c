/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many cpus are ours: the affinity mask, and the cpu quota of the cgroups. */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "cgroup.h"
#include "list.h"
#include "machine.h"
#include "nodes.h"
#include "workers.h"

/*
 * One mask for the largest kernel there is, instead of a search for the size
 * that this one takes: it wants no fewer bits than it has cpus, and does not
 * mind more.
 */
void cpus_ours(struct list *ours)
{
	size_t i;

	*ours = (struct list){ 0 };
	if (sched_getaffinity(0, sizeof(ours->bits), (cpu_set_t *)ours->bits))
		return;
	for (i = 0; i < LIST_MOST / LIST_WORD; i++)
		ours->count += (unsigned int)__builtin_popcountl(ours->bits[i]);
}

static unsigned int count_ours(void)
{
	struct list ours;
	long online;

	cpus_ours(&ours);
	if (ours.count)
		return ours.count;
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (unsigned int)online : 1;
}

/* Of another machine we know the cpus that it has, not those of a thread. */
static unsigned int count_online(const char *root)
{
	struct list online = { 0 };
	char line[4096];

	if (machine_line(root, "/sys/devices/system/cpu/online", line, sizeof(line)) > 0)
		list_add(&online, line);
	return online.count ? online.count : 1;
}

struct quota {
	const char *root;
	unsigned int cpus;	/* the fewest so far */
};

/*
 * Rounded up: threads for a quota of 1.5 cpus are two that are stopped for a
 * quarter of the time, not one that leaves a third of the quota unused.
 */
static void lower(struct quota *q, uint64_t quota, uint64_t period)
{
	uint64_t cpus;

	if (!quota || !period || quota == UINT64_MAX)
		return;
	cpus = quota / period + !!(quota % period);
	if (cpus < q->cpus)
		q->cpus = (unsigned int)cpus;
}

static int look_at(void *arg, const char *dir, int version)
{
	struct quota *q = arg;
	char path[PATH_MAX + 32], line[64];
	unsigned long long quota, period;
	uint64_t v1_quota, v1_period;

	if (version == 2) {
		snprintf(path, sizeof(path), "%s/cpu.max", dir);
		/* "max 100000" is not two numbers, and no limit. */
		if (machine_line(q->root, path, line, sizeof(line)) > 0 &&
		    sscanf(line, "%19llu %19llu", &quota, &period) == 2)
			lower(q, quota, period);
		return 0;
	}
	/* "-1" is not a number for machine_number(), and no limit. */
	snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", dir);
	if (machine_number(q->root, path, &v1_quota))
		return 0;
	snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", dir);
	if (!machine_number(q->root, path, &v1_period))
		lower(q, v1_quota, v1_period);
	return 0;
}

unsigned int workers_cpus(const char *root)
{
	struct quota q = { root, *root ? count_online(root) : count_ours() };

	cgroup_walk(root, "cpu", look_at, &q);
	return q.cpus;
}
