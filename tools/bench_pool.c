// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench fault -f pager-..., pool-...: pages of a pool, got dirty, cleared on the way.
 * One pool at a time: it is made before a trial's loop and given up after it, so
 * that the kernel's own paths have the same pages to take from.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench.h"

static const struct {
	uint32_t mode, pager, handlers, cleaners;
} kinds[PATHS] = {
	[PATH_PAGER_SIGNAL] = { CLEARPAGES_LAZY, CLEARPAGES_PAGER_SIGNAL, 0, CLEARPAGES_NONE },
	[PATH_PAGER_AHEAD] = { CLEARPAGES_LAZY, CLEARPAGES_PAGER_SIGNAL, 1, CLEARPAGES_NONE },
	[PATH_PAGER_THREAD] = { CLEARPAGES_LAZY, CLEARPAGES_PAGER_THREAD, 0, CLEARPAGES_NONE },
	[PATH_POOL_EAGER] = { CLEARPAGES_EAGER, 0, 0, CLEARPAGES_NONE },
	[PATH_POOL_CLEAN] = { CLEARPAGES_EAGER, 0, 0, 1 },
};

bool bench_is_pool(enum path path)
{
	return path >= PATH_PAGER_SIGNAL && path <= PATH_POOL_CLEAN;
}

static size_t share(const struct fault_trial *f)
{
	return f->bench->size / f->bench->threads;
}

/* Its threads go where the run may (--cpus, --node), not where this thread is bound to. */
static int create(const struct bench *b, const struct clearpages_pool_opts *o,
		  struct clearpages_pool **pool)
{
	int err = bench_run_on(b->cpus, b->cpu_count);

	/* As for the kernel's paths: see region_map(). */
	if (b->kind == REGION_SMALL)
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (!err)
		err = clearpages_pool_create(pool, o);
	bench_run_on(b->cpus, 1); /* the member that does this is the first */
	return err;
}

static int make(struct fault_trial *f)
{
	const struct bench *b = f->bench;
	char why[512];
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .bytes = b->size, .page_bytes = b->page,
		.backing = b->kind == REGION_HUGETLB ? CLEARPAGES_BACKING_HUGETLB :
						       CLEARPAGES_BACKING_THP,
		.mode = kinds[f->path].mode, .pager = kinds[f->path].pager,
		.handlers = kinds[f->path].handlers, .cleaners = kinds[f->path].cleaners,
		.threads = 1, .policy = f->policy ? f->policy->policy : NULL, .why = why,
		.why_size = sizeof(why),
	};
	int err;

	if (b->kind == REGION_THP && b->page != region_pmd_bytes())
		return fail(TOOL_UNSUPPORTED, "-f %s: a pool has transparent huge pages of the largest "
			    "size only: use -p 2M", path_names[f->path]);
	*why = '\0';
	err = create(b, &o, &f->shared->pool);
	if (!err)
		return TOOL_OK;
	return fail(err == -EOPNOTSUPP || err == -EPERM ? TOOL_UNSUPPORTED : TOOL_FAILED,
		    "-f %s: %s", path_names[f->path], *why ? why : strerror(-err));
}

/* All of it dirty; for pool-clean: cleaned again, by the cleaner. */
static int make_dirty(struct fault_trial *f)
{
	struct clearpages_get_opts ready = { .size = sizeof(ready), .flags = CLEARPAGES_GET_READY };
	struct clearpages_pool_stats s = { .size = sizeof(s) };
	struct clearpages_pool *pool = f->shared->pool;
	struct region all = { .bytes = f->bench->size, .page = f->bench->page,
			      .kind = f->bench->kind };
	void *base;
	int err = clearpages_pool_get(pool, all.bytes, &ready, &base);

	if (err)
		return fail(TOOL_FAILED, "-f %s: get: %s", path_names[f->path], strerror(-err));
	all.base = base;
	region_dirty(base, all.bytes);
	err = region_check_pages(&all);
	clearpages_pool_put(pool, base, all.bytes);
	if (err)
		return err;
	do {
		clearpages_pool_stats(pool, &s);
	} while (f->path == PATH_POOL_CLEAN && s.clean_bytes < s.total_bytes && !usleep(200));
	return TOOL_OK;
}

int bench_pool_ready(void *arg, unsigned int member)
{
	struct fault_trial *f = arg;
	unsigned int i;
	int err;

	if (member)
		return TOOL_OK;
	for (i = 0; i < f->bench->threads; i++) /* what another trial left has the same pages */
		region_unmap(&f->regions[i]);
	err = make(f);
	return err ? err : make_dirty(f);
}

int bench_pool_work(void *arg, unsigned int member)
{
	struct fault_trial *f = arg;
	const struct bench *b = f->bench;
	size_t i, first = member * (share(f) / b->page), count = share(f) / b->page;
	void *mine;
	int err = clearpages_pool_get(f->shared->pool, share(f), NULL, &mine);
	char *base = mine;

	if (err)
		return fail(TOOL_FAILED, "-f %s: get: %s", path_names[f->path], strerror(-err));
	f->shared->mine[member] = mine;
	for (i = 0; i < count; i++) {
		size_t at = bench_walk(b, i, count);
		char *page = base + at * b->page;

		*(volatile uint64_t *)(void *)(page + bench_touch(b, first + at, b->page)) =
			BENCH_MARK;
		bench_use(f->use, page, b->page, b->seed + at);
	}
	return TOOL_OK;
}

/* What was used is there, and nothing else. */
static int check_page(struct fault_trial *f, char *page, size_t index, uint64_t seed)
{
	const struct bench *b = f->bench;
	size_t touch = bench_touch(b, index, b->page), at;
	uint64_t *word = (uint64_t *)(void *)(page + touch);
	bool right = *word == BENCH_MARK;

	right &= bench_unuse(f->use, page, b->page, seed);
	if (!right)
		return fail(TOOL_FAILED, "page %zu lost what was written to it", index);
	*word = 0;
	at = region_nonzero(page, b->page);
	if (at < b->page)
		return fail(TOOL_FAILED, "page %zu was not zero at byte %zu", index, at);
	return TOOL_OK;
}

int bench_pool_check(void *arg, unsigned int member)
{
	struct fault_trial *f = arg;
	const struct bench *b = f->bench;
	size_t i, first = member * (share(f) / b->page), count = share(f) / b->page;
	char *base = f->shared->mine[member];
	int err = TOOL_OK;

	for (i = 0; i < count && !err; i++)
		err = check_page(f, base + i * b->page, first + i, b->seed + i);
	clearpages_pool_put(f->shared->pool, base, share(f));
	if (atomic_fetch_add(&f->checked, 1) + 1 == b->threads) {
		atomic_store(&f->checked, 0);
		bench_pool_drop(f->shared);
	}
	return err;
}

void bench_pool_drop(struct bench_shared *s)
{
	clearpages_pool_destroy(s->pool);
	s->pool = NULL;
}
