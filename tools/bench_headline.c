/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plain `bench`: for 2M and 1G pages, the kernel's own faults beside the pager's
 * and the pool's, what some policies take for the same pages when they are mapped,
 * and the most that one thread can store here at all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* The whole is to stay under a minute, on a slow machine too. */
#define BUDGET_NS 15000000000u
#define SIZE_2M ((uint64_t)256 << 20)

/* These policies on mapped memory, and two of them in the pager. */
#define POLICIES "stock,ranges,auto"
enum { STOCK, RANGES, AUTO, NAMED };

#define MOST_TRIALS 24
#define NONE (-1)

/* The rows of faults; the first is what the ratios are to. */
static const struct row {
	enum path path;
	int policy;
	bool pager;		/* only where userfaultfd can be had */
	const char *what;
} rows[] = {
	{ PATH_DEMAND, NONE, false, "the kernel's demand fault" },
	{ PATH_PAGER_SIGNAL, RANGES, true, "the pager's fault, ranges" },
	{ PATH_PAGER_SIGNAL, AUTO, true, "the pager's fault, auto" },
	{ PATH_MADVISE, NONE, false, "the kernel's populate" },
	{ PATH_PARALLEL, NONE, false, "populate in parallel" },
	{ PATH_POOL_EAGER, AUTO, false, "a pool's get, auto" },
	{ PATH_POOL_CLEAN, AUTO, false, "a pool's get, cleaned before" },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

struct section {
	struct bench bench;
	struct bench split;		/* the same, with one mapping for all threads */
	struct region region;		/* all trials take turns on it */
	struct bench_shared shared;
	void *mine[1];
	struct fault_trial fault[ROWS];
	struct clear_trial clear[MOST_TRIALS];
	struct trial trials[MOST_TRIALS];
	const char *what[MOST_TRIALS];
	struct measure measure;
	const char *limit;		/* the variant of the last trial */
};

/* One trial for each policy from `first` on, behind those that are there. */
static void add_clear_trials(struct section *s, unsigned int first, uint64_t chunk)
{
	unsigned int i;

	for (i = first; i < s->bench.policy_count && s->measure.count < MOST_TRIALS; i++) {
		struct clear_trial *c = &s->clear[s->measure.count];

		*c = (struct clear_trial){
			.bench = &s->bench, .region = &s->region,
			.policy = &s->bench.policies[i], .chunk = chunk,
		};
		clear_trial(c, &s->trials[s->measure.count++]);
	}
}

static int add_variant(struct section *s, const char *variant)
{
	char text[96];

	snprintf(text, sizeof(text), "oneshot,far=%s,near=%s", variant, variant);
	return bench_add_policies(&s->bench, text);
}

static void drop_policies(struct section *s, unsigned int keep)
{
	while (s->bench.policy_count > keep) {
		struct bench_policy *last = &s->bench.policies[--s->bench.policy_count];

		free(last->name);
		clearpages_policy_free(last->policy);
	}
}

static unsigned int fastest(const struct measure *m)
{
	unsigned int i, best = 0;
	double most = 0;

	for (i = 0; i < m->count; i++) {
		double *rates = measure_rates(m, &m->trials[i]);
		struct stats st;

		stats_of(rates, m->rounds, &st);
		free(rates);
		if (st.median > most) {
			most = st.median;
			best = i;
		}
	}
	return best;
}

/*
 * The streaming variants in one extent, a few rounds of each: the fastest is
 * what the others are held against. Found once, it serves for the other pages.
 */
static int find_limit(struct section *s)
{
	struct clearpages_variant v = { .size = sizeof(v) };
	const char *names[MOST_TRIALS] = { NULL };
	unsigned int i, count = 0;
	int err = TOOL_OK;

	if (s->limit)
		return add_variant(s, s->limit);
	for (i = 0; !clearpages_variant_get(i, &v) && !err && count < MOST_TRIALS; i++) {
		if (!v.streaming || v.lacks)
			continue;
		err = add_variant(s, v.name);
		names[count++] = v.name;
	}
	if (err || !count) /* movnti is on every x86-64 */
		return err ? err : fail(TOOL_UNSUPPORTED, "no streaming variant works here");
	s->measure.count = 0;
	s->measure.rounds = 3;
	add_clear_trials(s, NAMED, s->bench.size);
	err = measure_run(&s->measure);
	if (!err)
		s->limit = names[fastest(&s->measure)];
	measure_free(&s->measure);
	drop_policies(s, NAMED);
	return err ? err : add_variant(s, s->limit);
}

/* May this process have a pager, and for such pages? */
static bool pager_works(const struct bench *b)
{
	char why[512] = "";
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .bytes = b->page, .page_bytes = b->page,
		.backing = CLEARPAGES_BACKING_HUGETLB, .mode = CLEARPAGES_LAZY,
		.pager = CLEARPAGES_PAGER_SIGNAL, .cleaners = CLEARPAGES_NONE, .why = why,
		.why_size = sizeof(why),
	};
	struct clearpages_pool *pool;

	if (b->kind != REGION_HUGETLB)
		return false; /* no note: there is one on that already */
	if (clearpages_pool_create(&pool, &o)) {
		note("the pager is left out: %s", why);
		return false;
	}
	clearpages_pool_destroy(pool);
	return true;
}

static void add_fault_trials(struct section *s)
{
	bool pager, populate = region_can_populate();
	unsigned int i;

	region_unmap(&s->region); /* the same pages are to try it with */
	pager = pager_works(&s->bench);

	s->split = s->bench;
	s->split.shared = true;
	s->split.parallel = s->bench.cpu_count;
	s->shared.mine = s->mine;
	for (i = 0; i < ROWS; i++) {
		struct fault_trial *f = &s->fault[i];

		if ((rows[i].pager && !pager) || (rows[i].path == PATH_MADVISE && !populate))
			continue;
		f->bench = rows[i].path == PATH_PARALLEL ? &s->split : &s->bench;
		f->regions = &s->region;
		f->shared = &s->shared;
		f->path = rows[i].path;
		f->policy = rows[i].policy == NONE ? NULL : &s->bench.policies[rows[i].policy];
		s->what[s->measure.count] = rows[i].what;
		fault_trial(f, &s->trials[s->measure.count++]);
	}
}

static int run(struct section *s)
{
	int err;

	s->measure = (struct measure){
		.trials = s->trials, .crew = s->measure.crew, .min_ns = s->bench.min_ns,
		.seed = s->bench.seed,
	};
	err = bench_add_policies(&s->bench, POLICIES);
	if (!err)
		err = find_limit(s);
	if (err)
		return err;
	s->measure.rounds = s->bench.rounds;
	s->measure.budget_ns = BUDGET_NS;
	s->measure.count = 0;
	add_fault_trials(s);
	add_clear_trials(s, 0, s->bench.page);
	s->clear[s->measure.count - 1].chunk = s->bench.size; /* the limit: one extent */
	return measure_run(&s->measure);
}

/* ---- reports ------------------------------------------------------------------- */

static void trial_name(const struct section *s, unsigned int i, char *text, size_t size)
{
	if (s->what[i])
		snprintf(text, size, "%s", s->what[i]);
	else if (i + 1 < s->measure.count)
		snprintf(text, size, "mapped, by %s", s->clear[i].policy->name);
	else
		snprintf(text, size, "store limit (%s)", s->limit);
}

static const struct bench_policy *trial_policy(const struct section *s, unsigned int i)
{
	const struct fault_trial *f = s->trials[i].arg;

	return s->what[i] ? f->policy : s->clear[i].policy;
}

static void print_section(const struct section *s)
{
	static const char *const columns[] = {
		"WHAT", ">GIB/S", ">MEAN US", ">STDDEV%", ">RATIO", "95% INTERVAL", ">OF LIMIT",
	};
	const struct measure *m = &s->measure;
	struct table *t = table_new(columns, 7);
	struct bench_row limit, row;
	char name[64], share[16], text[160];
	unsigned int i;

	bench_row(m, &m->trials[m->count - 1], NULL, s->bench.page, &limit);
	for (i = 0; i < m->count; i++) {
		bench_row(m, &m->trials[i], m->trials, s->bench.page, &row);
		trial_name(s, i, name, sizeof(name));
		/* What was cleaned before is not cleared in the time: no share of the limit. */
		if (row.rate.median < 10 * limit.rate.median)
			snprintf(share, sizeof(share), "%.0f%%",
				 100 * row.rate.median / limit.rate.median);
		else
			snprintf(share, sizeof(share), "none");
		table_row(t, (const char *[]){ name, row.gib, row.us, row.spread, row.times,
					       row.interval, share });
	}
	bench_memory_text(&s->bench, text, sizeof(text));
	printf("\n%s (in parallel: %u); first byte touched; times are of a page\n", text,
	       s->bench.cpu_count);
	table_print(t);
	measure_print(m);
}

static json_t *section_json(const struct section *s)
{
	json_t *results = json_array();
	unsigned int i;

	for (i = 0; i < s->measure.count; i++) {
		json_t *r = bench_result_json(&s->measure, &s->measure.trials[i],
					      s->measure.trials);
		char text[CLEARPAGES_POLICY_TEXT];

		trial_name(s, i, text, sizeof(text));
		json_object_set_new(r, "what", json_string(text));
		bench_policy_json(r, trial_policy(s, i));
		json_array_append_new(results, r);
	}
	return json_pack("{s:I, s:I, s:b, s:i, s:s, s:s, s:o, s:o}", "page_bytes",
			 (json_int_t)s->bench.page, "size_bytes", (json_int_t)s->bench.size,
			 "transparent", s->bench.kind == REGION_THP, "threads", 1, "touch",
			 touch_names[s->bench.touch], "store_limit_variant", s->limit,
			 "measurement", measure_json(&s->measure), "results", results);
}

/* ---- the command --------------------------------------------------------------- */

/*
 * Can it be had, and how? TOOL_OK with bench->kind set, or why not. Of hugetlb pages
 * and transparent ones the code is that of the former: a pool that is too small can
 * be enlarged, and is no lack of the kernel's.
 */
static int find_pages(struct bench *b, char *why, unsigned int size)
{
	int err;

	b->kind = REGION_HUGETLB;
	err = reserve_need("", b->page, b->size / b->page, b->node, b->reserve, why, size);
	if (!err || b->page != region_pmd_bytes())
		return err;
	note("no hugetlb pages, taking transparent ones: %s", why);
	b->kind = REGION_THP;
	if (!region_thp_check(b->page, false))
		err = bench_memory(b, b->size);
	if (err)
		snprintf(why, size, "no huge pages of either kind");
	return err;
}

/* The error line where no page size was measured, all of them not found. */
static int nothing_measured(const int *found, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (found[i] != TOOL_UNSUPPORTED)
			return fail(TOOL_FAILED, "nothing could be measured");
	return fail(TOOL_UNSUPPORTED, "nothing could be measured: this kernel has huge pages "
		    "neither of 2M nor of 1G");
}

static int run_section(struct section *s, json_t *runs)
{
	int err = crew_new(s->bench.cpus, 1, false, &s->measure.crew);

	if (!err)
		err = run(s);
	region_unmap(&s->region);
	if (!err && runs)
		json_array_append_new(runs, section_json(s));
	else if (!err)
		print_section(s);
	crew_free(s->measure.crew);
	measure_free(&s->measure);
	return err;
}

static void section_free(struct section *s)
{
	/* cpus belong to the command line's bench. */
	s->bench.cpus = NULL;
	bench_free(&s->bench);
}

int bench_headline(const struct bench *b)
{
	static const uint64_t pages[] = { (uint64_t)2 << 20, (uint64_t)1 << 30 };
	enum { PAGES = sizeof(pages) / sizeof(pages[0]) };
	struct section sections[PAGES] = { 0 };
	json_t *runs = b->json ? json_array() : NULL;
	char why[PAGES][512], each[32];
	int found[PAGES], err = TOOL_OK;
	unsigned int i, done = 0;

	/* The larger pages first, while memory is in one piece. */
	for (i = PAGES; i-- > 0;) {
		sections[i].bench = *b;
		sections[i].bench.page = pages[i];
		sections[i].bench.size = pages[i] > SIZE_2M ? pages[i] : SIZE_2M;
		found[i] = find_pages(&sections[i].bench, why[i], sizeof(why[i]));
	}
	if (!b->json) {
		struct host h;

		host_read("", &h);
		host_print(&h);
	}
	for (i = 0; i < PAGES && !err; i++) {
		size_text(pages[i], each, sizeof(each));
		if (found[i]) {
			note("%s pages are not measured: %s", each, why[i]);
			if (runs)
				json_array_append_new(runs, json_pack("{s:I, s:s}", "page_bytes",
								      (json_int_t)pages[i],
								      "not_measured", why[i]));
			continue;
		}
		sections[i].limit = i ? sections[i - 1].limit : NULL;
		err = run_section(&sections[i], runs);
		done += !err;
	}
	for (i = 0; i < PAGES; i++)
		section_free(&sections[i]);
	if (!err && !done)
		err = nothing_measured(found, PAGES);
	if (!err && b->json)
		return bench_print_json("bench", runs);
	json_decref(runs);
	return err;
}
