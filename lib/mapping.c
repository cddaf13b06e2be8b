/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Mappings from /proc/self/smaps: no other file has the size of the pages and
 * whether they are reserved. The kernel walks the page tables of all mappings
 * below the range for it, some ns for each page: little beside filling a range.
 */
#include <dirent.h>
#include <errno.h>
#include <numaif.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "mapping.h"
#include "nodes.h"

/* The most nodes that kernels can be built for. */
#define NODES_MOST 1024

static bool has_flag(const char *flags, const char *flag)
{
	const char *at = strstr(flags, flag);

	/* Each is a blank and two letters. */
	return at && at[-1] == ' ' && (at[2] == ' ' || at[2] == '\n' || !at[2]);
}

/* "7f51cf400000-7f51cf800000 rw-p 00000000 00:11 134721      /anon_hugepage (deleted)" */
static bool head_line(const char *line, struct mapping *m)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	char access[8];

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu", &start, &end, access, &offset, &major,
		   &minor, &inode) != 7)
		return false;
	*m = (struct mapping){
		.start = (uintptr_t)start, .end = (uintptr_t)end, .offset = offset,
		.device = makedev(major, minor), .inode = inode, .writable = access[1] == 'w',
		.page = (uint64_t)sysconf(_SC_PAGESIZE), /* until another line says it */
		.shared = access[3] == 's', .reserves = true,
		.place = { .node = NODES_ANYWHERE }, .file_size = -1, .file_bytes = -1,
	};
	return true;
}

/* "Size:               4096 kB" */
static uint64_t bytes_of(const char *line, const char *name)
{
	const size_t len = strlen(name);
	unsigned long long kib;

	if (strncmp(line, name, len) || sscanf(line + len, ": %llu", &kib) != 1)
		return 0;
	return (uint64_t)kib << 10;
}

static void field_line(const char *line, struct mapping *m)
{
	const uint64_t page = bytes_of(line, "KernelPageSize");

	if (page)
		m->page = page;
	m->huge_bytes += bytes_of(line, "AnonHugePages") + bytes_of(line, "ShmemPmdMapped") +
			 bytes_of(line, "FilePmdMapped");
	m->hugetlb_bytes += bytes_of(line, "Shared_Hugetlb") + bytes_of(line, "Private_Hugetlb");
	if (!strncmp(line, "VmFlags:", 8)) {
		m->hugetlb = has_flag(line + 8, "ht");
		m->reserves = !has_flag(line + 8, "nr");
	}
}

/* One more at the end of the list, which has room for powers of two. */
static struct mapping *append(struct mappings *m, const struct mapping *new)
{
	if (!(m->count & (m->count - 1))) {
		size_t room = m->count ? 2 * m->count : 1;
		struct mapping *list = realloc(m->list, room * sizeof(*list));

		if (!list)
			return NULL;
		m->list = list;
	}
	m->list[m->count] = *new;
	return &m->list[m->count++];
}

int mappings_parse(FILE *smaps, uintptr_t from, uintptr_t to, struct mappings *m)
{
	struct mapping *inside = NULL, one;
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	*m = (struct mappings){ NULL, 0 };
	while (!err && getline(&line, &room, smaps) > 0) {
		if (!head_line(line, &one)) {
			if (inside)
				field_line(line, inside);
			continue;
		}
		inside = NULL;
		if (one.start >= to)
			break;
		if (one.end <= from)
			continue;
		one.from = one.start > from ? one.start : from;
		one.to = one.end < to ? one.end : to;
		inside = append(m, &one);
		if (!inside)
			err = -ENOMEM;
	}
	free(line);
	return err;
}

/* ---- policies --------------------------------------------------------------- */

void placement_of(int mode, const unsigned long *nodes, unsigned int bits, struct placement *p)
{
	unsigned int i, count = 0, first = 0;

	*p = (struct placement){ .node = NODES_ANYWHERE };
	mode &= ~(7 << 13); /* static or relative nodes, balancing */
	for (i = 0; i < bits; i++) {
		if (!(nodes[i / (8 * sizeof(*nodes))] >> i % (8 * sizeof(*nodes)) & 1))
			continue;
		first = count++ ? first : i;
	}
	/* MPOL_LOCAL is 4; MPOL_PREFERRED without a node is how it was called before. */
	p->local = mode == MPOL_DEFAULT || mode == 4 || (mode == MPOL_PREFERRED && !count);
	if ((mode == MPOL_BIND || mode == MPOL_PREFERRED) && count == 1)
		p->node = (int)first;
	p->bound = mode == MPOL_BIND && count == 1;
}

static void find_place(struct mapping *m)
{
	unsigned long nodes[NODES_MOST / (8 * sizeof(unsigned long))] = { 0 };
	int mode = MPOL_DEFAULT;

	/* A mapping without a policy of its own has that of the thread. */
	if (get_mempolicy(&mode, nodes, NODES_MOST, (void *)m->from, MPOL_F_ADDR) ||
	    mode == MPOL_DEFAULT) {
		mode = MPOL_DEFAULT;
		if (get_mempolicy(&mode, nodes, NODES_MOST, NULL, 0))
			mode = MPOL_DEFAULT;
	}
	placement_of(mode, nodes, NODES_MOST, &m->place);
}

/* ---- files ------------------------------------------------------------------ */

static bool is_file_of(const struct mapping *m, const char *path, struct stat *st)
{
	return !stat(path, st) && st->st_ino == m->inode && st->st_dev == m->device;
}

static bool stat_file(const struct mapping *m, struct stat *st)
{
	struct dirent *entry;
	bool found = false;
	char path[320];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (unsigned long)m->start,
		 (unsigned long)m->end);
	if (is_file_of(m, path, st))
		return true;
	/* Not opened: only looked at, by name. What another thread closes meanwhile is not there. */
	dir = opendir("/proc/self/fd");
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		found = is_file_of(m, path, st);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* before: the mapping before it or NULL; many mappings side by side are often of one file. */
static void find_file(struct mapping *m, const struct mapping *before)
{
	struct stat st;

	if (!m->inode)
		return;
	if (before && before->inode == m->inode && before->device == m->device) {
		m->file_size = before->file_size;
		m->file_bytes = before->file_bytes;
	} else if (stat_file(m, &st) && S_ISREG(st.st_mode)) {
		m->file_size = (int64_t)st.st_size;
		m->file_bytes = (int64_t)st.st_blocks * 512;
	}
}

/* ---- all of it -------------------------------------------------------------- */

int mappings_read(uintptr_t from, uintptr_t to, struct mappings *m)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	size_t i;
	int err;

	*m = (struct mappings){ NULL, 0 };
	if (!f)
		return -errno;
	err = mappings_parse(f, from, to, m);
	fclose(f);
	for (i = 0; i < m->count; i++) {
		find_place(&m->list[i]);
		find_file(&m->list[i], i ? &m->list[i - 1] : NULL);
	}
	return err;
}

void mappings_free(struct mappings *m)
{
	free(m->list);
	*m = (struct mappings){ NULL, 0 };
}

const struct mapping *mappings_at(const struct mappings *m, uintptr_t addr)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->list[middle].to <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < m->count && m->list[low].from <= addr ? &m->list[low] : NULL;
}
