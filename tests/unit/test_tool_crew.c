// SPDX-License-Identifier: GPL-2.0-only
/* The threads that are measured: together from one line, each on its cpu, every result heard. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "../../tools/crew.h"
#include "../../tools/tool.h"
#include "test_tool.h"

#define MOST 4

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct job {
	struct crew *crew;
	atomic_uint begun;
	unsigned int calls[MOST];
	int cpu[MOST];
	int result[MOST];
	uint64_t from_ns[MOST], to_ns[MOST];
};

/*
 * Nobody leaves before all have come: with threads that run one after another
 * this would never end. The bound only turns that into a failure.
 */
static int meet(void *arg, unsigned int member)
{
	struct job *j = arg;
	uint64_t from = now_ns();

	j->from_ns[member] = from;
	j->calls[member]++;
	j->cpu[member] = sched_getcpu();
	atomic_fetch_add(&j->begun, 1);
	while (atomic_load(&j->begun) < crew_count(j->crew)) {
		if (now_ns() - from > 60000000000u)
			return -1;
		sched_yield();
	}
	j->to_ns[member] = now_ns();
	return j->result[member];
}

static void test_together(struct crew *crew, const unsigned int *cpus, unsigned int count)
{
	struct job j = { .crew = crew };
	uint64_t from = UINT64_MAX, to = 0, before = now_ns(), after;
	struct crew_time time = { 0 };
	bool once = true, pinned = true;
	unsigned int i;
	int result = crew_run(crew, meet, &j, &time);

	after = now_ns();
	for (i = 0; i < count; i++) {
		once = once && j.calls[i] == 1;
		pinned = pinned && j.cpu[i] == (int)cpus[i];
		from = j.from_ns[i] < from ? j.from_ns[i] : from;
		to = j.to_ns[i] > to ? j.to_ns[i] : to;
	}
	tap_ok(!result && once, "%u members: each begins once, all before any ends", count);
	tap_ok(pinned, "%u members: each on its own cpu", count);
	tap_ok(time.ns >= to - from && time.ns <= after - before,
	       "%u members: the time is from the first start to the last end", count);
	tap_ok(time.cycles == 0, "%u members: no cycles that were not asked for", count);
}

static void test_results(struct crew *crew, unsigned int count)
{
	unsigned int i;
	bool all = true;

	for (i = 0; i < count; i++) {
		struct job j = { .crew = crew };

		j.result[i] = TOOL_UNSUPPORTED;
		all = all && crew_run(crew, meet, &j, NULL) == TOOL_UNSUPPORTED;
	}
	tap_ok(all, "%u members: the result of any of them arrives", count);
	if (count > 1) {
		struct job j = { .crew = crew, .result = { [0] = TOOL_UNSUPPORTED,
							   [1] = TOOL_FAILED } };

		tap_ok(crew_run(crew, meet, &j, NULL) == TOOL_UNSUPPORTED, "two fail: the first counts");
	}
}

static int count_up(void *arg, unsigned int member)
{
	(void)member;
	atomic_fetch_add((atomic_uint *)arg, 1);
	return TOOL_OK;
}

/* Jobs one after another: none is lost, none is done twice, none begins late. */
static void test_many(struct crew *crew, unsigned int count)
{
	atomic_uint sum = 0;
	unsigned int i;
	bool exact = true;

	for (i = 1; i <= 2000; i++) {
		crew_run(crew, count_up, &sum, NULL);
		exact = exact && atomic_load(&sum) == i * count;
	}
	tap_ok(exact, "%u members: 2000 jobs, each done by each when crew_run() returns", count);
}

/* ---- the start line ------------------------------------------------------------ */

static atomic_bool held, hold;
static pid_t tids[MOST];

static int tell_tid(void *arg, unsigned int member)
{
	(void)arg;
	tids[member] = (pid_t)syscall(SYS_gettid);
	return TOOL_OK;
}

/* Keeps the thread that it interrupts for as long as `hold` says. */
static void on_hold(int number)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	(void)number;
	atomic_store(&held, true);
	while (atomic_load(&hold))
		nanosleep(&pause, NULL);
}

/* ns that a thread has been on a cpu. */
static unsigned long long on_cpu(pid_t tid)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", (int)tid);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%20llu", &ns) != 1)
		ns = 0;
	if (f)
		fclose(f);
	return ns;
}

struct late {
	struct crew *crew;
	atomic_uint begun;
};

static void *run_late(void *arg)
{
	struct late *l = arg;

	crew_run(l->crew, count_up, &l->begun, NULL);
	return NULL;
}

/*
 * The last member is kept from coming: none may begin meanwhile. That the
 * first one has come and waits at the line is seen by the time it burns there.
 */
static void test_line(const unsigned int *cpus, unsigned int count)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct sigaction act = { .sa_handler = on_hold };
	struct late late = { .begun = 0 };
	unsigned long long from;
	unsigned int early, i;
	pthread_t thread;

	if (!tap_ok(crew_new(cpus, count, false, &late.crew) == TOOL_OK, "a crew of %u", count))
		return;
	crew_run(late.crew, tell_tid, NULL, NULL);
	from = on_cpu(tids[0]);
	if (!from) {
		crew_free(late.crew);
		tap_skip("nobody begins before the last has come", "this kernel has no schedstat");
		return;
	}
	atomic_store(&hold, true);
	sigaction(SIGUSR1, &act, NULL);
	syscall(SYS_tgkill, getpid(), tids[count - 1], SIGUSR1);
	while (!atomic_load(&held))
		nanosleep(&pause, NULL);
	pthread_create(&thread, NULL, run_late, &late);
	for (i = 0; i < 60000 && !atomic_load(&late.begun) && on_cpu(tids[0]) < from + 20000000; i++)
		nanosleep(&pause, NULL);
	early = atomic_load(&late.begun);
	tap_ok(on_cpu(tids[0]) > from && !early, "nobody begins before the last has come");
	atomic_store(&hold, false);
	pthread_join(thread, NULL);
	tap_ok(atomic_load(&late.begun) == count, "then all do");
	crew_free(late.crew);
}

static void test_crew(const unsigned int *cpus, unsigned int count)
{
	struct crew *crew = NULL;
	unsigned int i;
	bool same = true;

	if (!tap_ok(crew_new(cpus, count, false, &crew) == TOOL_OK && crew, "a crew of %u", count))
		return;
	for (i = 0; i < count; i++)
		same = same && crew_cpus(crew)[i] == cpus[i];
	tap_ok(crew_count(crew) == count && same, "%u members: it knows its cpus", count);
	test_together(crew, cpus, count);
	test_results(crew, count);
	test_many(crew, count);
	crew_free(crew);
}

static void test_distance(const unsigned int *cpus, unsigned int distinct)
{
	struct crew *crew;
	double ns;

	if (distinct < 2) {
		tap_skip("the distance of two cpus", "one cpu only");
		return;
	}
	if (!tap_ok(crew_new(cpus, 2, false, &crew) == TOOL_OK, "a crew of two cpus"))
		return;
	ns = crew_distance(crew, 1);
	tap_note("cpus %u and %u: %.0f ns there and back", cpus[0], cpus[1], ns);
	tap_ok(ns > 1, "two cpus are some way apart");
	crew_free(crew);
}

static void test_cycles(const unsigned int *cpus, unsigned int count)
{
	struct crew_time time = { 0 };
	struct crew *crew = NULL;
	atomic_uint sum = 0;
	int err;

	listen_begin();
	err = crew_can_count();
	listen_end();
	if (err) {
		tap_ok(err == TOOL_UNSUPPORTED && one_line(heard_text, "-c"),
		       "no counter: says so in one line");
		return;
	}
	if (!tap_ok(crew_new(cpus, count, true, &crew) == TOOL_OK, "a crew that counts cycles"))
		return;
	crew_run(crew, count_up, &sum, &time);
	tap_ok(time.cycles > 0, "cycles are counted");
	crew_free(crew);
}

/*
 * A reading against one before it. Where there are more events than counters each
 * is on for a part of the time: whatever it says then, it is not all.
 */
static void test_counted(void)
{
	static const struct {
		struct crew_counter from, to;
		bool all;
		uint64_t cycles;
		const char *name;
	} table[] = {
		{ { 0, 0, 0 }, { 900, 300, 300 }, true, 900, "all of the time" },
		{ { 500, 40, 40 }, { 510, 45, 45 }, true, 10, "all of the time since" },
		{ { 500, 40, 30 }, { 510, 45, 35 }, true, 10, "a part before, all of it since" },
		{ { 500, 40, 40 }, { 505, 45, 44 }, false, 5, "a part of the time" },
		{ { 500, 40, 40 }, { 500, 45, 40 }, false, 0, "none of the time" },
		{ { UINT64_MAX - 9, 1, 1 }, { 10, 2, 2 }, true, 20, "past its end" },
	};
	uint64_t cycles;
	size_t i;

	for (i = 0; i < LENGTH(table); i++)
		tap_ok(crew_counted(&table[i].from, &table[i].to, &cycles) == table[i].all &&
		       cycles == table[i].cycles, "a counter that ran %s", table[i].name);
}

/*
 * No more files can be opened, so that no member gets a counter, on any machine:
 * one line and no crew, and not one that counts 0.
 */
static void test_no_counter(const unsigned int *cpus, unsigned int count)
{
	struct rlimit before, none;
	struct crew *crew = NULL, *plain = NULL;
	char said[64];
	int err, without;

	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = 0;
	listen_begin();
	setrlimit(RLIMIT_NOFILE, &none);
	err = crew_new(cpus, count, true, &crew);
	without = crew_new(cpus, count, false, &plain);
	setrlimit(RLIMIT_NOFILE, &before);
	listen_end();
	snprintf(said, sizeof(said), "no cycle counter for one of %u threads", count);
	tap_ok(err == TOOL_FAILED && !crew && one_line(heard_text, said),
	       "%u members, none with a counter: no crew", count);
	if (tap_ok(without == TOOL_OK && plain, "%u members without counters: a crew", count))
		crew_free(plain);
}

/* A cpu that there is not: one line, and the threads that did start end. */
static void test_refused(const unsigned int *cpus)
{
	const unsigned int wrong[] = { cpus[0], 100000 };
	struct crew *crew = NULL;
	int err;

	listen_begin();
	err = crew_new(wrong, 2, false, &crew);
	listen_end();
	tap_ok(err == TOOL_FAILED && one_line(heard_text, "cpu 100000"), "a cpu that there is not");
}

int main(void)
{
	unsigned int cpus[MOST], distinct = some_cpus(cpus, MOST), n;

	for (n = 1; n <= MOST; n++)
		test_crew(cpus, n);
	test_line(cpus, distinct < 2 ? 2 : distinct);
	test_distance(cpus, distinct);
	test_cycles(cpus, distinct < 2 ? 1 : 2);
	test_counted();
	for (n = 1; n <= 2; n++)
		test_no_counter(cpus, n);
	test_refused(cpus);
	return tap_done();
}
