// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is only true or false where there are two nodes with memory and cpus: where pages
 * come from, whose threads fill and clean them, and what is said when one node is
 * short. `make check-qemu` runs it on a virtual machine that has two.
 */
#include <dirent.h>
#include <numaif.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "../../lib/nodes.h"
#include "../../lib/workers.h"
#include "test_live.h"

#define NODES 64
#define PAGES ((size_t)8)

static unsigned int node[2];		/* the first two with memory and cpus of ours */
static struct list cpus[2];

/* ---- the machine --------------------------------------------------------------------- */

static long pool_of(unsigned int n, long pages)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/hugepages/"
		 "hugepages-2048kB/nr_hugepages", n);
	f = fopen(path, "r+");
	if (!f)
		return -1;
	if (pages >= 0)
		fprintf(f, "%ld", pages);
	rewind(f);
	if (fscanf(f, "%ld", &pages) != 1)
		pages = -1;
	fclose(f);
	return pages;
}

static void no_pools(void)
{
	pool_of(node[0], 0);
	pool_of(node[1], 0);
}

static bool pools(long first, long second)
{
	return pool_of(node[0], first) == first && pool_of(node[1], second) == second;
}

static unsigned int find_nodes(void)
{
	char *nowhere[1] = { NULL };
	unsigned int i, count = 0;
	struct nodes n;

	nodes_find(&n, nowhere, 1);
	for (i = 0; n.cpus && i < n.count && i < NODES && count < 2; i++) {
		if (!n.cpus[i].count || pool_of(i, -1) < 0)
			continue;
		cpus[count] = n.cpus[i];
		node[count++] = i;
	}
	nodes_free(&n);
	return count;
}

static void go_to(unsigned int which)
{
	if (sched_setaffinity(0, sizeof(cpus[which].bits), (const cpu_set_t *)cpus[which].bits))
		die("sched_setaffinity", "");
}

static void go_anywhere(void)
{
	struct list both = cpus[0];
	size_t i;

	for (i = 0; i < LIST_MOST / LIST_WORD; i++)
		both.bits[i] |= cpus[1].bits[i];
	sched_setaffinity(0, sizeof(both.bits), (const cpu_set_t *)both.bits);
}

/* ---- where pages are ------------------------------------------------------------------- */

static void bind(void *at, size_t len, unsigned int which)
{
	unsigned long mask = 1ul << node[which];

	if (mbind(at, len, MPOL_BIND, &mask, NODES, 0))
		die("mbind", "");
}

/* How many of the pages lie on that node. */
static size_t on(const char *at, size_t pages, size_t page, unsigned int which)
{
	size_t i, count = 0;

	for (i = 0; i < pages; i++) {
		void *one = (void *)(uintptr_t)(at + i * page);
		int status = -1;

		if (!move_pages(0, 1, &one, NULL, &status, 0))
			count += status == (int)node[which];
	}
	return count;
}

static char *map(size_t len, int flags)
{
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED)
		die("mmap", "");
	return p;
}

/* ---- populate --------------------------------------------------------------------------- */

static void test_bound(void)
{
	struct clearpages_populate_opts o = { .size = sizeof(o), .threads = 2 };
	char *p;
	int err;

	if (!tap_ok(pools(PAGES, PAGES), "%zu huge pages on each node", PAGES))
		return;
	p = map(2 * PAGES * HUGE, MAP_HUGETLB);
	bind(p, PAGES * HUGE, 1);
	bind(p + PAGES * HUGE, PAGES * HUGE, 0);
	err = clearpages_populate(p, 2 * PAGES * HUGE, &o);
	tap_ok(!err && on(p, PAGES, HUGE, 1) == PAGES &&
	       on(p + PAGES * HUGE, PAGES, HUGE, 0) == PAGES,
	       "populate: halves bound to two nodes: %d, %zu and %zu pages there", err,
	       on(p, PAGES, HUGE, 1), on(p + PAGES * HUGE, PAGES, HUGE, 0));
	munmap(p, 2 * PAGES * HUGE);
	no_pools();
}

/* Each thread would take its own node's: they have to be those of the caller's node. */
static void test_local(void)
{
	const size_t len = 32 * HUGE, small = 4096;
	struct clearpages_populate_opts o = { .size = sizeof(o), .threads = 2 };
	unsigned int i;
	char *p;
	int err;

	for (i = 0; i < 2; i++) {
		go_to(i);
		p = map(len, 0);
		madvise(p, len, MADV_NOHUGEPAGE);
		err = clearpages_populate(p, len, &o);
		tap_ok(!err && on(p, len / small, small, i) == len / small,
		       "populate: no policy, called on node %u: %d, %zu of %zu pages there", node[i],
		       err, on(p, len / small, small, i), len / small);
		munmap(p, len);
	}
	go_anywhere();
}

/* There are enough in all, and too few where they have to come from. */
static void test_short(void)
{
	char why[512], name[16];
	struct clearpages_populate_opts o = {
		.size = sizeof(o), .threads = 2, .why = why, .why_size = sizeof(why),
	};
	char *p;
	int err;

	if (!tap_ok(pools(PAGES / 2, 2 * PAGES), "pools of %zu and %zu", PAGES / 2, 2 * PAGES))
		return;
	p = map(PAGES * HUGE, MAP_HUGETLB);
	bind(p, PAGES * HUGE, 0);
	err = clearpages_populate(p, PAGES * HUGE, &o);
	snprintf(name, sizeof(name), "node%u/", node[0]);
	tap_ok(err == -ENOMEM && strstr(why, name) && !on(p, PAGES, HUGE, 0),
	       "populate: one node short: %d, %s", err, why);
	munmap(p, PAGES * HUGE);
	no_pools();
}

/* ---- pools ------------------------------------------------------------------------------- */

/* Threads of this process that may run on the cpus of that node, and on no others. */
static unsigned int threads_of(unsigned int which)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned int count = 0;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
		struct list may = { 0 };

		if (tid > 0 && tid != getpid() &&
		    sched_getaffinity(tid, sizeof(may.bits), (cpu_set_t *)may.bits) >= 0)
			count += !memcmp(may.bits, cpus[which].bits, sizeof(may.bits));
	}
	if (dir)
		closedir(dir);
	return count;
}

static struct clearpages_pool_opts eager(char *why, size_t size)
{
	return (struct clearpages_pool_opts){
		.size = sizeof(struct clearpages_pool_opts), .bytes = PAGES * HUGE,
		.page_bytes = HUGE, .backing = CLEARPAGES_BACKING_HUGETLB, .why = why,
		.why_size = size,
	};
}

static void test_pool_node(unsigned int which)
{
	char why[512], name[16];
	struct clearpages_pool_opts o = eager(why, sizeof(why));
	struct clearpages_pool *p;
	void *a = NULL;
	int err;

	if (!pools(PAGES, PAGES))
		die("huge pages", "of two nodes");
	o.flags = CLEARPAGES_POOL_NODE;
	o.node = (int)node[which];
	p = pool_or_die(&o);
	err = clearpages_pool_get(p, PAGES * HUGE, NULL, &a);
	tap_ok(!err && on(a, PAGES, HUGE, which) == PAGES && threads_of(which) == 1 &&
	       !threads_of(!which), "pool of node %u: %zu of %zu pages there, and its cleaner",
	       node[which], on(a, PAGES, HUGE, which), PAGES);
	clearpages_pool_put(p, a, PAGES * HUGE);
	clearpages_pool_destroy(p);
	o.bytes += HUGE;
	err = clearpages_pool_create(&p, &o);
	snprintf(name, sizeof(name), "node%u/", node[which]);
	tap_ok(err == -ENOMEM && strstr(why, name), "... of a page more than it has: %d, %s", err,
	       why);
	no_pools();
}

/* On both: a cleaner for each, and pages that come back clean. */
static void test_pool_both(void)
{
	unsigned long mask = 1ul << node[0] | 1ul << node[1];
	struct clearpages_pool_opts o = eager(NULL, 0);
	struct clearpages_pool_stats s;
	struct clearpages_pool *p;
	void *a = NULL;
	size_t here;

	if (!pools(PAGES / 2, PAGES / 2) || set_mempolicy(MPOL_INTERLEAVE, &mask, NODES))
		die("huge pages", "by turns from two nodes");
	p = pool_or_die(&o);
	set_mempolicy(MPOL_DEFAULT, NULL, 0);
	clearpages_pool_get(p, PAGES * HUGE, NULL, &a);
	here = on(a, PAGES, HUGE, 0);
	memset(a, 0xaa, PAGES * HUGE);
	tap_ok(here == PAGES / 2 && threads_of(0) == 1 && threads_of(1) == 1,
	       "pool on both: %zu of %zu pages on one, a cleaner for each", here, PAGES);
	clearpages_pool_put(p, a, PAGES * HUGE);
	do
		usleep(1000);
	while ((s = stats_of(p)).clean_bytes < PAGES * HUGE);
	clearpages_pool_get(p, PAGES * HUGE, NULL, &a);
	tap_ok(is_filled(a, PAGES * HUGE, 0) && s.cleaner_cleared_bytes == PAGES * HUGE,
	       "... which clean it all");
	clearpages_pool_put(p, a, PAGES * HUGE);
	clearpages_pool_destroy(p);
	no_pools();
}

/* ---- zeroing ------------------------------------------------------------------------------- */

struct seen {
	pthread_barrier_t both;
	char *middle;
	atomic_uint parts, first, home;
};

static __thread bool met;

/* The first part of each thread: no thread can be through with all before the other came. */
static int look(void *arg, char *addr, size_t len)
{
	struct seen *s = arg;
	unsigned int which = addr >= s->middle;

	(void)len;
	s->parts++;
	if (!met) {
		met = true;
		s->first++;
		s->home += list_has(&cpus[which], (unsigned int)sched_getcpu());
		pthread_barrier_wait(&s->both);
	}
	return 0;
}

static void test_parts(void)
{
	const size_t len = 2 * PAGES * HUGE;
	char *p = map(len + HUGE, 0), *at = (char *)(((uintptr_t)p + HUGE - 1) & ~(HUGE - 1));
	struct seen s = { .middle = at + len / 2 };
	const struct workers_job job = {
		.addr = at, .len = len, .step = HUGE, .threads = 2, .part = look, .arg = &s,
	};
	int err;

	bind(at, len / 2, 0);
	bind(at + len / 2, len / 2, 1);
	memset(at, 1, len);
	pthread_barrier_init(&s.both, NULL, 2);
	err = workers_run(&job);
	tap_ok(!err && s.parts == 2 * PAGES && s.first == 2 && s.home == 2,
	       "parts on two nodes: %u, %u threads, %u of them began at home", s.parts, s.first,
	       s.home);
	pthread_barrier_destroy(&s.both);
	tap_ok(!clearpages_zero_parallel(at, len, NULL, NULL) && is_filled(at, len, 0),
	       "zeroed, by threads of both");
	munmap(p, len + HUGE);
}

int main(void)
{
	if (find_nodes() < 2) {
		tap_skip("two nodes", "this machine has fewer with memory and cpus of ours");
		return tap_done();
	}
	if (geteuid() || pool_of(node[0], -1) || pool_of(node[1], -1)) {
		tap_skip("two nodes", "needs root, and pools of huge pages that are empty");
		return tap_done();
	}
	atexit(no_pools);
	test_bound();
	test_local();
	test_short();
	test_pool_node(0);
	test_pool_node(1);
	test_pool_both();
	test_parts();
	return tap_done();
}
