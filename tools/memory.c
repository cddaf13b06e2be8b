// SPDX-License-Identifier: GPL-2.0-only
/* Memory that is to be had: see memory.h. */
#include "memory.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../lib/cgroup.h"
#include "../lib/machine.h"
#include "tool.h"

bool memory_field(const char *root, const char *field, uint64_t *bytes)
{
	const size_t length = strlen(field);
	char text[PATH_MAX];
	unsigned long long kib;
	bool found = false;
	FILE *f = NULL;

	*bytes = 0;
	if (snprintf(text, sizeof(text), "%s/proc/meminfo", root) < (int)sizeof(text))
		f = fopen(text, "re");
	while (f && !found && fgets(text, sizeof(text), f))
		found = !strncmp(text, field, length) &&
			sscanf(text + length, ": %19llu", &kib) == 1 && kib < 1ULL << 53;
	if (found)
		*bytes = (uint64_t)kib << 10;
	if (f)
		fclose(f);
	return found;
}

struct need {
	const char *root;
	uint64_t bytes, swap;
	char *why;
	size_t why_size;
};

/* No file: a kernel without it, the root of a hierarchy, or not ours to read. */
static int check_dir(void *arg, const char *dir, int version)
{
	const struct need *n = arg;
	char path[PATH_MAX + 64], needed[24], most[24], more[24];
	uint64_t limit, swap = n->swap, swap_limit;

	snprintf(path, sizeof(path), "%s/memory.swap.max", dir);
	if (version == 2 && !machine_number(n->root, path, &swap_limit) && swap_limit < swap)
		swap = swap_limit;
	snprintf(path, sizeof(path), "%s/memory.%s", dir, version == 2 ? "max" : "limit_in_bytes");
	if (machine_number(n->root, path, &limit) || n->bytes <= limit || n->bytes - limit <= swap)
		return TOOL_OK;
	snprintf(n->why, n->why_size, "%s: %s of memory needed, the limit is %s, with %s of swap: "
		 "raise it, or make the file smaller", path,
		 size_text(n->bytes, needed, sizeof(needed)), size_text(limit, most, sizeof(most)),
		 size_text(swap, more, sizeof(more)));
	return TOOL_FAILED;
}

int memory_check(const char *root, uint64_t bytes, char *why, size_t why_size)
{
	struct need n = { .root = root, .bytes = bytes, .why = why, .why_size = why_size };
	char needed[24], all[24], some[24], more[24];
	uint64_t available;

	memory_field(root, "SwapFree", &n.swap);
	if (memory_field(root, "MemAvailable", &available) && bytes > available + n.swap) {
		snprintf(why, why_size, "%s of memory needed, %s to be had (%s available, %s of "
			 "swap free): free some, or make the file smaller",
			 size_text(bytes, needed, sizeof(needed)),
			 size_text(available + n.swap, all, sizeof(all)),
			 size_text(available, some, sizeof(some)),
			 size_text(n.swap, more, sizeof(more)));
		return TOOL_FAILED;
	}
	return cgroup_walk(root, "memory", check_dir, &n);
}
