/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads that share out the parts of a range. Each node has a queue of the
 * parts that lie on it, one more holds those that lie nowhere yet; a queue is
 * an atomic counter that goes up. A thread empties its own node's queue, then
 * that of nowhere, then steals: memory bandwidth is per node, so that a node
 * left idle costs more than a remote write.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "api.h"
#include "nodes.h"
#include "workers.h"

/* Parts begin at multiples of this where step allows: no huge page has two owners. */
#define GRID ((uintptr_t)2 << 20)

/*
 * Populating 512 MiB by two threads, the second one ended 2.8 ms of 51 after the
 * first with 8 parts each. Longer than STEP_MOST gains nothing.
 */
#define PARTS_EACH 64
#define STEP_MOST ((size_t)32 << 20)

struct queue {
	_Alignas(64) atomic_size_t next;
	size_t end;
	unsigned int crowd;	/* threads whose own queue this is */
};

struct team {
	const struct workers_job *job;
	const struct nodes *nodes;
	uintptr_t origin;	/* where part 0 would begin if it were whole */
	size_t parts;
	size_t *order;		/* slot of a queue to part; NULL: the same */
	struct queue *queue;	/* by node; the last one for nowhere if there are several */
	unsigned int queues;
	struct queue only;	/* the queue where there is one */
	atomic_int stop;	/* 0, or the error that stopped it all */
	pthread_mutex_t lock;	/* the rest, not held while job->done runs */
	uint64_t done, told;
	bool telling;		/* some thread is in job->done */
};

struct member {
	struct team *team;
	unsigned int home;
	pthread_t thread;
};

/* ---- parts ---------------------------------------------------------------- */

static char *part_begin(const struct team *t, size_t part)
{
	uintptr_t at = t->origin + part * t->job->step;

	return part ? (char *)at : t->job->addr;
}

static char *part_end(const struct team *t, size_t part)
{
	return part + 1 < t->parts ? part_begin(t, part + 1) : t->job->addr + t->job->len;
}

size_t workers_step(size_t len, size_t unit, unsigned int threads)
{
	size_t step = len / threads / PARTS_EACH;

	if (step > STEP_MOST)
		step = STEP_MOST;
	return step > unit ? step - step % unit : unit;
}

static bool pop(struct queue *q, size_t *slot)
{
	if (atomic_load_explicit(&q->next, memory_order_relaxed) >= q->end)
		return false;
	*slot = atomic_fetch_add_explicit(&q->next, 1, memory_order_relaxed);
	return *slot < q->end;
}

static bool take(struct team *t, unsigned int home, size_t *part)
{
	bool got = pop(&t->queue[home], part) || pop(&t->queue[t->queues - 1], part);
	unsigned int i;

	for (i = 1; i < t->queues && !got; i++)
		got = pop(&t->queue[(home + i) % t->queues], part);
	if (got && t->order)
		*part = t->order[*part];
	return got;
}

static void stop(struct team *t, int err)
{
	if (err && !t->stop)
		t->stop = err;
}

/*
 * The lock is held before and after, not while the caller's code runs: the others
 * go on meanwhile, and what they do then is told in one call.
 */
static void tell(struct team *t)
{
	const struct workers_job *job = t->job;

	if (!job->done || t->telling)
		return;
	t->telling = true;
	while (t->told < t->done && !t->stop) {
		uint64_t now = t->told = t->done;
		bool enough;

		pthread_mutex_unlock(&t->lock);
		enough = job->done(job->done_arg, now, job->len);
		pthread_mutex_lock(&t->lock);
		stop(t, enough ? -ECANCELED : 0);
	}
	t->telling = false;
}

static void finish(struct team *t, size_t len, int err)
{
	pthread_mutex_lock(&t->lock);
	t->done += len;
	stop(t, err);
	tell(t);
	pthread_mutex_unlock(&t->lock);
}

static void work(struct team *t, unsigned int home)
{
	size_t part;

	while (!t->stop && take(t, home, &part)) {
		char *from = part_begin(t, part);
		size_t len = (size_t)(part_end(t, part) - from);

		finish(t, len, t->job->part(t->job->arg, from, len));
	}
}

/* ---- the team ------------------------------------------------------------- */

/* The queue of a part: its node's, if a cpu of ours is there, or that of nowhere. */
static unsigned int queue_of(const struct team *t, size_t part)
{
	int home = t->nodes->home[part];

	return home == NODES_ANYWHERE || !t->nodes->cpus[home].count ? t->nodes->count
								     : (unsigned int)home;
}

/* A counting sort of the parts by queue, each queue upwards. */
static bool sort_parts(struct team *t)
{
	unsigned int q;
	size_t part, slot = 0;

	t->queues = t->nodes->count + 1;
	t->queue = aligned_alloc(_Alignof(struct queue), t->queues * sizeof(*t->queue));
	t->order = calloc(t->parts, sizeof(*t->order));
	if (!t->queue || !t->order)
		return false;
	for (q = 0; q < t->queues; q++)
		t->queue[q] = (struct queue){ .end = 0 };
	for (part = 0; part < t->parts; part++)
		t->queue[queue_of(t, part)].end++;
	for (q = 0; q < t->queues; q++) {
		size_t length = t->queue[q].end;

		t->queue[q].next = t->queue[q].end = slot;
		slot += length;
	}
	for (part = 0; part < t->parts; part++)
		t->order[t->queue[queue_of(t, part)].end++] = part;
	return true;
}

static void one_queue(struct team *t)
{
	free(t->order);
	t->order = NULL;
	if (t->queue != &t->only)
		free(t->queue);
	t->queue = &t->only;
	t->queue->end = t->parts;
	t->queues = 1;
}

static void team_init(struct team *t, const struct workers_job *job)
{
	uintptr_t addr = (uintptr_t)job->addr;

	*t = (struct team){ .job = job };
	t->origin = addr - addr % (job->step < GRID ? job->step : GRID);
	if (job->len)
		t->parts = (addr + job->len - t->origin - 1) / job->step + 1;
	pthread_mutex_init(&t->lock, NULL);
}

static void team_end(struct team *t)
{
	pthread_mutex_destroy(&t->lock);
	free(t->order);
	if (t->queue != &t->only)
		free(t->queue);
}

/* ---- threads -------------------------------------------------------------- */

/*
 * The node that a thread more would have the most parts on, counting its share
 * of those that are nowhere; nodes with a cpu to spare first. Nobody is at home
 * in the queue of nowhere.
 */
static unsigned int next_home(struct team *t)
{
	const struct queue *nowhere = &t->queue[t->queues - 1];
	unsigned int q, best = t->queues;
	double most = -1;

	for (q = 0; t->queues > 1 && q < t->nodes->count; q++) {
		const struct queue *at = &t->queue[q];
		unsigned int cpus = t->nodes->cpus[q].count;
		double share = (double)(at->end - at->next) +
			       (double)(nowhere->end - nowhere->next) / t->nodes->count;

		share = at->crowd < cpus ? 1 + share / (at->crowd + 1)
					 : 1 / (1.0 + at->crowd);
		if (cpus && share > most) {
			most = share;
			best = q;
		}
	}
	if (best == t->queues)
		best = 0;
	t->queue[best].crowd++;
	return best;
}

/* A thread that is not ours: at home where it happens to run. */
static void guest_main(void *arg)
{
	struct team *t = arg;

	work(t, t->queues > 1 ? nodes_here(t->nodes) : 0);
}

static void *member_main(void *arg)
{
	struct member *m = arg;

	work(m->team, m->home);
	return NULL;
}

/* Bound to the cpus of its node, if there are several nodes. */
static int member_start(struct member *m)
{
	const struct nodes *n = m->team->nodes;
	pthread_attr_t attr;
	int err;

	if (m->team->queues > 1 && n->cpus[m->home].count && !pthread_attr_init(&attr)) {
		const struct list *cpus = &n->cpus[m->home];

		err = pthread_attr_setaffinity_np(&attr, sizeof(cpus->bits),
						  (const cpu_set_t *)cpus->bits);
		if (!err)
			err = pthread_create(&m->thread, &attr, member_main, m);
		pthread_attr_destroy(&attr);
		if (!err)
			return 0;
	}
	return pthread_create(&m->thread, NULL, member_main, m);
}

/*
 * The program's signals are none of these threads' business; those of a fault
 * are, because its handler may be what makes the memory come into being.
 */
void workers_block_signals(sigset_t *before)
{
	static const int faults[] = { SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGSYS };
	sigset_t block;
	size_t i;

	sigfillset(&block);
	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&block, faults[i]);
	pthread_sigmask(SIG_SETMASK, &block, before);
}

/*
 * Start up to `most` threads; fewer if that is all the system has to give.
 * Homes are given out before the first of them begins to empty the queues.
 */
static unsigned int start(struct team *t, struct member *member, unsigned int most)
{
	unsigned int count;
	sigset_t before;

	for (count = 0; count < most; count++)
		member[count] = (struct member){ .team = t, .home = next_home(t) };
	workers_block_signals(&before);
	for (count = 0; count < most; count++)
		if (member_start(&member[count]))
			break;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return count;
}

static int run_on(const struct workers_job *job, const struct nodes *nodes,
		  const struct workers_with *with)
{
	struct member *member = NULL;
	unsigned int count = 0, most, i;
	struct team t;
	int cancel, err;

	team_init(&t, job);
	t.nodes = nodes;
	if (nodes->count < 2 || !sort_parts(&t))
		one_queue(&t);
	most = job->threads < t.parts ? job->threads : (unsigned int)t.parts;
	i = t.queues > 1 ? nodes_here(nodes) : 0;
	t.queue[i].crowd++;

	/* pthread_join() is a cancellation point, and the team is on this stack. */
	cancel = api_cancel_off();
	if (with->run)
		with->run(with->run_arg, guest_main, &t, most);
	else if (most > 1)
		member = calloc(most - 1, sizeof(*member));
	if (member)
		count = start(&t, member, most - 1);
	work(&t, i);
	for (i = 0; i < count; i++)
		pthread_join(member[i].thread, NULL);
	api_cancel_as(cancel);
	free(member);
	err = t.stop;
	team_end(&t);
	return err;
}

/* Parts that are not there yet: where will they be? */
static void ask_homes(const struct workers_job *job, const struct workers_with *with,
		      struct nodes *nodes, char **first, size_t parts)
{
	size_t i;

	for (i = 0; i < parts; i++) {
		if (nodes->home[i] == NODES_ANYWHERE)
			nodes->home[i] = with->home(job->arg, first[i]);
		if (nodes->home[i] >= (int)nodes->count)
			nodes->home[i] = NODES_ANYWHERE;
	}
}

int workers_run_with(const struct workers_job *job, const struct workers_with *with)
{
	struct nodes nodes = { .count = 1 };
	char **first = NULL;
	struct team t;
	size_t i;
	int err;

	team_init(&t, job);
	if (job->threads > 1 && nodes_many())
		first = calloc(t.parts, sizeof(*first));
	for (i = 0; first && i < t.parts; i++)
		first[i] = part_begin(&t, i);
	if (first)
		nodes_find(&nodes, first, t.parts);
	if (with->home && nodes.count > 1)
		ask_homes(job, with, &nodes, first, t.parts);
	free(first);
	team_end(&t);
	err = run_on(job, &nodes, with);
	nodes_free(&nodes);
	return err;
}

int workers_run(const struct workers_job *job)
{
	return workers_run_with(job, &(const struct workers_with){ .run = NULL });
}

int workers_run_on(const struct workers_job *job, const struct nodes *nodes)
{
	return run_on(job, nodes, &(const struct workers_with){ .run = NULL });
}
