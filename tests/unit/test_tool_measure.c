// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measuring, with trials that are none: what is called, how often and in which
 * order; what is kept. And that a trial which does not do its work is caught.
 */
#include <stdint.h>

#include "../../tools/bench.h"
#include "../../tools/crew.h"
#include "test_tool.h"

#define MOST 8

static struct crew *crew;
static uint64_t seed = 1;

/* What is called, in one sequence over all trials of a run. */
struct log {
	struct {
		unsigned int trial, kept; /* kept: samples of the trial at that time */
	} entry[4096];
	unsigned int count;
};

struct fake {
	struct trial *trial;
	struct log *log;
	unsigned int index, rounds;
	unsigned int ready, work, check;	/* calls so far */
	unsigned int fail_work, fail_check, fail_ready;	/* at that call; 0: never */
	unsigned int before_first;	/* tries before a sample was kept */
	unsigned int open;		/* of ready, work, check: which is next */
	bool out_of_order;
};

static unsigned int kept(const struct fake *f)
{
	unsigned int i, sum = 0;

	for (i = 0; i < f->rounds; i++)
		sum += f->trial->samples[i].loops != 0;
	return sum;
}

static int fake_ready(void *arg, unsigned int member)
{
	struct fake *f = arg;

	(void)member;
	f->out_of_order |= f->open != 0;
	f->open = 1;
	f->before_first += !kept(f);
	return ++f->ready == f->fail_ready ? TOOL_FAILED : TOOL_OK;
}

static int fake_work(void *arg, unsigned int member)
{
	struct fake *f = arg;
	struct log *log = f->log;

	(void)member;
	f->out_of_order |= f->open != 1;
	f->open = 2;
	if (log->count < LENGTH(log->entry)) {
		log->entry[log->count].trial = f->index;
		log->entry[log->count++].kept = kept(f);
	}
	return ++f->work == f->fail_work ? TOOL_UNSUPPORTED : TOOL_OK;
}

static int fake_check(void *arg, unsigned int member)
{
	struct fake *f = arg;

	(void)member;
	f->out_of_order |= f->open != 2;
	f->open = 0;
	if (++f->check == f->fail_check)
		return fail(TOOL_FAILED, "planted");
	return TOOL_OK;
}

struct run {
	struct measure m;
	struct trial trials[MOST];
	struct fake fakes[MOST];
	struct log log;
};

/* min_ns of 1: a try is one loop. */
static struct run *run_new(unsigned int count, unsigned int rounds)
{
	struct run *r = calloc(1, sizeof(*r));
	unsigned int i;

	if (!r)
		abort();
	r->m = (struct measure){
		.trials = r->trials, .count = count, .crew = crew, .rounds = rounds, .min_ns = 1,
		.seed = seed,
	};
	for (i = 0; i < count; i++) {
		r->fakes[i] = (struct fake){
			.trial = &r->trials[i], .log = &r->log, .index = i, .rounds = rounds,
		};
		r->trials[i] = (struct trial){
			.name = "fake", .ready = fake_ready, .work = fake_work, .check = fake_check,
			.arg = &r->fakes[i], .bytes = 1000 + i,
		};
	}
	return r;
}

static void run_free(struct run *r)
{
	measure_free(&r->m);
	free(r);
}

static unsigned int rejected(const struct run *r, unsigned int trial)
{
	unsigned int i, sum = 0;

	for (i = 0; i < r->m.rounds; i++)
		sum += r->trials[trial].samples[i].rejected;
	return sum;
}

static void test_rounds(void)
{
	enum { COUNT = 5, ROUNDS = 8 };
	struct run *r = run_new(COUNT, ROUNDS);
	bool calls = true, paired = true, filled = true, order = true, thrown = true;
	unsigned int i, k, all = 0, kinds = 0;

	tap_ok(measure_run(&r->m) == TOOL_OK, "%d trials, %d rounds", COUNT, ROUNDS);
	for (i = 0; i < COUNT; i++) {
		const struct fake *f = &r->fakes[i];
		const struct sample *s = r->trials[i].samples;
		unsigned int tries = ROUNDS + 1 + rejected(r, i);

		/* Rejected tries of the round that is thrown away are not told: two at most. */
		calls = calls && f->work >= tries && f->work <= tries + 2;
		paired = paired && f->ready == f->work && f->check == f->work;
		order = order && !f->out_of_order && f->open == 0;
		/* One more try than the first sample needed: that was the discarded round. */
		thrown = thrown && f->before_first > s[0].rejected + 1;
		for (k = 0; k < ROUNDS; k++)
			filled = filled && s[k].loops == 1 && s[k].bytes == 1000 + i && s[k].ns > 0;
		all += rejected(r, i);
	}
	tap_ok(calls, "each is called once a round and once more, and for each try thrown away");
	tap_ok(thrown, "the first round is not among the samples");
	tap_ok(paired && order, "ready, work, check: in turn, once each");
	tap_ok(filled, "every sample has its bytes, loops and ns");
	tap_ok(r->m.taken == COUNT * ROUNDS, "samples kept: %u", r->m.taken);
	for (k = 0; k < NOISE_KINDS; k++) {
		paired = paired && r->m.rejected[k] <= all;
		kinds += r->m.rejected[k];
	}
	tap_ok(paired && kinds >= all, "each try thrown away (%u) has a reason", all);
	run_free(r);
}

/* The trials in order of round `kept`, repeated tries as one; false if not each once. */
static bool round_order(const struct run *r, unsigned int round, unsigned int *order)
{
	unsigned int i, n = 0, seen = 0;

	for (i = 0; i < r->log.count; i++) {
		unsigned int t = r->log.entry[i].trial;

		if (r->log.entry[i].kept != round || (n && order[n - 1] == t))
			continue;
		if (n == r->m.count || seen & 1u << t)
			return false;
		seen |= 1u << t;
		order[n++] = t;
	}
	return n == r->m.count;
}

static void test_order(void)
{
	enum { COUNT = 5, ROUNDS = 8 };
	struct run *a = run_new(COUNT, ROUNDS), *b = run_new(COUNT, ROUNDS), *c = run_new(COUNT, ROUNDS);
	unsigned int x[MOST] = { 0 }, y[MOST] = { 0 }, z[MOST] = { 0 }, first[MOST] = { 0 };
	unsigned int round, changed = 0, other = 0;
	bool whole = true, same = true;

	c->m.seed = seed + 1;
	measure_run(&a->m);
	measure_run(&b->m);
	measure_run(&c->m);
	/* Tries of round 0 and 1 cannot be told apart by what is kept: from the second on. */
	for (round = 1; round < ROUNDS; round++) {
		whole = whole && round_order(a, round, x) && round_order(b, round, y) &&
			round_order(c, round, z);
		same = same && !memcmp(x, y, sizeof(x));
		other += memcmp(x, z, sizeof(x)) != 0;
		if (round == 1)
			memcpy(first, x, sizeof(x));
		changed += memcmp(first, x, sizeof(x)) != 0;
	}
	tap_ok(whole, "interleaved: a round has each trial once");
	tap_ok(changed > 0, "rounds differ in their order");
	tap_ok(same, "a seed gives the same orders again");
	tap_ok(other > 0, "another seed gives others");
	run_free(a);
	run_free(b);
	run_free(c);
}

/* Work of nearly no time is repeated until there is enough of it. */
static void test_min_time(void)
{
	struct run *r = run_new(1, 3);
	bool enough = true;
	unsigned int i;
	double *rates;

	r->m.min_ns = 300000;
	tap_ok(measure_run(&r->m) == TOOL_OK, "a least time");
	rates = measure_rates(&r->m, &r->trials[0]);
	for (i = 0; i < 3; i++) {
		const struct sample *s = &r->trials[0].samples[i];

		enough = enough && s->ns >= 300000 && s->loops && s->bytes == 1000ull * s->loops &&
			 rates[i] > 0 && rates[i] <= 1000.0 * s->loops / 300e-6;
	}
	tap_ok(enough, "each sample lasted that long; its bytes are those of all its loops");
	free(rates);
	run_free(r);
}

static void test_budget(void)
{
	struct run *r = run_new(2, 50);

	r->m.budget_ns = 1;
	tap_ok(measure_run(&r->m) == TOOL_OK && r->m.rounds == 6 && r->m.taken == 12,
	       "time is up: six rounds all the same, for the interval");
	run_free(r);
}

/* Nothing is called after the one that failed, in this trial or another. */
static void test_failure(const char *what, unsigned int at, size_t field, int expected)
{
	struct run *r = run_new(3, 10);
	unsigned int *fail_at = (unsigned int *)(void *)((char *)&r->fakes[1] + field);
	unsigned int calls;
	const struct fake *f = &r->fakes[1];
	bool last;
	int err;

	*fail_at = at;
	listen_begin();
	err = measure_run(&r->m);
	listen_end();
	calls = f->fail_ready ? f->ready : f->fail_work ? f->work : f->check;
	last = r->log.count && (f->fail_ready || r->log.entry[r->log.count - 1].trial == 1);
	tap_ok(err == expected && calls == at && last && !r->fakes[0].open && !r->fakes[2].open,
	       "%s fails at call %u: the run ends there with its code", what, at);
	if (f->fail_check)
		tap_ok(one_line(heard_text, "planted"), "%s fails at call %u: one line", what, at);
	run_free(r);
}

/* ---- the real trials, sabotaged ---------------------------------------------- */

#define SIZE ((size_t)1 << 20)

static struct region region;
static int (*honest)(void *arg, unsigned int member);
static size_t spoilt; /* byte that the planted variant leaves */
static unsigned int works, spoil_at;

static int spoil(void *arg, unsigned int member)
{
	int err = honest(arg, member);

	if (++works == spoil_at)
		region.base[spoilt] = 1;
	return err;
}

static int idle(void *arg, unsigned int member)
{
	(void)arg;
	(void)member;
	return TOOL_OK;
}

/* A run of one trial; what it said is in heard_text. */
static int run_one(struct trial *t)
{
	struct measure m = { .trials = t, .count = 1, .crew = crew, .rounds = 3, .min_ns = 1,
			     .seed = seed };
	int err;

	works = 0;
	listen_begin();
	err = measure_run(&m);
	listen_end();
	measure_free(&m);
	region_unmap(&region);
	return err;
}

static void test_planted_clear(void)
{
	static const size_t places[] = { 0, 63, 64, 4095, 4096, SIZE / 2 + 1, SIZE - 1 };
	struct bench b = { .size = SIZE, .page = 4096, .kind = REGION_SMALL, .threads = 1, .seed = 1 };
	struct clear_trial c = { .bench = &b, .region = &region, .chunk = 65536 };
	char said[64];
	struct trial t;
	size_t i;

	if (!tap_ok(!bench_add_policies(&b, "oneshot,far=stosb,near=stosb"), "a policy"))
		return;
	c.policy = &b.policies[0];
	clear_trial(&c, &t);
	honest = t.work;
	tap_ok(run_one(&t) == TOOL_OK && !*heard_text, "a sound variant passes");
	t.work = spoil;
	for (i = 0; i < LENGTH(places); i++) {
		spoilt = places[i];
		spoil_at = 1 + (unsigned int)i % 3;
		snprintf(said, sizeof(said), "left byte %zu of", spoilt);
		tap_ok(run_one(&t) == TOOL_FAILED && one_line(heard_text, said) &&
		       one_line(heard_text, "oneshot,far=stosb,near=stosb") && works == spoil_at,
		       "planted: a variant that leaves byte %zu at call %u is caught", spoilt, spoil_at);
	}
	t.work = idle;
	tap_ok(run_one(&t) == TOOL_FAILED && one_line(heard_text, "left byte 0 of"),
	       "planted: a variant that does nothing is caught");
	bench_free(&b);
}

static void test_planted_fault(void)
{
	unsigned int cpu = crew_cpus(crew)[0];
	struct bench b = { .size = SIZE, .page = 4096, .kind = REGION_SMALL, .threads = 1, .seed = 1,
			   .cpus = &cpu, .cpu_count = 1 };
	struct fault_trial f = { .bench = &b, .regions = &region };
	struct trial t;
	unsigned int path;

	/* The pool's paths have tests of their own, with huge pages. */
	for (path = 0; path < PATHS && !bench_is_pool((enum path)path); path++) {
		f.path = (enum path)path;
		fault_trial(&f, &t);
		honest = t.work;
		tap_ok(run_one(&t) == TOOL_OK && !*heard_text, "%s: the kernel's pages pass",
		       path_names[path]);
		t.work = spoil;
		spoil_at = 2;
		spoilt = SIZE - 1;
		tap_ok(run_one(&t) == TOOL_FAILED && one_line(heard_text, "not zero") && works == 2,
		       "%s: planted: a page that is not zero is caught", path_names[path]);
	}
	f.path = PATH_DEMAND;
	fault_trial(&f, &t);
	t.work = idle;
	tap_ok(run_one(&t) == TOOL_FAILED && one_line(heard_text, "page 0"),
	       "planted: a loop that touches nothing is caught");
}

/* Each page once, whatever the order; and random is not one of the others. */
static void test_walk(void)
{
	static const size_t counts[] = { 1, 2, 3, 7, 64, 1000, 4097 };
	struct bench b = { .seed = 7 };
	size_t k, i, in_order;

	for (k = 0; k < 3 * sizeof(counts) / sizeof(*counts); k++) {
		size_t count = counts[k / 3], seen = 0;
		char *was = calloc(count, 1);

		b.walk = (enum walk)(k % 3);
		for (i = 0, in_order = 0; i < count; i++) {
			size_t page = bench_walk(&b, i, count);

			seen += page < count && !was[page]++;
			in_order += i && page == bench_walk(&b, i - 1, count) + 1;
		}
		tap_ok(seen == count && (b.walk == WALK_FORWARD ? in_order == count - 1 :
					 b.walk == WALK_REVERSE ? !in_order :
					 in_order < 3 + count / 16),
		       "walk %s: %zu pages, each once, %zu right after the one below it",
		       walk_names[b.walk], count, in_order);
		free(was);
	}
}

int main(void)
{
	const char *text = getenv("SEED");
	unsigned int cpu;

	if (!some_cpus(&cpu, 1) || crew_new(&cpu, 1, false, &crew)) {
		printf("Bail out! no crew\n");
		return 1;
	}
	seed = text ? strtoull(text, NULL, 0) : 1;
	tap_note("seed %llu", (unsigned long long)seed);
	test_rounds();
	test_order();
	test_min_time();
	test_budget();
	test_failure("check", 1, offsetof(struct fake, fail_check), TOOL_FAILED);
	test_failure("check", 4, offsetof(struct fake, fail_check), TOOL_FAILED);
	test_failure("work", 3, offsetof(struct fake, fail_work), TOOL_UNSUPPORTED);
	test_failure("ready", 3, offsetof(struct fake, fail_ready), TOOL_FAILED);
	test_walk();
	test_planted_clear();
	test_planted_fault();
	crew_free(crew);
	return tap_done();
}
