/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that are memory: of hugetlbfs, tmpfs, memfds and DAX. All others are
 * refused: what is on a disk is somebody's data, and its pages are but a cache.
 */
#ifndef CLEARPAGES_MEMFILE_H
#define CLEARPAGES_MEMFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum memfile_kind { MEMFILE_HUGETLB, MEMFILE_TMPFS, MEMFILE_MEMFD, MEMFILE_DEVDAX, MEMFILE_FSDAX };

extern const char *const memfile_kinds[];

struct memfile {
	const char *path;
	int fd;			/* -1: closed */
	enum memfile_kind kind;
	uint64_t bytes;		/* its size */
	uint64_t page;		/* of its pages */
	uint64_t resident;	/* see memfile_count() */
	uint64_t allocated;	/* the same */
	char *base;		/* where it is mapped, or NULL */
	size_t mapped;		/* its size in whole pages */
};

/*
 * Open a file for reading and writing, if it is memory. clear: it is to be
 * overwritten, which files on DAX file systems survive no better than others.
 * Returns TOOL_OK, or TOOL_FAILED with the reason in why, not printed.
 */
int memfile_open(const char *path, bool clear, struct memfile *f, char *why, size_t why_size);

/*
 * What it has now, in bytes of whole pages; memfile_open() has done it once.
 * allocated: of all its pages, also those beyond its end and those that fallocate()
 * has put there and nobody has touched. resident: of pages within its end that a
 * fault finds ready. Of DAX both are all of it. Of hugetlb the kernel says how many
 * pages there are and not where (its SEEK_DATA finds no hole, mincore() sees but this
 * process's mapping): resident is then allocated, as far as the file goes.
 */
void memfile_count(struct memfile *f);

/* Map all of it; the same as memfile_open(). */
int memfile_map(struct memfile *f, char *why, size_t why_size);

/* For any that memfile_open() has seen. */
void memfile_close(struct memfile *f);

/*
 * While a file is mapped its pages can vanish: somebody truncates it, or a page
 * has a memory error. From memfile_guard() to memfile_unguard() such pages are
 * replaced by empty ones, so that all threads go on, instead of a SIGBUS that
 * ends the program. memfile_lost(): has that happened since memfile_guard()?
 */
void memfile_guard(const struct memfile *f);
bool memfile_lost(void);
void memfile_unguard(void);

#endif
