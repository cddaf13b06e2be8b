/* SPDX-License-Identifier: GPL-2.0-only */
/* bench fault: how fast this kernel makes pages ready. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"

static size_t share(const struct fault_trial *f)
{
	return f->bench->size / f->bench->threads;
}

static struct region *region_of(struct fault_trial *f, unsigned int member)
{
	return &f->regions[f->bench->shared ? 0 : member];
}

static char *part(struct fault_trial *f, unsigned int member)
{
	return region_of(f, member)->base + (f->bench->shared ? member * share(f) : 0);
}

static uint64_t *touched(const struct fault_trial *f, char *base, unsigned int member, size_t i)
{
	const struct bench *b = f->bench;
	size_t page = b->page;

	return (uint64_t *)(void *)(base + i * page +
				    bench_touch(b, member * (share(f) / page) + i, page));
}

static bool touches(const struct fault_trial *f)
{
	return f->path == PATH_DEMAND || f->path == PATH_TOUCH_THREADS;
}

static bool counts_mthp(const struct fault_trial *f)
{
	return f->bench->kind == REGION_THP && f->bench->page != region_pmd_bytes();
}

static int fault_ready(void *arg, unsigned int member)
{
	struct fault_trial *f = arg;
	const struct bench *b = f->bench;

	if (!member && counts_mthp(f))
		f->mthp_before = region_mthp_count(b->page);
	if (b->shared && member)
		return TOOL_OK;
	region_unmap(region_of(f, member)); /* one that another trial of the run left */
	if (f->path == PATH_POPULATE)
		return TOOL_OK;
	return region_map(region_of(f, member), b->shared ? b->size : share(f), b->page, b->kind,
			  false);
}

static int populate(char *base, size_t bytes)
{
	while (madvise(base, bytes, MADV_POPULATE_WRITE)) {
		if (errno == EAGAIN || errno == EINTR)
			continue;
		if (errno == EINVAL)
			return fail(TOOL_UNSUPPORTED, "-f madvise: this kernel has no "
				    "MADV_POPULATE_WRITE (5.14 is the first): use -f populate");
		return fail(TOOL_FAILED, "-f madvise: MADV_POPULATE_WRITE: %s", strerror(errno));
	}
	return TOOL_OK;
}

static int fault_work(void *arg, unsigned int member)
{
	struct fault_trial *f = arg;
	const struct bench *b = f->bench;
	size_t i, count = share(f) / b->page;
	int err = TOOL_OK;
	char *base;

	if (f->path == PATH_POPULATE)
		err = region_map(region_of(f, member), share(f), b->page, b->kind, true);
	if (err)
		return err;
	base = part(f, member);
	if (f->path == PATH_MADVISE)
		err = populate(base, share(f));
	if (f->path == PATH_PARALLEL)
		return member ? TOOL_OK : bench_parallel(b, base, b->size);
	for (i = 0; i < count && !err; i++) {
		size_t page = bench_walk(b, i, count);

		if (touches(f))
			*(volatile uint64_t *)touched(f, base, member, page) = BENCH_MARK;
		bench_use(f->use, base + page * b->page, b->page, b->seed + page);
	}
	return err;
}

/* Were they pages of the size that the number is about to be given for? */
static int check_pages(struct fault_trial *f, unsigned int member)
{
	const struct bench *b = f->bench;

	/* Counted for all threads together, or seen in a mapping that is for all. */
	if (b->kind != REGION_THP || (member && (counts_mthp(f) || b->shared)))
		return TOOL_OK;
	if (!counts_mthp(f))
		return region_check_pages(region_of(f, member));
	return region_enough_huge((region_mthp_count(b->page) - f->mthp_before) * b->page, b->size);
}

/*
 * Trials with a mapping for each member and with one for all take turns: none
 * may hold pages when the members of the next one map theirs, each in its time.
 */
static void unmap_after_last(struct fault_trial *f)
{
	unsigned int i;

	if (atomic_fetch_add(&f->checked, 1) + 1 < f->bench->threads)
		return;
	for (i = 0; i < f->bench->threads; i++)
		region_unmap(&f->regions[i]);
	atomic_store(&f->checked, 0);
}

/*
 * Every page was touched where it should have been, and is zero but for that.
 * Then the pages are dirtied, so that the kernel gets them back dirty.
 */
static int fault_check(void *arg, unsigned int member)
{
	struct fault_trial *f = arg;
	const struct bench *b = f->bench;
	char *base = part(f, member);
	size_t i, at, count = share(f) / b->page;
	int err = check_pages(f, member);

	for (i = 0; i < count; i++) {
		uint64_t *word = touched(f, base, member, i);
		bool right = !touches(f) || *word == BENCH_MARK;

		if (!bench_unuse(f->use, base + i * b->page, b->page, b->seed + i) || !right)
			return fail(TOOL_FAILED, "page %zu lost what was written to it", i);
		*word = touches(f) ? 0 : *word;
	}
	at = region_nonzero(base, share(f));
	if (!err && at != share(f))
		err = fail(TOOL_FAILED, "the kernel gave a page that was not zero at byte %zu", at);
	region_dirty(base, share(f));
	if (b->command == BENCH_FAULT)
		unmap_after_last(f);
	return err;
}

void fault_trial(struct fault_trial *f, struct trial *t)
{
	snprintf(f->name, sizeof(f->name), "%s%s%.200s%s%s", path_names[f->path],
		 f->policy ? " " : "", f->policy ? f->policy->name : "",
		 f->use ? ", " : "", f->use ? use_names[f->use] : "");
	*t = (struct trial){
		.name = f->name, .ready = fault_ready, .work = fault_work, .check = fault_check,
		.arg = f, .bytes = f->bench->size,
	};
	if (bench_is_pool(f->path)) {
		t->ready = bench_pool_ready;
		t->work = bench_pool_work;
		t->check = bench_pool_check;
		/* Its loop takes some us, and seconds to prepare: 20 ms of it would be days. */
		t->most_loops = f->path == PATH_POOL_CLEAN ? 2 : 0;
	}
}

/* ---- the command ------------------------------------------------------------- */

/* The ratio of a row is to the first path with the same use. */
static const struct trial *base_of(const struct measure *m, unsigned int i)
{
	const struct fault_trial *f = m->trials[i].arg;
	unsigned int k = 0;

	while (((const struct fault_trial *)m->trials[k].arg)->use != f->use)
		k++;
	return &m->trials[k];
}

static void print_table(const struct bench *b, const struct measure *m)
{
	static const char *const columns[] = {
		"PATH", ">GIB/S", ">MEAN US", ">STDDEV%", ">RATIO", "95% INTERVAL", ">CYCLES",
	};
	struct table *t = table_new(columns, b->cycles ? 7 : 6);
	unsigned int i;
	char text[160];

	for (i = 0; i < m->count; i++) {
		struct bench_row row;

		bench_row(m, &m->trials[i], base_of(m, i), b->page, &row);
		table_row(t, (const char *[]){ m->trials[i].name, row.gib, row.us, row.spread,
					       row.times, row.interval, row.cycles });
	}
	bench_memory_text(b, text, sizeof(text));
	printf("%s%s, touch: %s%s%s; times are of a page\n", text,
	       b->threads == 1 ? "" : b->shared ? " on one mapping" :
	       b->path[PATH_TOUCH_THREADS] || b->path[PATH_PARALLEL] ?
	       " with a mapping each (touch-threads and populate-parallel: one)" :
	       " with a mapping each", touch_names[b->touch], b->walk ? ", walk: " : "",
	       b->walk ? walk_names[b->walk] : "");
	table_print(t);
	measure_print(m);
}

static int print_json(const struct bench *b, const struct measure *m)
{
	json_t *results = json_array(), *run;
	unsigned int i;

	for (i = 0; i < m->count; i++) {
		const struct fault_trial *f = m->trials[i].arg;
		json_t *r = bench_result_json(m, &m->trials[i], base_of(m, i));

		json_object_set_new(r, "path", json_string(path_names[f->path]));
		json_object_set_new(r, "use", json_string(use_names[f->use]));
		bench_policy_json(r, f->policy);
		json_array_append_new(results, r);
	}
	run = json_pack("{s:I, s:I, s:b, s:i, s:b, s:s, s:s, s:o, s:o}", "page_bytes",
			(json_int_t)b->page, "size_bytes", (json_int_t)b->size, "transparent",
			b->kind == REGION_THP, "threads", b->threads, "shared_mapping", b->shared,
			"touch", touch_names[b->touch], "walk", walk_names[b->walk],
			"measurement", measure_json(m), "results", results);
	return bench_print_json("bench fault", json_pack("[o]", run));
}

static int report(const struct bench *b, const struct measure *m)
{
	if (b->json)
		return print_json(b, m);
	print_table(b, m);
	return TOOL_OK;
}

/* Policies make a difference to some paths only. */
static unsigned int policies_of(const struct bench *b, enum path path)
{
	return bench_is_pool(path) && path != PATH_POOL_CLEAN ? b->policy_count : 1;
}

static unsigned int count_trials(const struct bench *b)
{
	unsigned int path, use, count = 0;

	for (use = 0; use < USES; use++)
		for (path = 0; path < PATHS; path++)
			if (b->use[use] && b->path[path])
				count += policies_of(b, (enum path)path);
	return count;
}

/* one: as b, with one mapping for all members. */
static void add_trials(const struct bench *b, const struct bench *one, struct measure *m,
		       const struct fault_trial *like, struct fault_trial *trials)
{
	unsigned int path, use, k;

	for (use = 0; use < USES; use++) {
		for (path = 0; path < PATHS; path++) {
			if (!b->use[use] || !b->path[path])
				continue;
			for (k = 0; k < policies_of(b, (enum path)path); k++) {
				struct fault_trial *f = &trials[m->count];

				*f = *like;
				f->bench = path == PATH_TOUCH_THREADS || path == PATH_PARALLEL ?
					   one : b;
				f->path = (enum path)path;
				f->use = (enum use)use;
				if (bench_is_pool(f->path) && f->path != PATH_POOL_CLEAN)
					f->policy = &b->policies[k];
				fault_trial(f, &m->trials[m->count++]);
			}
		}
	}
}

int bench_fault(const struct bench *b)
{
	unsigned int i, count = count_trials(b);
	struct region *regions = calloc(b->threads, sizeof(*regions));
	struct fault_trial *trials = calloc(count, sizeof(*trials));
	struct bench_shared shared = { .mine = calloc(b->threads, sizeof(*shared.mine)) };
	const struct fault_trial like = { .regions = regions, .shared = &shared };
	struct bench one = *b;
	struct measure m = {
		.trials = calloc(count, sizeof(*m.trials)), .rounds = b->rounds,
		.min_ns = b->min_ns, .seed = b->seed,
	};
	int err = bench_memory(b, b->size);
	bool room;

	one.shared = true;
	room = regions && trials && shared.mine && m.trials;
	if (!err && !room)
		err = fail(TOOL_FAILED, "out of memory");
	if (!err && room) {
		add_trials(b, &one, &m, &like, trials);
		err = crew_new(b->cpus, b->threads, b->cycles, &m.crew);
	}
	if (!err)
		err = measure_run(&m);
	for (i = 0; regions && i < b->threads; i++)
		region_unmap(&regions[i]);
	if (!err)
		err = report(b, &m);
	crew_free(m.crew);
	measure_free(&m);
	free(m.trials);
	free(shared.mine);
	free(trials);
	free(regions);
	return err;
}
