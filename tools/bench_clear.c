/* SPDX-License-Identifier: GPL-2.0-only */
/* bench clear: policies and variants on memory that is mapped already. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "random.h"

size_t bench_touch(const struct bench *b, uint64_t index, size_t page)
{
	uint64_t state = b->seed ^ index * 0x9e3779b97f4a7c15u;

	switch (b->touch) {
	case TOUCH_FIRST:
		return 0;
	case TOUCH_MIDDLE:
		return page / 2;
	case TOUCH_LAST:
		return page - 8;
	case TOUCH_RANDOM:
		return random_below(&state, page / 8) * 8;
	default:
		return SIZE_MAX;
	}
}

static size_t share(const struct clear_trial *c)
{
	return c->bench->size / c->bench->threads;
}

static int clear_ready(void *arg, unsigned int member)
{
	struct clear_trial *c = arg;

	if (!c->region->base) {
		const struct bench *b = c->bench;
		int err = region_map(c->region, b->size, b->page, b->kind, false);

		if (err)
			return err;
	}
	region_dirty(c->region->base + member * share(c), share(c));
	return TOOL_OK;
}

static int clear_work(void *arg, unsigned int member)
{
	struct clear_trial *c = arg;
	char *base = c->region->base + member * share(c);
	uint64_t first = member * (share(c) / c->chunk), i, count = share(c) / c->chunk;
	const struct clearpages_policy *policy = c->policy->policy;

	for (i = 0; i < count; i++)
		clearpages_zero_at(base + i * c->chunk, c->chunk,
				   bench_touch(c->bench, first + i, c->chunk), policy);
	return TOOL_OK;
}

static int clear_check(void *arg, unsigned int member)
{
	struct clear_trial *c = arg;
	size_t at = region_nonzero(c->region->base + member * share(c), share(c));

	/* A figure of other pages is none: the mapping is new after each trial that faults. */
	if (at == share(c))
		return member ? TOOL_OK : region_check_pages(c->region);
	return fail(TOOL_FAILED, "policy %s left byte %zu of thread %u's %zu bytes non-zero: its "
		    "variant does not work on this machine; please report it", c->policy->name, at,
		    member, share(c));
}

void clear_trial(struct clear_trial *c, struct trial *t)
{
	*t = (struct trial){
		.name = c->policy->name, .ready = clear_ready, .work = clear_work,
		.check = clear_check, .arg = c, .bytes = c->bench->size,
	};
}

/* ---- the command ------------------------------------------------------------- */

/* The ratio of a row is to the first policy with the same chunk. */
static const struct trial *base_of(const struct bench *b, const struct measure *m, unsigned int i)
{
	return &m->trials[i - i % b->policy_count];
}

/* One row; the columns of the matrix are there only with -f. */
static void print_row(struct table *t, const struct bench *b, const struct clear_trial *c,
		      const struct bench_row *row)
{
	const struct bench_policy *p = c->policy;
	char chunk[32], unit[32] = "";
	const char *cells[10] = { size_text(c->chunk, chunk, sizeof(chunk)) };
	unsigned int n = 1;

	cells[n++] = p->function ? p->function : p->name;
	if (b->functions) {
		if (p->function)
			size_text(p->unit, unit, sizeof(unit));
		cells[n++] = p->order;
		cells[n++] = p->function && !p->unit ? "all" : unit;
	}
	cells[n++] = row->gib;
	cells[n++] = row->us;
	cells[n++] = row->spread;
	cells[n++] = row->times;
	cells[n++] = row->interval;
	cells[n] = row->cycles;
	table_row(t, cells);
}

static void print_table(const struct bench *b, const struct measure *m)
{
	static const char *const matrix[] = {
		">CHUNK", "VARIANT", "ORDER", ">UNIT", ">GIB/S", ">MEAN US", ">STDDEV%",
		">RATIO", "95% INTERVAL", ">CYCLES",
	};
	static const char *const plain[] = {
		">CHUNK", "POLICY", ">GIB/S", ">MEAN US", ">STDDEV%", ">RATIO", "95% INTERVAL",
		">CYCLES",
	};
	struct table *t = b->functions ? table_new(matrix, b->cycles ? 10 : 9)
				       : table_new(plain, b->cycles ? 8 : 7);
	unsigned int i;
	char text[160];

	for (i = 0; i < m->count; i++) {
		const struct clear_trial *c = m->trials[i].arg;
		struct bench_row row;

		bench_row(m, &m->trials[i], base_of(b, m, i), c->chunk, &row);
		print_row(t, b, c, &row);
	}
	bench_memory_text(b, text, sizeof(text));
	printf("%s, mapped and dirty, touch: %s; times are of a chunk, ratios to the first row of it\n",
	       text, touch_names[b->touch]);
	table_print(t);
	measure_print(m);
}

static int print_json(const struct bench *b, const struct measure *m)
{
	json_t *results = json_array(), *run;
	unsigned int i;

	for (i = 0; i < m->count; i++) {
		const struct clear_trial *c = m->trials[i].arg;
		json_t *r = bench_result_json(m, &m->trials[i], base_of(b, m, i));

		bench_policy_json(r, c->policy);
		json_object_set_new(r, "chunk_bytes", json_integer((json_int_t)c->chunk));
		if (c->policy->function) {
			json_object_set_new(r, "function", json_string(c->policy->function));
			json_object_set_new(r, "order", json_string(c->policy->order));
			json_object_set_new(r, "unit_bytes",
					    json_integer((json_int_t)c->policy->unit));
		}
		json_array_append_new(results, r);
	}
	run = json_pack("{s:I, s:I, s:b, s:i, s:s, s:o, s:o}", "page_bytes", (json_int_t)b->page,
			"size_bytes", (json_int_t)b->size, "transparent", b->kind == REGION_THP,
			"threads", b->threads, "touch", touch_names[b->touch], "measurement",
			measure_json(m), "results", results);
	return bench_print_json("bench clear", json_pack("[o]", run));
}

static int measure_all(const struct bench *b, struct measure *m, struct clear_trial *trials)
{
	struct region region = { .base = NULL };
	unsigned int i;
	int err;

	for (i = 0; i < m->count; i++) {
		trials[i] = (struct clear_trial){
			.bench = b, .region = &region,
			.policy = &b->policies[i % b->policy_count],
			.chunk = b->chunks[i / b->policy_count],
		};
		clear_trial(&trials[i], &m->trials[i]);
	}
	err = region_map(&region, b->size, b->page, b->kind, false);
	if (!err)
		err = measure_run(m);
	region_unmap(&region);
	if (err)
		return err;
	if (b->json)
		return print_json(b, m);
	print_table(b, m);
	return TOOL_OK;
}

int bench_clear(const struct bench *b)
{
	struct measure m = {
		.count = b->chunk_count * b->policy_count, .rounds = b->rounds,
		.min_ns = b->min_ns, .seed = b->seed,
	};
	struct clear_trial *trials = calloc(m.count, sizeof(*trials));
	int err = bench_memory(b, b->size);

	m.trials = calloc(m.count, sizeof(*m.trials));
	if (!trials || !m.trials)
		err = fail(TOOL_FAILED, "out of memory");
	if (!err)
		err = crew_new(b->cpus, b->threads, b->cycles, &m.crew);
	if (!err)
		err = measure_all(b, &m, trials);
	crew_free(m.crew);
	if (m.trials)
		measure_free(&m);
	free(m.trials);
	free(trials);
	return err;
}
