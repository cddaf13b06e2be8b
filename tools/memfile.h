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
	uint64_t resident;	/* bytes that it has pages for; of DAX all */
	char *base;		/* where it is mapped, or NULL */
	size_t mapped;		/* its size in whole pages */
};

/*
 * Open a file for reading and writing, if it is memory. clear: it is to be
 * overwritten, which files on DAX file systems survive no better than others.
 * Returns TOOL_OK, or TOOL_FAILED with the reason in why, not printed.
 */
int memfile_open(const char *path, bool clear, struct memfile *f, char *why, size_t why_size);

/* Map all of it; the same. */
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
