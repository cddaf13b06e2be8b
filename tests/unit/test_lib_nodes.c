// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way that machines with several nodes take, on one that has one. In the
 * first half the nodes are made up altogether. For the second libnuma's
 * numa_max_node() is replaced to claim another node, without cpus or memory;
 * where pages lie is asked of the real kernel.
 */
#include <numa.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "../../include/clearpages.h"
#include "../../lib/nodes.h"
#include "test_lib_work.h"

/* ---- nodes that are made up ----------------------------------------------- */

/* Two nodes with all our cpus each: nobody is bound to where it can't run. */
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

/* Both nodes have the caller's cpu, so it is at home on node 0 and begins there. */
static void test_own_node_first(void)
{
	static const int home[] = { 1, 0, NODES_ANYWHERE, 1, 0, NODES_ANYWHERE, 0, 1 };
	static const size_t order[] = { 1, 4, 6, 2, 5, 0, 3, 7 };
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

static void test_shapes(void)
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
	tap_ok(!memcmp(before.bits, after.bits, sizeof(after.bits)),
	       "the caller's affinity is as it was");
	nodes_free(&n);
	pthread_barrier_destroy(&both);
}

/* ---- a second node that is claimed ---------------------------------------- */

#define STEP ((size_t)32 << 20)
#define PARTS 4

static bool forbidden;	/* as a container's seccomp filter may have it */

int numa_max_node(void)
{
	return 1;
}

int numa_move_pages(int pid, unsigned long count, void **pages, const int *nodes, int *status,
		    int flags)
{
	if (forbidden) {
		errno = EPERM;
		return -1;
	}
	return (int)syscall(SYS_move_pages, pid, count, pages, nodes, status, flags);
}

static void test_find(char *mem)
{
	char *first[PARTS];
	struct nodes n;
	unsigned int i;

	for (i = 0; i < PARTS; i++)
		first[i] = mem + i * STEP + 123;
	/* Part 2 is there, 0 is the page of zeros that reading gives, the others are not. */
	first[2][0] = 1;
	(void)*(volatile char *)first[0];
	nodes_find(&n, first, PARTS);
	tap_ok(n.count == 2 && n.home && n.home[2] == 0, "a page lies on node %d",
	       n.home ? n.home[2] : -2);
	tap_ok(n.home && n.home[1] == NODES_ANYWHERE && n.home[3] == NODES_ANYWHERE,
	       "what is not there lies nowhere");
	tap_ok(n.cpus && n.cpus[0].count && !n.cpus[1].count, "all our cpus are on node 0");
	tap_ok(!nodes_here(&n), "so are we");
	nodes_free(&n);
	tap_ok(n.count == 1 && !n.home && !n.cpus, "freed: as on a machine with one node");
	forbidden = true;
	nodes_find(&n, first, PARTS);
	tap_ok(n.count == 1 && !n.home && !n.cpus, "move_pages is forbidden: as with one node");
	nodes_free(&n);
	forbidden = false;
}

static void test_zero(char *mem)
{
	struct clearpages_parallel_opts o = { .size = sizeof(o), .threads = 3 };
	int err, round;
	size_t i;

	/* The second time without knowing where anything lies. */
	for (round = 0; round < 2; round++) {
		memset(mem, 0x5a, PARTS * STEP);
		forbidden = round == 1;
		err = clearpages_zero_parallel(mem + 1, PARTS * STEP - 2, NULL, &o);
		for (i = 1; i < PARTS * STEP - 1 && !mem[i]; i++)
			;
		tap_ok(!err && i == PARTS * STEP - 1 && mem[0] == 0x5a && mem[i] == 0x5a,
		       "zero_parallel: %d, zero up to byte %zu", err, i);
	}
}

int main(void)
{
	char *mem;

	test_own_node_first();
	test_two_at_home();
	test_shapes();
	test_binding();
	if (numa_available() < 0) {
		tap_skip("several nodes", "this kernel knows nothing of nodes");
		return tap_done();
	}
	mem = mmap(NULL, PARTS * STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		die("mmap", "");
	test_find(mem);
	test_zero(mem);
	munmap(mem, PARTS * STEP);
	return tap_done();
}
