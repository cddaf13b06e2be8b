// SPDX-License-Identifier: GPL-2.0-only
/* --node: memory of some nodes only. */
#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <string.h>

#include "tool.h"

/* libnuma prints warnings of its own; the error lines here say it better. */
void numa_warn(int number, char *where, ...)
{
	(void)number;
	(void)where;
}

/* Not numa_set_membind(), which does not say whether it did. */
static int bind(const struct bitmask *nodes, const char *text)
{
	if (!set_mempolicy(MPOL_BIND, nodes->maskp, nodes->size + 1))
		return TOOL_OK;
	return fail(TOOL_FAILED, "--node: this process may not have memory of \"%.48s\": %s; see "
		    "Mems_allowed_list in /proc/self/status", text, strerror(errno));
}

int opt_nodes(const char *text, struct bitmask **nodes, int *only)
{
	unsigned int node, count;
	int err;

	*nodes = numa_available() < 0 ? NULL : numa_parse_nodestring(text);
	count = *nodes ? numa_bitmask_weight(*nodes) : 0;
	if (*nodes && !count) {
		numa_bitmask_free(*nodes);
		*nodes = NULL;
	}
	if (!count)
		return fail(TOOL_USAGE, "--node: \"%.48s\" is not a node of this machine: expected a "
			    "list such as 0-1 or all (see 'numactl --hardware')", text);
	for (node = 0; count == 1 && node < (*nodes)->size; node++)
		if (numa_bitmask_isbitset(*nodes, node))
			*only = (int)node;
	err = bind(*nodes, text);
	if (err) {
		numa_bitmask_free(*nodes);
		*nodes = NULL;
	}
	return err;
}
