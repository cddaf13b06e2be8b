/* SPDX-License-Identifier: GPL-2.0-only */
/* What the benchmarks share: their options, the memory they run on, how they report. */
#ifndef CLEARPAGES_BENCH_H
#define CLEARPAGES_BENCH_H

#include <clearpages.h>
#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "host.h"
#include "measure.h"
#include "output.h"
#include "region.h"
#include "reserve.h"
#include "tool.h"

#define BENCH_MAIN  (1u << 0)
#define BENCH_FAULT (1u << 1)
#define BENCH_CLEAR (1u << 2)

enum path {
	PATH_DEMAND, PATH_POPULATE, PATH_MADVISE, PATH_TOUCH_THREADS, PATH_PARALLEL,
	PATH_PAGER_SIGNAL, PATH_PAGER_AHEAD, PATH_PAGER_THREAD, PATH_POOL_EAGER, PATH_POOL_CLEAN,
	PATHS
};
enum touch { TOUCH_FIRST, TOUCH_MIDDLE, TOUCH_LAST, TOUCH_RANDOM, TOUCH_NONE };
enum walk { WALK_FORWARD, WALK_REVERSE, WALK_RANDOM };

enum use { USE_NONE, USE_FIRST, USE_RANDOM, USE_WRITE, USE_READ, USES };

extern const char *const path_names[];	/* PATHS of them, then NULL */
extern const char *const touch_names[];
extern const char *const walk_names[];
extern const char *const use_names[];	/* USES of them, then NULL */

struct bench_policy {
	char *name;			/* as the user wrote it */
	struct clearpages_policy *policy;
	const char *function, *order;	/* one of the matrix of -f: else NULL */
	uint64_t unit;
};

struct bench {
	unsigned int command;		/* BENCH_... */
	uint64_t size, page;
	bool thp;
	enum region_kind kind;
	uint64_t *chunks, *units;
	unsigned int chunk_count, unit_count;
	char *functions, *orders;	/* lists, not taken apart yet */
	struct bench_policy *policies;
	unsigned int policy_count;
	bool path[PATHS];
	bool use[USES];
	enum touch touch;
	enum walk walk;
	uint64_t seed;
	unsigned int threads, rounds;
	unsigned int parallel;		/* threads of populate-parallel; 0: as many as threads */
	uint64_t min_ns;
	bool cycles, shared, json;
	unsigned int *cpus;		/* that the threads may have, `threads` of them used */
	unsigned int cpu_count;
	int node;			/* LIMITS_ANY_NODE or the one of --node */
	enum reserve_mode reserve;
};

/*
 * The command line of bench, bench fault or bench clear. Returns TOOL_OK, or
 * an exit code with the error line printed; -1: --help was answered.
 */
int bench_parse(int argc, char **argv, unsigned int command, struct bench *b);
void bench_free(struct bench *b);

/* The policies of "stock,ranges,batch=8M;far=clzero": see bench_policy.c. */
int bench_add_policies(struct bench *b, const char *list);

/* Policies of every function (-f) x order x unit, for bench clear. */
int bench_add_matrix(struct bench *b);

/* Which cpus --cpus and --node leave; binds memory to the nodes. bench_place.c. */
int bench_place(struct bench *b, const char *cpus, const char *nodes);

/* Is there memory for `bytes` in pages of b->page? Reserves what may be reserved. */
int bench_memory(const struct bench *b, uint64_t bytes);

/* The byte of page `index` that is touched, by b->touch and b->seed. */
size_t bench_touch(const struct bench *b, uint64_t index, size_t page);

/* Which of `count` pages is the step-th one to be touched, by b->walk and b->seed. */
size_t bench_walk(const struct bench *b, size_t step, size_t count);

int bench_fault(const struct bench *b);
int bench_clear(const struct bench *b);
int bench_headline(const struct bench *b);

/* ---- reports: bench_report.c --------------------------------------------------- */

#define CELL 40

/* What a row says of a trial: its rate, and its ratio to that of `base`. */
struct bench_row {
	struct stats rate;		/* bytes per second */
	struct ratio ratio;		/* to base */
	double ns_per_unit;		/* the mean */
	char gib[CELL], spread[CELL], us[CELL], times[CELL], interval[CELL];
	char cycles[CELL];		/* a unit's */
};

/* unit: the bytes of what us and cycles are counted for, a page or a chunk. base may be NULL. */
void bench_row(const struct measure *m, const struct trial *t, const struct trial *base,
	       uint64_t unit, struct bench_row *row);

/* The same as JSON, raw samples with it. */
json_t *bench_result_json(const struct measure *m, const struct trial *t,
			  const struct trial *base);

/* A result's policy, by name and in full; nothing where it has none. */
void bench_policy_json(json_t *result, const struct bench_policy *p);

/* A whole report: steals runs, an array of objects. Returns an exit code. */
int bench_print_json(const char *command, json_t *runs);

/* The memory of a run in one line, such as "2M pages (hugetlb), 256M in all, 2 threads". */
void bench_memory_text(const struct bench *b, char *text, size_t size);

/* ---- one trial on mapped memory, one that faults: for the headline ------------- */

/*
 * Zero a region chunk by chunk through the library. The region is shared by
 * all clear trials of a run; if it is not mapped, ready maps it (one thread
 * only).
 */
struct clear_trial {
	const struct bench *bench;
	struct region *region;
	const struct bench_policy *policy;
	uint64_t chunk;
};

void clear_trial(struct clear_trial *c, struct trial *t);

/* What the trials of a run take turns on, besides their regions: a pool, and each member's part. */
struct bench_shared {
	struct clearpages_pool *pool;
	void **mine;
};

/* Touch each page of regions[member], or of one region split (b->shared). */
struct fault_trial {
	char name[256];		/* path, policy and use: what tells a row from another */
	enum use use;
	const struct bench_policy *policy;	/* of the pool's paths */
	struct bench_shared *shared;
	const struct bench *bench;
	struct region *regions;
	enum path path;
	uint64_t mthp_before;
	atomic_uint checked;	/* members that are through with fault_check() */
};

void fault_trial(struct fault_trial *f, struct trial *t);

/* Trials of the paths that take their memory from a pool: bench_pool.c. */
bool bench_is_pool(enum path path);
int bench_pool_ready(void *trial, unsigned int member);
int bench_pool_work(void *trial, unsigned int member);
int bench_pool_check(void *trial, unsigned int member);
void bench_pool_drop(struct bench_shared *s);

/* Written by touches and uses: whether it is there shows that they were not lost. */
#define BENCH_MARK 0x6b72616d6b72616dull

/* A program's next step on a page; and back to zeros, false if not all of it was there. */
void bench_use(enum use use, char *base, size_t page, uint64_t seed);
bool bench_unuse(enum use use, char *base, size_t page, uint64_t seed);

/* The calling thread, and those that it makes, on these cpus only. 0 or -errno. */
int bench_run_on(const unsigned int *cpus, unsigned int count);

/* clearpages_populate() with the library's threads, on the cpus of the run: bench_parallel.c. */
int bench_parallel(const struct bench *b, char *base, size_t bytes);

#endif
