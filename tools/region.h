/* SPDX-License-Identifier: GPL-2.0-only */
/* A mapping of pages of one size, as a benchmark needs it. */
#ifndef CLEARPAGES_REGION_H
#define CLEARPAGES_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; not in every <sys/mman.h> */
#endif

enum region_kind {
	REGION_SMALL,	/* 4 KiB pages and nothing larger */
	REGION_THP,	/* transparent huge pages of one size */
	REGION_HUGETLB,
};

struct region {
	char *base;
	size_t bytes;
	size_t page;
	enum region_kind kind;
};

/*
 * base of `bytes` whole pages, private and anonymous, aligned to the page,
 * nothing of it resident; with populate all of it (MAP_POPULATE). Prints its
 * error line and returns an exit code. r->base is NULL after a failure.
 */
int region_map(struct region *r, size_t bytes, size_t page, enum region_kind kind, bool populate);

/* Has this kernel MADV_POPULATE_WRITE (Linux 5.14)? */
bool region_can_populate(void);

/* Give it back; nothing for a region that is not mapped. */
void region_unmap(struct region *r);

/*
 * Did the kernel really use pages of that size? Bytes of the region that it
 * did; for THP of the PMD size and hugetlb by /proc/self/smaps. Smaller THP
 * are counted by the kernel for all processes together: see
 * region_mthp_count().
 */
uint64_t region_huge_bytes(const struct region *r);

/* Were all bytes in huge pages? Prints its error line and returns an exit code. */
int region_enough_huge(uint64_t huge, uint64_t bytes);

/*
 * Is all of it in pages of the size that it is to have? Prints its error line
 * and returns an exit code. Transparent pages below the PMD size cannot be told
 * in this way, and hugetlb pages have no other size: success for both.
 */
int region_check_pages(const struct region *r);

/* Faults that THP of that size have answered so far on this machine. */
uint64_t region_mthp_count(size_t page);

/* The size of a THP that fills a page-middle-directory entry. */
size_t region_pmd_bytes(void);

/*
 * Will the kernel give THP of that size to a mapping that asks by madvise()?
 * Prints what to type if not and returns an exit code. populate: to one that
 * asks by MAP_POPULATE, before any madvise().
 */
int region_thp_check(size_t page, bool populate);

/* Non-zero bytes everywhere: memory takes zeros over zeros at another speed. */
void region_dirty(char *base, size_t bytes);

/* The first byte that is not zero, or bytes. Both multiples of 64. */
size_t region_nonzero(const char *base, size_t bytes);

#endif
