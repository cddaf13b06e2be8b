/* SPDX-License-Identifier: GPL-2.0-only */
/* For the tests of clearpages_populate(): mappings, patterns, what is resident. */
#ifndef TEST_POPULATE_H
#define TEST_POPULATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "../../lib/populate.h"
#include "test_lib.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define SMALL ((size_t)4096)
#define M ((size_t)1 << 20)

/* A mapping of small pages, nothing of it resident, at a multiple of 2 MiB. */
__attribute__((unused))
static char *map_small(size_t len, int flags, int fd)
{
	char *p = mmap(NULL, len + 2 * M, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *base;

	if (p == MAP_FAILED)
		die("mmap", "a reservation");
	base = (char *)(((uintptr_t)p + 2 * M - 1) & ~(uintptr_t)(2 * M - 1));
	if (mmap(base, len, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0) == MAP_FAILED)
		die("mmap", "memory");
	if (base > p)
		munmap(p, (size_t)(base - p));
	munmap(base + len, (size_t)(p + 2 * M - base));
	madvise(base, len, MADV_NOHUGEPAGE);
	return base;
}

/* Pages of [p, p + len) that this process has mapped or that its file has. */
__attribute__((unused))
static size_t resident(const char *p, size_t len)
{
	size_t count = 0, i, pages = len / SMALL;
	unsigned char *there = malloc(pages + 1);

	if (!there || mincore((void *)(uintptr_t)p, len, there))
		die("mincore", "memory");
	for (i = 0; i < pages; i++)
		count += there[i] & 1;
	free(there);
	return count;
}

/* Some pages written to: word i of page i has a value that depends on i. */
__attribute__((unused))
static void pattern(char *p, size_t len, size_t every)
{
	size_t i;

	for (i = 0; i < len / SMALL; i += every)
		((uint64_t *)(void *)(p + i * SMALL))[i % 512] = i * 0x9e3779b97f4a7c15u + 1;
}

/* The first page that is not as pattern() left it, or their number. */
__attribute__((unused))
static size_t pattern_lost(const char *p, size_t len, size_t every)
{
	static const uint64_t zero[512];
	size_t i;

	for (i = 0; i < len / SMALL; i++) {
		uint64_t page[512];

		memcpy(page, p + i * SMALL, SMALL);
		if (i % every == 0) {
			if (page[i % 512] != i * 0x9e3779b97f4a7c15u + 1)
				return i;
			page[i % 512] = 0;
		}
		if (memcmp(page, zero, SMALL))
			return i;
	}
	return i;
}

#endif
