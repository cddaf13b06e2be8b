// SPDX-License-Identifier: GPL-2.0-only
/* Threads that share out parts: every byte once, own node first, stopping, signals, cancellation. */
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../../lib/nodes.h"
#include "../../lib/workers.h"
#include "test_lib.h"

#define M ((size_t)1 << 20)
#define MOST 64

/* No memory lies behind the addresses of these jobs: part() only writes down what it got. */
static char *const base = (char *)((uintptr_t)1 << 40);

struct log {
	pthread_mutex_t lock;
	unsigned int parts;
	struct {
		char *addr;
		size_t len;
		pthread_t thread;
	} part[MOST];
	unsigned int fail_at;	/* the call that fails, from 1; 0: none */
	unsigned int bound;	/* parts by a thread that may run on one cpu only */
	pthread_barrier_t *meet; /* where each thread waits for the others, once */
};

static __thread bool met;

/* With this every thread has a part, whatever else runs on this machine. */
static void meet(pthread_barrier_t *barrier)
{
	if (!barrier || met)
		return;
	met = true;
	pthread_barrier_wait(barrier);
}

static int write_down(void *arg, char *addr, size_t len)
{
	struct log *l = arg;
	unsigned int n;

	pthread_mutex_lock(&l->lock);
	n = l->parts++;
	if (n < MOST) {
		l->part[n].addr = addr;
		l->part[n].len = len;
		l->part[n].thread = pthread_self();
	}
	pthread_mutex_unlock(&l->lock);
	meet(l->meet);
	return n + 1 == l->fail_at ? -EIO : 0;
}

static int by_addr(const void *a, const void *b)
{
	char *const *x = a, *const *y = b;

	return (*x > *y) - (*x < *y);
}

/* Do the parts make up the range, each byte once, none longer than step? */
static bool whole(struct log *l, const struct workers_job *job)
{
	char *at = job->addr;
	unsigned int i;

	qsort(l->part, l->parts, sizeof(l->part[0]), by_addr);
	for (i = 0; i < l->parts; i++) {
		if (l->part[i].addr != at || !l->part[i].len || l->part[i].len > job->step)
			return false;
		if (i && job->step >= 2 * M && ((uintptr_t)at & (2 * M - 1)))
			return false;
		at += l->part[i].len;
	}
	return at == job->addr + job->len;
}

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
		{ 3 * M, 60 * M, 32 * M, 2 }, { 4096, 10 * 4096, 4096, 10 },
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
			if (t.calls != l.parts || t.done != cases[i].len || !t.rising)
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
		struct tally t = { .rising = true, .stop_at = 2 };
		struct workers_job job = { base, 40 * M, 2 * M, threads, write_down, &l, NULL,
					   NULL };

		err = workers_run(&job);
		tap_ok(err == -EIO && l.parts >= 3 && (threads > 1 || l.parts == 3),
		       "a part fails, %u threads: %d after %u of 20", threads, err, l.parts);
		l = (struct log){ .lock = PTHREAD_MUTEX_INITIALIZER };
		job.done = count;
		job.done_arg = &t;
		err = workers_run(&job);
		tap_ok(err == -ECANCELED && t.calls == 2 && (threads > 1 || l.parts == 2),
		       "stopped, %u threads: %d after %u calls of done", threads, err, t.calls);
	}
}

/* ---- nodes that are made up ----------------------------------------------- */

/* Two nodes with all our cpus each, so that affinity binds nobody to where it can't run. */
static void two_nodes(struct nodes *n, size_t parts, const int *home)
{
	*n = (struct nodes){ .count = 2 };
	n->home = calloc(parts, sizeof(*n->home));
	n->cpus = calloc(2, sizeof(*n->cpus));
	if (!n->home || !n->cpus)
		die("calloc", "");
	memcpy(n->home, home, parts * sizeof(*home));
	cpus_ours(&n->cpus[0]);
	n->cpus[1] = n->cpus[0];
}

/* The caller is at home on node 0, as both have its cpu: alone, it takes that node's parts first. */
static void test_own_node_first(void)
{
	static const int home[] = { 1, 0, NODES_ANYWHERE, 1, 0, NODES_ANYWHERE, 0, 1 };
	static const unsigned int order[] = { 1, 4, 6, 2, 5, 0, 3, 7 };
	struct log l = { .lock = PTHREAD_MUTEX_INITIALIZER };
	const struct workers_job job = { base, 16 * M, 2 * M, 1, write_down, &l, NULL, NULL };
	struct nodes n;
	unsigned int i;
	int err;

	two_nodes(&n, 8, home);
	err = workers_run_on(&job, &n);
	for (i = 0; i < 8 && l.part[i].addr == base + order[i] * 2 * M; i++)
		;
	tap_ok(!err && l.parts == 8 && i == 8, "own node, then nowhere, then another's: %u", i);
	tap_ok(whole(&l, &job), "... and all of it once");
	nodes_free(&n);
}

/* Two threads, a part on node 0 and seven on node 1: there is one at home on each. */
static void test_two_at_home(void)
{
	static const int home[] = { 0, 1, 1, 1, 1, 1, 1, 1 };
	struct log l = { .lock = PTHREAD_MUTEX_INITIALIZER };
	const struct workers_job job = { base, 16 * M, 2 * M, 2, write_down, &l, NULL, NULL };
	unsigned int i, wrong = 0;
	pthread_barrier_t both;
	struct nodes n;
	int err;

	pthread_barrier_init(&both, NULL, 2);
	l.meet = &both;
	met = false;
	two_nodes(&n, 8, home);
	err = workers_run_on(&job, &n);
	/* They met in their first parts, so these are the first two in the log. */
	for (i = 0; i < 2; i++)
		wrong += (l.part[i].addr == base) !=
			 !!pthread_equal(l.part[i].thread, pthread_self());
	tap_ok(!err && !wrong, "the caller had its node's part, the other one of the other's");
	tap_ok(whole(&l, &job), "... and all of it once");
	nodes_free(&n);
	pthread_barrier_destroy(&both);
}

static void test_nodes(void)
{
	static const int shapes[][8] = {
		{ 0, 0, 0, 0, 0, 0, 0, 0 },
		{ 1, 1, 1, 1, 1, 1, 1, 1 },
		{ -1, -1, -1, -1, -1, -1, -1, -1 },
		{ 1, -1, 0, 0, 1, -1, -1, 1 },
	};
	unsigned int threads, bare;
	struct nodes n;
	size_t i;

	for (i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		for (threads = 1; threads <= 12; threads++) {
			/* bare: node 1 has memory and none of our cpus; 2: neither has node 0. */
			for (bare = 0; bare <= 2; bare++) {
				struct log l = { .lock = PTHREAD_MUTEX_INITIALIZER };
				const struct workers_job job = { base, 16 * M, 2 * M, threads,
								 write_down, &l, NULL, NULL };
				int err;

				two_nodes(&n, 8, shapes[i]);
				if (bare)
					n.cpus[1] = (struct list){ 0 };
				if (bare == 2)
					n.cpus[0] = (struct list){ 0 };
				err = workers_run_on(&job, &n);
				if (err || l.parts != 8 || !whole(&l, &job))
					tap_ok(false, "shape %zu, %u threads, bare %u", i, threads,
					       bare);
				nodes_free(&n);
			}
		}
		tap_ok(true, "shape %zu of two nodes, 1..12 threads, with and without cpus", i);
	}
}

static int affinity(void *arg, char *addr, size_t len)
{
	struct log *l = arg;
	struct list ours;

	cpus_ours(&ours);
	pthread_mutex_lock(&l->lock);
	l->bound += ours.count == 1;
	pthread_mutex_unlock(&l->lock);
	return write_down(l, addr, len);
}

/* A cpu each: threads are bound to their node's, the caller stays as it is. */
static void test_binding(void)
{
	static const int home[] = { 0, 0, 0, 0, 1, 1, 1, 1 };
	struct log l = { .lock = PTHREAD_MUTEX_INITIALIZER };
	const struct workers_job job = { base, 16 * M, 2 * M, 2, affinity, &l, NULL, NULL };
	struct list before, after;
	unsigned int i, cpu = 0;
	pthread_barrier_t both;
	struct nodes n;
	int err;

	cpus_ours(&before);
	if (before.count < 2) {
		tap_skip("threads are bound to their node", "one cpu only");
		return;
	}
	pthread_barrier_init(&both, NULL, 2);
	l.meet = &both;
	met = false;
	two_nodes(&n, 8, home);
	for (i = 0; i < 2; i++, cpu++) {
		while (!list_has(&before, cpu))
			cpu++;
		n.cpus[i] = (struct list){ .count = 1 };
		n.cpus[i].bits[cpu / LIST_WORD] = 1ul << cpu % LIST_WORD;
	}
	err = workers_run_on(&job, &n);
	tap_ok(!err && l.bound >= 1 && l.bound < 8, "%u of 8 parts by a thread bound to a cpu",
	       l.bound);
	cpus_ours(&after);
	tap_ok(!memcmp(&before, &after, sizeof(after)), "the caller's affinity is as it was");
	nodes_free(&n);
	pthread_barrier_destroy(&both);
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
	int status;
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

int main(void)
{
	unsigned int before = open_files();
	struct list ours;

	cpus_ours(&ours);
	tap_ok(ours.count >= 1 && workers_cpus("") >= 1 && workers_cpus("") <= ours.count,
	       "%u of %u cpus are worth a thread here", workers_cpus(""), ours.count);
	test_ranges();
	test_stops();
	test_own_node_first();
	test_two_at_home();
	test_nodes();
	test_binding();
	test_real_nodes();
	test_signals();
	test_cancellation();
	test_no_threads();
	tap_ok(open_files() == before, "no descriptor is left open");
	return tap_done();
}
