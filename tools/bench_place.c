/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a benchmark runs: cpus, nodes, memory. */
#include <errno.h>
#include <numa.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/limits.h"
#include "../lib/machine.h"
#include "bench.h"
#include "memory.h"

static int place_on_nodes(struct bench *b, const char *nodes, struct bitmask **cpus)
{
	struct bitmask *mask;
	unsigned int node;
	int err = opt_nodes(nodes, &mask, &b->node);

	if (err)
		return err;
	*cpus = numa_allocate_cpumask();
	for (node = 0; node < mask->size; node++) {
		struct bitmask *of = numa_allocate_cpumask();
		unsigned int cpu;

		if (numa_bitmask_isbitset(mask, node) && !numa_node_to_cpus((int)node, of))
			for (cpu = 0; cpu < of->size; cpu++)
				if (numa_bitmask_isbitset(of, cpu))
					numa_bitmask_setbit(*cpus, cpu);
		numa_free_cpumask(of);
	}
	numa_bitmask_free(mask);
	return TOOL_OK;
}

static int parse_cpus(const char *text, struct bitmask **cpus)
{
	*cpus = numa_available() < 0 ? NULL : numa_parse_cpustring(text);
	if (*cpus && numa_bitmask_weight(*cpus))
		return TOOL_OK;
	if (*cpus)
		numa_bitmask_free(*cpus);
	*cpus = NULL;
	return fail(TOOL_USAGE, "--cpus: \"%s\" is not a list of cpus that this process may use: "
		    "expected one such as 0-3,8 or all", text);
}

static bool in(const struct bitmask *mask, unsigned int cpu)
{
	return !mask || (cpu < mask->size && numa_bitmask_isbitset(mask, cpu));
}

/* The affinity mask as a list, less what the masks leave out. */
static int list_cpus(struct bench *b, const struct bitmask *a, const struct bitmask *n)
{
	unsigned int most = 1024, cpu;
	cpu_set_t *set = CPU_ALLOC(most);

	while (set && sched_getaffinity(0, CPU_ALLOC_SIZE(most), set) && errno == EINVAL) {
		CPU_FREE(set);
		most *= 2;
		set = CPU_ALLOC(most);
	}
	b->cpus = calloc(most, sizeof(*b->cpus));
	if (!set || !b->cpus) {
		CPU_FREE(set);
		return fail(TOOL_FAILED, "out of memory");
	}
	for (cpu = 0; cpu < most; cpu++)
		if (CPU_ISSET_S(cpu, CPU_ALLOC_SIZE(most), set) && in(a, cpu) && in(n, cpu))
			b->cpus[b->cpu_count++] = cpu;
	CPU_FREE(set);
	return TOOL_OK;
}

int bench_place(struct bench *b, const char *cpus, const char *nodes)
{
	struct bitmask *by_cpu = NULL, *by_node = NULL;
	int err = TOOL_OK;

	b->node = LIMITS_ANY_NODE;
	if (cpus)
		err = parse_cpus(cpus, &by_cpu);
	if (!err && nodes)
		err = place_on_nodes(b, nodes, &by_node);
	if (!err)
		err = list_cpus(b, by_cpu, by_node);
	if (by_cpu)
		numa_bitmask_free(by_cpu);
	if (by_node)
		numa_bitmask_free(by_node);
	if (!err && !b->cpu_count)
		return fail(TOOL_USAGE, "--cpus and --node leave no cpu that this process may use");
	if (!err && b->threads > b->cpu_count)
		return fail(TOOL_USAGE, "-t: %u threads on %u cpus: expected 1 to %u, one for each "
			    "cpu that this process may use", b->threads, b->cpu_count,
			    b->cpu_count);
	return err;
}

int bench_memory(const struct bench *b, uint64_t bytes)
{
	uint64_t total, available;
	char need[32], have[32], why[512];
	int err;

	memory_field("", "MemTotal", &total);
	memory_field("", "MemAvailable", &available);
	size_text(bytes, need, sizeof(need));
	if (total && bytes > total)
		return fail(TOOL_USAGE, "-s: %s are more than the %s of memory in this machine",
			    need, size_text(total, have, sizeof(have)));
	if (b->kind == REGION_HUGETLB) {
		err = reserve_need("", b->page, bytes / b->page, b->node, b->reserve, why,
				   sizeof(why));
		return err ? fail(err, "%s", why) : TOOL_OK;
	}
	if (available && bytes > available)
		return fail(TOOL_FAILED, "-s: needs %s of memory, %s are available", need,
			    size_text(available, have, sizeof(have)));
	return TOOL_OK;
}
