/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The look before the filling: may these mappings have the pages that they
 * lack? It must not refuse what would succeed, so that everything it cannot
 * know counts in favour; what it let pass wrongly the filling reports.
 */
#include <errno.h>
#include <stdio.h>

#include "limits.h"
#include "nodes.h"
#include "populate.h"

/* Pages of one size that may come from one node only, or from all. */
#define GROUPS 16

struct groups {
	struct limits_fault list[GROUPS];
	unsigned int count;
};

static struct limits_fault *group_of(struct groups *g, const struct mapping *m)
{
	int node = m->place.bound ? m->place.node : LIMITS_ANY_NODE;
	unsigned int i;

	for (i = 0; i < g->count; i++)
		if (g->list[i].page_bytes == m->page && g->list[i].node == node)
			return &g->list[i];
	if (g->count == GROUPS)
		return NULL;
	g->list[g->count] = (struct limits_fault){ .page_bytes = m->page, .node = node };
	return &g->list[g->count++];
}

/*
 * Pages that the file has, perhaps in this range: they need nothing, though this
 * process has not mapped them. Without a way to the file: perhaps all.
 */
static uint64_t perhaps_in_file(const struct mapping *m, uint64_t here)
{
	if (m->file_bytes < 0)
		return UINT64_MAX;
	return (uint64_t)m->file_bytes > here ? (uint64_t)m->file_bytes - here : 0;
}

static void count(struct groups *g, const struct mapping *m, bool doubt)
{
	struct limits_fault *need = group_of(g, m);
	uint64_t here = mapping_resident(m), absent = m->to - m->from - here, in_file = 0;

	if (!need)
		return;
	if (m->shared)
		in_file = perhaps_in_file(m, here);
	if (doubt && in_file == UINT64_MAX)
		in_file = 0;
	absent -= absent < in_file ? absent : in_file;
	absent /= m->page;
	/* A reservation is the maker's of a private mapping, not that of a child of fork(). */
	if (m->reserves && !doubt)
		need->reserved += absent;
	else if (m->shared && !doubt)
		need->perhaps += absent;
	else
		need->unreserved += absent;
}

int populate_look(struct populate *p, bool doubt)
{
	struct groups g = { .count = 0 };
	unsigned int i;
	int err = 0;

	for (i = 0; i < p->maps.count; i++)
		if (p->maps.list[i].hugetlb)
			count(&g, &p->maps.list[i], doubt);
	for (i = 0; i < g.count && !err; i++)
		err = limits_check_fault(p->sys->root, &g.list[i],
					 p->o.why, p->o.why_size);
	/* The mapping has such pages: what is missing is only their place in /sys. */
	if (err == -ENOENT)
		err = populate_say(p, 0, "%s", "");
	return err;
}

int populate_look_files(struct populate *p)
{
	size_t i;

	for (i = 0; i < p->maps.count; i++) {
		const struct mapping *m = &p->maps.list[i];
		uint64_t to = m->offset + (m->to - m->start), size;

		if (m->file_size < 0)
			continue;
		size = ((uint64_t)m->file_size + m->page - 1) / m->page * m->page;
		if (to > size)
			return populate_say(p, -EFAULT, "the range ends at byte %llu of its file, which "
					    "has %llu", (unsigned long long)to,
					    (unsigned long long)m->file_size);
	}
	return 0;
}
