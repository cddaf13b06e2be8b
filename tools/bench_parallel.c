// SPDX-License-Identifier: GPL-2.0-only
/* bench fault -f populate-parallel: the library's own way to make a mapping resident. */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "bench.h"

int bench_run_on(const unsigned int *cpus, unsigned int count)
{
	unsigned int most = 0, i;
	cpu_set_t *set;
	int err;

	for (i = 0; i < count; i++)
		most = cpus[i] > most ? cpus[i] : most;
	set = CPU_ALLOC(most + 1);
	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(CPU_ALLOC_SIZE(most + 1), set);
	for (i = 0; i < count; i++)
		CPU_SET_S(cpus[i], CPU_ALLOC_SIZE(most + 1), set);
	err = sched_setaffinity(0, CPU_ALLOC_SIZE(most + 1), set) ? -errno : 0;
	CPU_FREE(set);
	return err;
}

int bench_parallel(const struct bench *b, char *base, size_t bytes)
{
	char why[512] = "";
	struct clearpages_populate_opts o = {
		.size = sizeof(o), .threads = b->parallel ? b->parallel : b->threads, .why = why,
		.why_size = sizeof(why),
	};
	/* Its threads inherit the cpus of the one that calls, which is bound to the first. */
	int err = bench_run_on(b->cpus, o.threads);

	if (!err)
		err = clearpages_populate(base, bytes, &o);
	bench_run_on(b->cpus, 1);
	if (err)
		return fail(TOOL_FAILED, "-f populate-parallel: %s", *why ? why : strerror(-err));
	return TOOL_OK;
}
