/* SPDX-License-Identifier: GPL-2.0-only */
/* What the options of bench fault and bench clear have to be together; what was left out. */
#include <stdlib.h>

#include "bench.h"
#include "bench_check.h"

#define LARGEST_PAGE ((uint64_t)16 << 30) /* powerpc's */
#define DEFAULT_SIZE ((uint64_t)256 << 20)
#define LARGEST_CHUNK ((uint64_t)1 << 40)

static int choose_kind(struct bench *b)
{
	char each[32];

	size_text(b->page, each, sizeof(each));
	if (b->page > LARGEST_PAGE)
		return fail(TOOL_USAGE, "-p: no machine has pages of %s; expected 4K to 16G", each);
	if (b->page == 4096) {
		if (b->thp)
			return fail(TOOL_USAGE, "--thp with -p 4K: transparent huge pages are larger; "
				    "expected -p 2M, or a size of 'clearpages list machine'");
		b->kind = REGION_SMALL;
	} else {
		b->kind = b->thp || b->page < region_pmd_bytes() ? REGION_THP : REGION_HUGETLB;
	}
	if (b->kind == REGION_THP)
		return region_thp_check(b->page, b->path[PATH_POPULATE]);
	return TOOL_OK;
}

/* The least multiple of both, or 0. */
static uint64_t common_multiple(uint64_t a, uint64_t b)
{
	uint64_t x = a, y = b, rest, multiple;

	while (y) {
		rest = x % y;
		x = y;
		y = rest;
	}
	return __builtin_mul_overflow(a / x, b, &multiple) ? 0 : multiple;
}

/* What a thread's share is to be whole in, by pages and all chunks; step if there is no such. */
static uint64_t common_step(const struct bench *b, uint64_t step)
{
	uint64_t common = b->page, most = INT64_MAX / b->threads;
	unsigned int i;

	for (i = 0; i < b->chunk_count && common; i++)
		common = common_multiple(common, b->chunks[i]);
	return common && common <= most ? common : step;
}

/* -s, or the size without it: whole steps (pages, chunks) for each thread. */
static int check_steps(const struct bench *b, bool given, const char *option, uint64_t step)
{
	uint64_t all = step * b->threads, low;
	char size[32], each[32], lower[32], higher[32];

	if (!all || b->size % all == 0)
		return TOOL_OK;
	all = common_step(b, step) * b->threads;
	low = all ? b->size / all * all : 0;
	size_exact(b->size, size, sizeof(size));
	size_exact(step, each, sizeof(each));
	size_exact(low, lower, sizeof(lower));
	size_exact(low + all, higher, sizeof(higher));
	return fail(TOOL_USAGE, "%s%s is no whole number of %s (%s) for each of %u thread%s: "
		    "expected %s%s%s%s", given ? "-s: " : "-k without -s: the default of ", size,
		    option, each, b->threads, b->threads > 1 ? "s" : "", given ? "" : "-s ",
		    low ? lower : "", low ? " or " : "", higher);
}

static int check_pools(struct bench *b)
{
	bool any = false, lazy = false, zeroes = false;
	unsigned int i;

	for (i = 0; i < PATHS; i++) {
		any |= b->path[i] && bench_is_pool((enum path)i);
		zeroes |= b->path[i] && bench_is_pool((enum path)i) && i != PATH_POOL_CLEAN;
	}
	lazy = b->path[PATH_PAGER_SIGNAL] || b->path[PATH_PAGER_AHEAD] || b->path[PATH_PAGER_THREAD];
	if (lazy && b->kind != REGION_HUGETLB)
		return fail(TOOL_USAGE, "-f pager-...: a pager needs pages of hugetlb; expected -p 2M or "
			    "1G without --thp");
	if (any && b->shared)
		return fail(TOOL_USAGE, "--shared with -f pager-... or pool-...: each thread has its "
			    "part of the pool");
	if (b->policy_count && !zeroes)
		return fail(TOOL_USAGE, "--policy: the kernel's paths have none to choose, nor has "
			    "pool-clean; expected one of -f pager-signal, pager-ahead, pager-thread, "
			    "pool-eager besides");
	for (i = USE_NONE + 1; i < USES; i++)
		if (b->path[PATH_PARALLEL] && b->use[i])
			return fail(TOOL_USAGE, "--use %s with -f populate-parallel: that has no "
				    "next step; expected --use none", use_names[i]);
	return any && !b->policy_count ? bench_add_policies(b, "auto") : TOOL_OK;
}

static int check_fault(struct bench *b)
{
	int err;

	if (!b->size) {
		b->size = b->page * b->threads;
		while (b->size <= DEFAULT_SIZE / 2)
			b->size *= 2;
	}
	if (b->touch == TOUCH_NONE)
		return fail(TOOL_USAGE, "--touch none: a fault needs a touch; expected first, middle, "
			    "last or random");
	if (b->shared && b->path[PATH_POPULATE])
		return fail(TOOL_USAGE, "--shared with -f populate: one mmap() call cannot be split "
			    "among threads; expected -f demand or madvise");
	err = check_pools(b);
	return err ? err : check_steps(b, true, "pages", b->page);
}

static int check_clear(struct bench *b)
{
	uint64_t most = DEFAULT_SIZE;
	const bool given = b->size != 0;
	unsigned int i;
	int err;

	if ((b->orders || b->unit_count) && !b->functions)
		return fail(TOOL_USAGE, "--order and --unit: of which variants? expected -f with a "
			    "list such as stosb,clzero");
	err = bench_add_matrix(b);
	if (!err && !b->policy_count)
		err = bench_add_policies(b, "stock,ranges,stream,auto");
	if (err)
		return err;
	if (!b->chunk_count) {
		b->chunks = malloc(sizeof(*b->chunks));
		if (!b->chunks)
			return fail(TOOL_FAILED, "out of memory");
		b->chunks[b->chunk_count++] = b->page;
	}
	for (i = 0; i < b->chunk_count; i++) {
		uint64_t largest = b->size ? b->size / b->threads : LARGEST_CHUNK;
		char chunk[32], high[32];

		if (b->chunks[i] < 64 || b->chunks[i] > largest)
			return fail(TOOL_USAGE, "-k: a chunk of %s: expected 64 bytes to %s%s",
				    size_exact(b->chunks[i], chunk, sizeof(chunk)),
				    size_exact(largest, high, sizeof(high)),
				    b->size ? ", a thread's share of -s" : "");
		if (b->chunks[i] * b->threads > most)
			most = b->chunks[i] * b->threads;
	}
	if (!b->size)
		b->size = (most + b->page * b->threads - 1) / (b->page * b->threads) *
			  (b->page * b->threads);
	err = check_steps(b, given, "pages", b->page);
	for (i = 0; i < b->chunk_count && !err; i++)
		err = check_steps(b, given, "chunks", b->chunks[i]);
	return err;
}

int bench_check(struct bench *b)
{
	int err = choose_kind(b);

	if (err)
		return err;
	return b->command == BENCH_FAULT ? check_fault(b) : check_clear(b);
}
