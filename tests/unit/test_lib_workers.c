// SPDX-License-Identifier: GPL-2.0-only
/* Threads that share out parts: every byte once, stopping, signals, cancellation. */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../../lib/nodes.h"
#include "test_lib_work.h"

struct tally {
	uint64_t done;
	unsigned int calls, stop_at;
	bool rising;
};

static int count(void *arg, uint64_t done, uint64_t total)
{
	struct tally *t = arg;

	t->rising = t->rising && done > t->done && done <= total;
	t->done = done;
	return ++t->calls == t->stop_at;
}

static void test_ranges(void)
{
	static const struct {
		size_t at, len, step;
		unsigned int parts;
	} cases[] = {
		{ 0, 0, 32 * M, 0 }, { 0, 1, 32 * M, 1 }, { 0, 32 * M, 32 * M, 1 },
		{ 0, 64 * M, 32 * M, 2 }, { 0, 64 * M + 1, 32 * M, 3 },
		{ 1, 64 * M, 32 * M, 3 }, { 5000, 62 * M, 32 * M, 2 },
		{ 3 * M, 60 * M, 32 * M, 2 }, { 4096, 40960, 4096, 10 },
		{ 4095, 2, 4096, 2 }, { 5, 21, 7, 3 }, { 0, 40 * M, 2 * M, 20 },
	};
	unsigned int threads;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (threads = 0; threads <= 4; threads++) {
			struct log l = { .lock = PTHREAD_MUTEX_INITIALIZER };
			struct tally t = { .rising = true };
			const struct workers_job job = {
				base + cases[i].at, cases[i].len, cases[i].step, threads,
				write_down, &l, count, &t,
			};
			int err = workers_run(&job);

			tap_ok(!err && l.parts == cases[i].parts && whole(&l, &job),
			       "%zu bytes at %zu by %zu, %u threads: %u parts", cases[i].len,
			       cases[i].at, cases[i].step, threads, l.parts);
			if ((threads < 2 ? t.calls != l.parts : t.calls > l.parts) || t.done != cases[i].len || !t.rising)
				tap_ok(false, "%u calls of done, %llu", t.calls,
				       (unsigned long long)t.done);
		}
	}
}

/* How many parts other threads get done meanwhile is for the scheduler to say. */
static void test_stops(void)
{
	unsigned int threads;
	int err;

	for (threads = 1; threads <= 4; threads++) {
		struct log l = { .lock = PTHREAD_MUTEX_INITIALIZER, .fail_at = 3 };
		/* The first call may be the only one: it takes along what was done meanwhile. */
		struct tally t = { .rising = true, .stop_at = threads > 1 ? 1 : 2 };
		struct workers_job job = { base, 40 * M, 2 * M, threads, write_down, &l, NULL,
					   NULL };

		err = workers_run(&job);
		tap_ok(err == -EIO && l.parts >= 3 && (threads > 1 || l.parts == 3),
		       "a part fails, %u threads: %d after %u of 20", threads, err, l.parts);
		l = (struct log){ .lock = PTHREAD_MUTEX_INITIALIZER };
		job.done = count;
		job.done_arg = &t;
		err = workers_run(&job);
		tap_ok(err == -ECANCELED && t.calls == t.stop_at && (threads > 1 || l.parts == 2),
		       "stopped, %u threads: %d after %u calls of done", threads, err, t.calls);
	}
}

static void test_real_nodes(void)
{
	char *first[2] = { (char *)first, base };
	struct nodes n;

	nodes_find(&n, first, 2);
	if (n.count == 1)
		tap_ok(!n.home && !n.cpus && !nodes_here(&n), "one node: nothing to know");
	else
		tap_ok(n.home[0] >= 0 && n.home[1] == NODES_ANYWHERE && nodes_here(&n) < n.count,
		       "%u nodes: the stack lies on %d", n.count, n.home[0]);
	nodes_free(&n);
}

/* ---- the program around it ------------------------------------------------ */

struct masks {
	pthread_t caller;
	unsigned int wrong, others;
	pthread_barrier_t all;
};

static int look_at_mask(void *arg, char *addr, size_t len)
{
	struct masks *m = arg;
	sigset_t set;

	(void)addr, (void)len;
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	if (!pthread_equal(m->caller, pthread_self())) {
		__atomic_fetch_add(&m->others, 1, __ATOMIC_RELAXED);
		if (!sigismember(&set, SIGTERM) || !sigismember(&set, SIGRTMAX) ||
		    sigismember(&set, SIGBUS) || sigismember(&set, SIGSEGV))
			__atomic_fetch_add(&m->wrong, 1, __ATOMIC_RELAXED);
	} else if (sigismember(&set, SIGTERM)) {
		__atomic_fetch_add(&m->wrong, 1, __ATOMIC_RELAXED);
	}
	meet(&m->all);
	return 0;
}

static void test_signals(void)
{
	struct masks m = { .caller = pthread_self() };
	const struct workers_job job = { base, 40 * M, 2 * M, 3, look_at_mask, &m, NULL, NULL };
	sigset_t before, after;

	pthread_barrier_init(&m.all, NULL, 3);
	met = false;
	sigemptyset(&before);
	sigaddset(&before, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	workers_run(&job);
	pthread_barrier_destroy(&m.all);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	tap_ok(m.others >= 2 && !m.wrong, "%u parts by threads with all signals but faults blocked",
	       m.others);
	tap_ok(sigismember(&after, SIGUSR1) && !sigismember(&after, SIGTERM),
	       "the caller's mask is as it was");
}

static int slow(void *arg, char *addr, size_t len)
{
	(void)addr, (void)len;
	usleep(2000);
	__atomic_fetch_add((unsigned int *)arg, 1, __ATOMIC_RELAXED);
	return 0;
}

/* Of its own: AddressSanitizer does not clean up a frame that a thread is cancelled in. */
__attribute__((noinline))
static void run_slow(unsigned int *parts)
{
	const struct workers_job job = { base, 40 * M, 2 * M, 3, slow, parts, NULL, NULL };

	workers_run(&job);
}

static void *to_be_cancelled(void *arg)
{
	run_slow(arg);
	__atomic_store_n((unsigned int *)arg + 1, 1, __ATOMIC_RELAXED);
	pthread_testcancel();
	return NULL;
}

static void test_cancellation(void)
{
	unsigned int result[2] = { 0, 0 };
	pthread_t thread;
	void *end;

	if (pthread_create(&thread, NULL, to_be_cancelled, result))
		die("pthread_create", "");
	while (!__atomic_load_n(&result[0], __ATOMIC_RELAXED))
		usleep(100);
	pthread_cancel(thread);
	pthread_join(thread, &end);
	tap_ok(end == PTHREAD_CANCELED && result[0] == 20 && result[1] == 1,
	       "a thread that is cancelled finishes its %u parts first", result[0]);
}

/* RLIMIT_NPROC says nothing to root: become nobody, in a child. Exit 0: all by the caller. */
static void without_threads(void)
{
	struct log l = { .lock = PTHREAD_MUTEX_INITIALIZER };
	const struct workers_job job = { base, 40 * M, 2 * M, 4, write_down, &l, NULL, NULL };
	struct rlimit none = { 0, 0 };
	unsigned int i;

	if ((!geteuid() && setuid(65534)) || setrlimit(RLIMIT_NPROC, &none))
		_exit(2);
	if (workers_run(&job) || !whole(&l, &job))
		_exit(1);
	for (i = 0; i < l.parts; i++)
		if (!pthread_equal(l.part[i].thread, pthread_self()))
			_exit(3);
	_exit(0);
}

static void test_no_threads(void)
{
	const char *name = "no thread to be had: the caller does it alone";
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		without_threads();
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("fork", "");
	if (WIFEXITED(status) && WEXITSTATUS(status) >= 2)
		tap_skip(name, "RLIMIT_NPROC does not hold here");
	else
		tap_ok(!status, "%s", name);
}

/* A callback that waits for all parts: other threads must not have to wait for it. */
struct slow {
	atomic_uint parts, wanted;
	unsigned int calls;
};

static int slow_part(void *arg, char *addr, size_t len)
{
	struct slow *s = arg;

	(void)addr;
	(void)len;
	s->parts++;
	return 0;
}

static int slow_done(void *arg, uint64_t done, uint64_t total)
{
	struct slow *s = arg;

	(void)done;
	(void)total;
	s->calls++;
	while (s->parts < s->wanted)
		sched_yield();
	return 0;
}

static void test_slow_progress(void)
{
	struct slow s = { .wanted = 20 };
	struct workers_job job = { base, 40 * M, 2 * M, 2, slow_part, &s, slow_done, &s };
	int err = workers_run(&job);

	tap_ok(!err && s.parts == 20 && s.calls <= 2,
	       "done waits for all parts: the other thread does them, %u calls", s.calls);
}

/* Whole units, never more than a thread should be behind by: a 64th of its share. */
static void test_step(void)
{
	static const struct { size_t len, unit; unsigned int threads; size_t step; } t[] = {
		{ 512 << 20, 2 << 20, 2, 4 << 20 }, { 512 << 20, 2 << 20, 1, 8 << 20 },
		{ 96 << 20, 4 << 20, 2, 4 << 20 }, { 700 << 20, 2 << 20, 2, 4 << 20 },
		{ (size_t)8 << 30, 2 << 20, 2, 32 << 20 }, { (size_t)8 << 30, 1 << 30, 2, 1 << 30 },
		{ 0, 2 << 20, 1, 2 << 20 },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(*t); i++)
		tap_ok(workers_step(t[i].len, t[i].unit, t[i].threads) == t[i].step,
		       "%zu MiB by %u, pages of %zu MiB: parts of %zu MiB", t[i].len >> 20,
		       t[i].threads, t[i].unit >> 20, t[i].step >> 20);
}

int main(void)
{
	unsigned int before = open_files();
	struct list ours;

	cpus_ours(&ours);
	tap_ok(ours.count >= 1 && workers_cpus("") >= 1 && workers_cpus("") <= ours.count,
	       "%u of %u cpus are worth a thread here", workers_cpus(""), ours.count);
	test_step();
	test_ranges();
	test_stops();
	test_slow_progress();
	test_real_nodes();
	test_signals();
	test_cancellation();
	test_no_threads();
	tap_ok(open_files() == before, "no descriptor is left open");
	return tap_done();
}
