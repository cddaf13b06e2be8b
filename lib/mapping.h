/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What lies behind a range of addresses of this process: its mappings, their pages, their nodes. */
#ifndef CLEARPAGES_LIB_MAPPING_H
#define CLEARPAGES_LIB_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Where new pages of a mapping come from, by its memory policy or else the thread's. */
struct placement {
	int node;	/* NODES_ANYWHERE if no single one */
	bool bound;	/* from that node and from no other */
	bool local;	/* from the node of the thread that touches them */
};

struct mapping {
	uintptr_t from, to;	/* as far as it lies in the range that was asked for */
	uintptr_t start, end;	/* all of it */
	uint64_t page;		/* the size of its pages: a transparent huge page counts as many */
	uint64_t offset;	/* of start in the file */
	uint64_t device, inode;	/* as stat() has them; inode 0: private and anonymous */
	uint64_t huge_bytes;	/* of all of it, in transparent huge pages */
	uint64_t hugetlb_bytes;	/* of all of it, in pages of hugetlb */
	bool writable, shared, hugetlb;
	bool reserves;		/* hugetlb: its pages are promised to it */
	struct placement place;
	/*
	 * The file behind it, if there is a way to it: by /proc/self/map_files,
	 * which needs privilege, or by a descriptor that is still open; else -1.
	 */
	int64_t file_size;
	int64_t file_bytes;	/* that it has pages or blocks for */
};

struct mappings {
	struct mapping *list;	/* upwards; there may be holes between them */
	size_t count;
};

/*
 * The mappings of this process that overlap [from, to). They may change as soon
 * as this returns. -ENOMEM, or the error of opening /proc/self/smaps.
 * mappings_free() in any case.
 */
int mappings_read(uintptr_t from, uintptr_t to, struct mappings *m);

/* The same from any text of that format, without place and file. */
int mappings_parse(FILE *smaps, uintptr_t from, uintptr_t to, struct mappings *m);
void mappings_free(struct mappings *m);

/* The mapping that addr lies in, or NULL. */
const struct mapping *mappings_at(const struct mappings *m, uintptr_t addr);

/* What get_mempolicy() said of an address: mode, and the first `bits` bits of nodes. */
void placement_of(int mode, const unsigned long *nodes, unsigned int bits, struct placement *p);

/*
 * How many bytes of the mapping, as far as it lies in the range, this process
 * has mapped pages for: for hugetlb only. Pages of its file that it has not
 * touched yet are not among them.
 */
uint64_t mapping_resident(const struct mapping *m);

/*
 * Bytes of [from, to) that are mapped in huge pages, of hugetlb or transparent
 * ones that fill a page-middle-directory entry. Before Linux 6.7 the mappings
 * at both ends are counted as a whole, as far as the range is long enough.
 */
uint64_t mapping_huge(uintptr_t from, uintptr_t to);

#endif
