/* SPDX-License-Identifier: GPL-2.0-only */
#include "crew.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

struct member {
	struct crew *crew;
	pthread_t thread;
	unsigned int index;
	int counter;		/* perf event, or -1 */
	int schedstat;		/* its own /proc file, or -1 */
	int result;
	uint64_t from_ns, to_ns, delay_ns, cycles;
	bool counted;		/* cycles are all that there were */
};

struct crew {
	struct member *members;
	unsigned int *cpus;
	unsigned int count;	/* members that run */
	unsigned int waiting;	/* of the job at hand, not done yet; at first, not born yet */
	int count_error;	/* why a member has no counter, or 0 */
	unsigned long job;	/* counts up: a new number is a new job */
	bool ending, cycles;
	pthread_mutex_t lock;
	pthread_cond_t begin, done;
	atomic_uint ready;	/* members at the start line */
	int (*fn)(void *arg, unsigned int member);
	void *arg;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The second number: ns that this thread was runnable and did not run. */
static uint64_t run_delay(int fd)
{
	char text[96];
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	unsigned long long on_cpu, waited;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	return sscanf(text, "%llu %llu", &on_cpu, &waited) == 2 ? waited : 0;
}

static bool read_counter(int fd, struct crew_counter *c)
{
	return fd >= 0 && read(fd, c, sizeof(*c)) == (ssize_t)sizeof(*c);
}

bool crew_counted(const struct crew_counter *from, const struct crew_counter *to,
		  uint64_t *cycles)
{
	*cycles = to->value - from->value;
	return to->running_ns - from->running_ns == to->enabled_ns - from->enabled_ns;
}

/* Of the calling thread, or -1. */
static int open_counter(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int crew_can_count(void)
{
	int fd = open_counter();

	if (fd < 0)
		return fail(TOOL_UNSUPPORTED, "-c: no cycle counter on this machine (%s): leave -c "
			    "out; virtual machines rarely have one, else see "
			    "/proc/sys/kernel/perf_event_paranoid", strerror(errno));
	close(fd);
	return TOOL_OK;
}

static void do_job(struct member *m)
{
	struct crew *c = m->crew;
	uint64_t delay = run_delay(m->schedstat);
	struct crew_counter from, to;

	m->counted = read_counter(m->counter, &from);

	/*
	 * The start line: spun for, so that all leave it within a cache miss of
	 * each other; a futex would let them go one wake-up after another.
	 */
	atomic_fetch_add(&c->ready, 1);
	while (atomic_load(&c->ready) < c->count)
		sched_yield();
	m->from_ns = now_ns();
	m->result = c->fn(c->arg, m->index);
	m->to_ns = now_ns();
	m->delay_ns = run_delay(m->schedstat) - delay;
	m->cycles = 0;
	m->counted = m->counted && read_counter(m->counter, &to) &&
		     crew_counted(&from, &to, &m->cycles);
}

/* Opens what a member reads, and tells crew_new() whether it could. */
static void be_born(struct member *m)
{
	struct crew *c = m->crew;
	int err;

	m->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	if (c->cycles)
		m->counter = open_counter();
	err = c->cycles && m->counter < 0 ? errno : 0;
	pthread_mutex_lock(&c->lock);
	if (err)
		c->count_error = err;
	if (!--c->waiting)
		pthread_cond_signal(&c->done);
	pthread_mutex_unlock(&c->lock);
}

static void *live(void *arg)
{
	struct member *m = arg;
	struct crew *c = m->crew;
	unsigned long seen = 0;

	be_born(m);
	for (;;) {
		pthread_mutex_lock(&c->lock);
		while (c->job == seen && !c->ending)
			pthread_cond_wait(&c->begin, &c->lock);
		seen = c->job;
		pthread_mutex_unlock(&c->lock);
		if (c->ending)
			break;
		do_job(m);
		pthread_mutex_lock(&c->lock);
		if (!--c->waiting)
			pthread_cond_signal(&c->done);
		pthread_mutex_unlock(&c->lock);
	}
	if (m->schedstat >= 0)
		close(m->schedstat);
	if (m->counter >= 0)
		close(m->counter);
	return NULL;
}

static int start(struct crew *c, unsigned int i)
{
	unsigned int cpu = c->cpus[i];
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	pthread_attr_t attr;
	int err;

	if (!set)
		return ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	pthread_attr_init(&attr);
	err = pthread_attr_setaffinity_np(&attr, size, set);
	c->members[i] = (struct member){
		.crew = c, .index = i, .counter = -1, .schedstat = -1,
	};
	if (!err)
		err = pthread_create(&c->members[i].thread, &attr, live, &c->members[i]);
	pthread_attr_destroy(&attr);
	CPU_FREE(set);
	return err;
}

static struct crew *crew_alloc(const unsigned int *cpus, unsigned int count, bool cycles)
{
	struct crew *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->members = calloc(count, sizeof(*c->members));
	c->cpus = calloc(count, sizeof(*c->cpus));
	if (!c->members || !c->cpus) {
		free(c->members);
		free(c->cpus);
		free(c);
		return NULL;
	}
	memcpy(c->cpus, cpus, count * sizeof(*cpus));
	c->cycles = cycles;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->begin, NULL);
	pthread_cond_init(&c->done, NULL);
	return c;
}

/* All but those that were not started. Returns why one of them cannot count, or 0. */
static int wait_for_births(struct crew *c, unsigned int missing)
{
	int err;

	pthread_mutex_lock(&c->lock);
	c->waiting -= missing;
	while (c->waiting)
		pthread_cond_wait(&c->done, &c->lock);
	err = c->count_error;
	pthread_mutex_unlock(&c->lock);
	return err;
}

int crew_new(const unsigned int *cpus, unsigned int count, bool cycles, struct crew **crew)
{
	struct crew *c = crew_alloc(cpus, count, cycles);
	int err = 0, count_error;
	unsigned int i;

	if (!c)
		return fail(TOOL_FAILED, "out of memory for %u threads", count);
	c->waiting = count;
	for (i = 0; i < count && !err; i++) {
		err = start(c, i);
		c->count += !err;
	}
	count_error = wait_for_births(c, count - c->count);
	if (err)
		fail(TOOL_FAILED, "cannot start a thread on cpu %u: %s", cpus[c->count],
		     strerror(err));
	else if (count_error)
		fail(TOOL_FAILED, "-c: no cycle counter for one of %u threads (%s): leave -c out, or "
		     "see 'ulimit -n' and /proc/sys/kernel/perf_event_paranoid", count,
		     strerror(count_error));
	if (err || count_error) {
		crew_free(c);
		return TOOL_FAILED;
	}
	*crew = c;
	return TOOL_OK;
}

void crew_free(struct crew *c)
{
	unsigned int i;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->ending = true;
	pthread_cond_broadcast(&c->begin);
	pthread_mutex_unlock(&c->lock);
	for (i = 0; i < c->count; i++)
		pthread_join(c->members[i].thread, NULL);
	pthread_cond_destroy(&c->begin);
	pthread_cond_destroy(&c->done);
	pthread_mutex_destroy(&c->lock);
	free(c->members);
	free(c->cpus);
	free(c);
}

unsigned int crew_count(const struct crew *c)
{
	return c->count;
}

const unsigned int *crew_cpus(const struct crew *c)
{
	return c->cpus;
}

static void run_job(struct crew *c, int (*fn)(void *arg, unsigned int member), void *arg)
{
	pthread_mutex_lock(&c->lock);
	c->fn = fn;
	c->arg = arg;
	c->waiting = c->count;
	atomic_store(&c->ready, 0);
	c->job++;
	pthread_cond_broadcast(&c->begin);
	while (c->waiting)
		pthread_cond_wait(&c->done, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

int crew_run(struct crew *c, int (*fn)(void *arg, unsigned int member), void *arg,
	     struct crew_time *time)
{
	uint64_t from = UINT64_MAX, to = 0;
	struct crew_time t = { 0 };
	bool counted = true;
	int result = TOOL_OK;
	unsigned int i;

	run_job(c, fn, arg);
	for (i = 0; i < c->count; i++) {
		const struct member *m = &c->members[i];

		if (!result)
			result = m->result;
		from = m->from_ns < from ? m->from_ns : from;
		to = m->to_ns > to ? m->to_ns : to;
		t.delay_ns = m->delay_ns > t.delay_ns ? m->delay_ns : t.delay_ns;
		t.cycles += m->cycles;
		counted = counted && m->counted;
	}
	t.ns = to - from;
	if (!time)
		return result;
	*time = t;
	if (!result && c->cycles && !counted)
		result = fail(TOOL_FAILED, "-c: cycles were counted for a part of the time only, since "
			      "others such as perf use the counters: end them, or leave -c out");
	return result;
}

/* ---- the distance between two cpus ----------------------------------------- */

#define TRIPS 64
#define SAMPLES 31

struct pingpong {
	_Alignas(128) atomic_uint ball;
	unsigned int other;
	uint64_t ns[SAMPLES];
};

static int play(void *arg, unsigned int member)
{
	struct pingpong *p = arg;
	unsigned int i, s;

	if (member && member != p->other)
		return TOOL_OK;
	for (s = 0; s < SAMPLES; s++) {
		uint64_t from = now_ns();

		for (i = 0; i < TRIPS; i++) {
			unsigned int turn = 2 * (s * TRIPS + i) + !!member;

			while (atomic_load_explicit(&p->ball, memory_order_acquire) != turn)
				;
			atomic_store_explicit(&p->ball, turn + 1, memory_order_release);
		}
		if (!member)
			p->ns[s] = now_ns() - from;
	}
	return TOOL_OK;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

double crew_distance(struct crew *c, unsigned int other)
{
	const unsigned int middle = SAMPLES / 2;
	struct pingpong p = { .other = other };

	crew_run(c, play, &p, NULL);
	qsort(p.ns, SAMPLES, sizeof(p.ns[0]), compare);
	return (double)p.ns[middle] / TRIPS;
}
