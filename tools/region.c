/* SPDX-License-Identifier: GPL-2.0-only */
#include "region.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "../lib/machine.h"
#include "tool.h"

#define THP "/sys/kernel/mm/transparent_hugepage/"

#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

size_t region_pmd_bytes(void)
{
	uint64_t bytes;

	return machine_number("", THP "hpage_pmd_size", &bytes) ? (size_t)2 << 20 : (size_t)bytes;
}

static char *map(size_t bytes, int flags)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1,
		       0);

	return p == MAP_FAILED ? NULL : p;
}

/* More than is needed, and the ends cut off: mmap() aligns to 4 KiB only. */
static char *map_aligned(size_t bytes, size_t page)
{
	char *p = map(bytes + page, 0), *base;

	if (!p)
		return NULL;
	base = (char *)(((uintptr_t)p + page - 1) & ~(uintptr_t)(page - 1));
	if (base > p)
		munmap(p, (size_t)(base - p));
	munmap(base + bytes, (size_t)(p + page - base));
	return base;
}

/*
 * The kernel takes the largest THP that is enabled and fits into the mapping
 * (the VMA). To get a smaller one every second page gets a flag of no
 * consequence, which makes each page a mapping of its own.
 */
static int ask_for_thp(struct region *r)
{
	size_t at;

	if (madvise(r->base, r->bytes, MADV_HUGEPAGE))
		return -errno;
	if (r->page >= region_pmd_bytes())
		return 0;
	for (at = 0; at < r->bytes; at += 2 * r->page)
		if (madvise(r->base + at, r->page, MADV_DONTDUMP))
			return -errno;
	return 0;
}

static int advise(struct region *r)
{
	if (r->kind == REGION_THP)
		return ask_for_thp(r);
	if (r->kind == REGION_SMALL && madvise(r->base, r->bytes, MADV_NOHUGEPAGE) &&
	    errno != EINVAL) /* EINVAL: a kernel without THP */
		return -errno;
	return 0;
}

int region_map(struct region *r, size_t bytes, size_t page, enum region_kind kind, bool populate)
{
	int flags = populate ? MAP_POPULATE : 0, err = 0;
	char text[32], each[32];

	*r = (struct region){ .bytes = bytes, .page = page, .kind = kind };
	/* What mmap() itself fills cannot say MADV_NOHUGEPAGE first: the process says it. */
	if (kind == REGION_SMALL && populate)
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (kind == REGION_HUGETLB) {
		flags |= MAP_HUGETLB | __builtin_ctzll(page) << MAP_HUGE_SHIFT;
		r->base = map(bytes, flags);
	} else {
		r->base = populate ? map(bytes, flags) : map_aligned(bytes, page);
	}
	if (!r->base)
		err = -errno;
	else if (!populate)
		err = advise(r);
	if (!err)
		return TOOL_OK;
	region_unmap(r);
	return fail(TOOL_FAILED, "cannot map %s in pages of %s: %s%s",
		    size_text(bytes, text, sizeof(text)), size_text(page, each, sizeof(each)),
		    strerror(-err),
		    kind == REGION_THP && err == -ENOMEM && page < region_pmd_bytes() ?
			    " (one mapping a page: see /proc/sys/vm/max_map_count, or use a smaller -s)" :
			    "");
}

bool region_can_populate(void)
{
	char *page = map(4096, 0);
	bool can = page && !madvise(page, 4096, MADV_POPULATE_WRITE);

	if (page)
		munmap(page, 4096);
	return can;
}

void region_unmap(struct region *r)
{
	if (r->base)
		munmap(r->base, r->bytes);
	r->base = NULL;
}

/* Sums one field over the mappings of /proc/self/smaps that lie in the region. */
static uint64_t smaps_bytes(const struct region *r, const char *field)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	uintptr_t lo = (uintptr_t)r->base, hi = lo + r->bytes;
	size_t len = strlen(field);
	uint64_t sum = 0;
	bool inside = false;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		unsigned long from, to;
		unsigned long long kib;

		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			inside = from < hi && to > lo;
		else if (inside && !strncmp(line, field, len) &&
			 sscanf(line + len, "%llu", &kib) == 1)
			sum += kib << 10;
	}
	if (f)
		fclose(f);
	return sum < r->bytes ? sum : r->bytes;
}

uint64_t region_huge_bytes(const struct region *r)
{
	return smaps_bytes(r, r->kind == REGION_HUGETLB ? "Private_Hugetlb:" : "AnonHugePages:");
}

int region_enough_huge(uint64_t huge, uint64_t bytes)
{
	if (huge >= bytes)
		return TOOL_OK;
	return fail(TOOL_FAILED, "the kernel used huge pages for %llu MiB of %llu only: memory is in "
		    "pieces; try 'echo 1 > /proc/sys/vm/compact_memory' as root, or a smaller -s",
		    (unsigned long long)huge >> 20, (unsigned long long)bytes >> 20);
}

int region_check_pages(const struct region *r)
{
	uint64_t huge;

	if (r->kind == REGION_HUGETLB || (r->kind == REGION_THP && r->page != region_pmd_bytes()))
		return TOOL_OK;
	huge = region_huge_bytes(r);
	if (r->kind == REGION_THP)
		return region_enough_huge(huge, r->bytes);
	if (!huge)
		return TOOL_OK;
	return fail(TOOL_FAILED, "the kernel used huge pages for %llu MiB that were to be small "
		    "ones: as root, echo madvise > " THP "enabled", (unsigned long long)huge >> 20);
}

uint64_t region_mthp_count(size_t page)
{
	uint64_t count = 0;
	char path[160];

	snprintf(path, sizeof(path), THP "hugepages-%zukB/stats/anon_fault_alloc", page >> 10);
	machine_number("", path, &count);
	return count;
}

/* The word in brackets: "always [madvise] never". */
static void chosen(const char *path, char *word, size_t size)
{
	char line[160], *from, *to;

	word[0] = '\0';
	if (machine_line("", path, line, sizeof(line)) < 0)
		return;
	from = strchr(line, '[');
	to = from ? strchr(from, ']') : NULL;
	if (to)
		snprintf(word, size, "%.*s", (int)(to - from - 1), from + 1);
}

/* What smaller ones need besides: to exist, to be asked for, to be counted. */
static int mthp_check(size_t page, bool populate)
{
	char path[160], line[64], each[32];

	size_text(page, each, sizeof(each));
	snprintf(path, sizeof(path), THP "hugepages-%zukB/enabled", page >> 10);
	if (machine_line("", path, line, sizeof(line)) < 0)
		return fail(TOOL_UNSUPPORTED, "this kernel has no transparent huge pages of %s: "
			    "see 'clearpages list machine' for those it has", each);
	if (populate)
		return fail(TOOL_UNSUPPORTED, "populate: MAP_POPULATE takes the largest huge pages "
			    "that are enabled, not those of %s: use -f madvise", each);
	snprintf(path, sizeof(path), THP "hugepages-%zukB/stats/anon_fault_alloc", page >> 10);
	if (machine_line("", path, line, sizeof(line)) < 0)
		return fail(TOOL_UNSUPPORTED, "this kernel does not count its huge pages of %s, so "
			    "that nobody could tell whether they were used: Linux 6.10 does", each);
	return TOOL_OK;
}

int region_thp_check(size_t page, bool populate)
{
	char path[160], word[32], each[32];

	size_text(page, each, sizeof(each));
	if (page != region_pmd_bytes()) {
		int err = mthp_check(page, populate);

		if (err)
			return err;
	}
	snprintf(path, sizeof(path), THP "hugepages-%zukB/enabled", page >> 10);
	chosen(path, word, sizeof(word));
	if (!word[0] || !strcmp(word, "inherit")) {
		snprintf(path, sizeof(path), THP "enabled");
		chosen(path, word, sizeof(word));
	}
	if (!strcmp(word, "always") || (!strcmp(word, "madvise") && !populate))
		return TOOL_OK;
	if (!strcmp(word, "madvise"))
		return fail(TOOL_UNSUPPORTED, "populate: MAP_POPULATE fills a mapping before it can "
			    "ask for huge pages, and %s is \"madvise\": use -f madvise", path);
	return fail(TOOL_UNSUPPORTED, "transparent huge pages of %s are \"%s\": as root, "
		    "echo madvise > %s", each, word[0] ? word : "not in this kernel", path);
}

void region_dirty(char *base, size_t bytes)
{
	memset(base, 0xa5, bytes);
}

size_t region_nonzero(const char *base, size_t bytes)
{
	const uint64_t *p = (const uint64_t *)(const void *)base;
	size_t at, i;

	for (at = 0; at < bytes; at += 64, p += 8)
		if (p[0] | p[1] | p[2] | p[3] | p[4] | p[5] | p[6] | p[7])
			break;
	for (i = at; i < bytes && i < at + 64; i++)
		if (base[i])
			return i;
	return bytes;
}
