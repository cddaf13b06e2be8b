/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Huge-page pools, and the hugetlb limits of our cgroups. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cgroup.h"
#include "limits.h"
#include "machine.h"

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* nr_overcommit_hugepages is a number that people set to "all there can be". */
static uint64_t plus(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static const char *size_text(uint64_t bytes, char *text, size_t size)
{
	static const char suffix[] = "KMGT";
	unsigned int i = 0;

	while (bytes && !(bytes & 1023) && suffix[i]) {
		bytes >>= 10;
		i++;
	}
	snprintf(text, size, "%" PRIu64 "%.1s", bytes, i ? &suffix[i - 1] : "");
	return text;
}

/* ---- pools ---------------------------------------------------------------- */

static void pool_dir(uint64_t page_bytes, int node, char *dir, size_t size)
{
	if (node == LIMITS_ANY_NODE)
		snprintf(dir, size, "/sys/kernel/mm/hugepages/hugepages-%" PRIu64 "kB",
			 page_bytes >> 10);
	else
		snprintf(dir, size,
			 "/sys/devices/system/node/node%d/hugepages/hugepages-%" PRIu64 "kB",
			 node, page_bytes >> 10);
}

static int pool_number(const char *root, const char *dir, const char *file, uint64_t *number)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return machine_number(root, path, number);
}

int limits_pool(const char *root, uint64_t page_bytes, int node, struct limits_pool *pool)
{
	char dir[128];

	*pool = (struct limits_pool){ 0 };
	pool_dir(page_bytes, node, dir, sizeof(dir));
	if (page_bytes % 1024 || pool_number(root, dir, "nr_hugepages", &pool->total) ||
	    pool_number(root, dir, "free_hugepages", &pool->free))
		return -ENOENT;
	pool_number(root, dir, "surplus_hugepages", &pool->surplus);
	pool_number(root, dir, "resv_hugepages", &pool->reserved);
	pool_number(root, dir, "nr_overcommit_hugepages", &pool->overcommit);
	return 0;
}

uint64_t limits_available(const struct limits_pool *pool)
{
	return plus(less(pool->free, pool->reserved), less(pool->overcommit, pool->surplus));
}

static int pool_short(uint64_t page_bytes, uint64_t pages, int node,
		      const struct limits_pool *pool, uint64_t surplus_left, char *why,
		      size_t why_size)
{
	char dir[128], size[24], reserved[48] = "";

	pool_dir(page_bytes, node, dir, sizeof(dir));
	if (pool->reserved)
		snprintf(reserved, sizeof(reserved), ", less %" PRIu64 " reserved",
			 pool->reserved);
	snprintf(why, why_size,
		 "%s: %" PRIu64 " pages of %s needed, %" PRIu64 " to be had (%" PRIu64
		 " free%s, %" PRIu64 " more by overcommit)",
		 dir, pages, size_text(page_bytes, size, sizeof(size)),
		 plus(less(pool->free, pool->reserved), surplus_left), pool->free, reserved,
		 surplus_left);
	return -ENOMEM;
}

static int no_pool(uint64_t page_bytes, int node, char *why, size_t why_size)
{
	char dir[128];

	pool_dir(page_bytes, node, dir, sizeof(dir));
	snprintf(why, why_size, "%s: there are no such huge pages", dir);
	return -ENOENT;
}

/*
 * The pool of all nodes has to have them, and that of the node too. Pages over
 * the pool's size are counted for all nodes together; any of them may come
 * from this one.
 */
static int check_pool(const char *root, uint64_t page_bytes, uint64_t pages, int node, char *why,
		      size_t why_size)
{
	struct limits_pool all, pool;
	uint64_t surplus_left;

	if (limits_pool(root, page_bytes, LIMITS_ANY_NODE, &all))
		return no_pool(page_bytes, LIMITS_ANY_NODE, why, why_size);
	surplus_left = less(all.overcommit, all.surplus);
	if (pages > limits_available(&all))
		return pool_short(page_bytes, pages, LIMITS_ANY_NODE, &all, surplus_left, why,
				  why_size);
	if (node == LIMITS_ANY_NODE)
		return 0;
	if (limits_pool(root, page_bytes, node, &pool))
		return no_pool(page_bytes, node, why, why_size);
	if (pages > plus(pool.free, surplus_left))
		return pool_short(page_bytes, pages, node, &pool, surplus_left, why, why_size);
	return 0;
}

static int check_fault_pool(const char *root, const struct limits_fault *f, char *why,
			    size_t why_size)
{
	uint64_t either = plus(f->unreserved, f->perhaps), total = plus(either, f->reserved);
	struct limits_pool all, pool;
	uint64_t surplus_left;

	if (limits_pool(root, f->page_bytes, LIMITS_ANY_NODE, &all))
		return no_pool(f->page_bytes, LIMITS_ANY_NODE, why, why_size);
	surplus_left = less(all.overcommit, all.surplus);
	if (f->unreserved > limits_available(&all))
		return pool_short(f->page_bytes, f->unreserved, LIMITS_ANY_NODE, &all,
				  surplus_left, why, why_size);
	all.reserved = 0; /* for all that is known here it may be theirs */
	if (either > limits_available(&all))
		return pool_short(f->page_bytes, either, LIMITS_ANY_NODE, &all, surplus_left, why,
				  why_size);
	/* A reservation is for any node: where the policy allows one only, it may be empty. */
	if (f->node != LIMITS_ANY_NODE && !limits_pool(root, f->page_bytes, f->node, &pool) &&
	    total > plus(pool.free, surplus_left))
		return pool_short(f->page_bytes, total, f->node, &pool, surplus_left, why,
				  why_size);
	return 0;
}

/* ---- cgroups -------------------------------------------------------------- */

struct need {
	const char *root;
	const char *size;	/* "2MB", as in the names of the files */
	uint64_t bytes;		/* to be charged for pages that are touched */
	uint64_t rsvd_bytes;	/* and for those that are reserved */
	char *why;
	size_t why_size;
};

/* How the kernel names a page size in these files. */
static void size_name(uint64_t page_bytes, char *name, size_t size)
{
	static const struct {
		unsigned int shift;
		const char *unit;
	} units[] = { { 30, "GB" }, { 20, "MB" }, { 10, "KB" } };
	unsigned int i = 0;

	while (i < 2 && !(page_bytes >> units[i].shift))
		i++;
	snprintf(name, size, "%" PRIu64 "%s", page_bytes >> units[i].shift, units[i].unit);
}

/*
 * One limit and the file beside it that says how much of it is used. No limit
 * file: a kernel without it, a root of a hierarchy, or not ours to read.
 */
static int check_limit(const struct need *n, uint64_t bytes, const char *dir,
		       const char *limit_file, const char *usage_file)
{
	char path[PATH_MAX + 64], needed[24], left[24], most[24];
	uint64_t limit, usage = 0;

	snprintf(path, sizeof(path), "%s/hugetlb.%s.%s", dir, n->size, usage_file);
	machine_number(n->root, path, &usage);
	snprintf(path, sizeof(path), "%s/hugetlb.%s.%s", dir, n->size, limit_file);
	if (machine_number(n->root, path, &limit) || bytes <= less(limit, usage))
		return 0;
	snprintf(n->why, n->why_size, "%s: %s needed, %s free of the limit of %s", path,
		 size_text(bytes, needed, sizeof(needed)),
		 size_text(less(limit, usage), left, sizeof(left)),
		 size_text(limit, most, sizeof(most)));
	return -ENOMEM;
}

/* Pages are charged to rsvd when they are mapped, and to the other when they are touched. */
static int check_dir(void *arg, const char *dir, int version)
{
	static const struct {
		int version;
		bool rsvd;
		const char *limit, *usage;
	} files[] = {
		{ 1, false, "limit_in_bytes", "usage_in_bytes" },
		{ 1, true, "rsvd.limit_in_bytes", "rsvd.usage_in_bytes" },
		{ 2, false, "max", "current" },
		{ 2, true, "rsvd.max", "rsvd.current" },
	};
	const struct need *n = arg;
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(files) / sizeof(*files) && !err; i++)
		if (files[i].version == version)
			err = check_limit(n, files[i].rsvd ? n->rsvd_bytes : n->bytes, dir,
					  files[i].limit, files[i].usage);
	return err;
}

static uint64_t bytes_of(uint64_t pages, uint64_t page_bytes)
{
	uint64_t bytes;

	return __builtin_mul_overflow(pages, page_bytes, &bytes) ? UINT64_MAX : bytes;
}

static int check_cgroups(const char *root, uint64_t page_bytes, uint64_t pages, uint64_t rsvd,
			 char *why, size_t why_size)
{
	char size[32];
	struct need need = {
		.root = root, .size = size, .why = why, .why_size = why_size,
		.bytes = bytes_of(pages, page_bytes), .rsvd_bytes = bytes_of(rsvd, page_bytes),
	};

	size_name(page_bytes, size, sizeof(size));
	return cgroup_walk(root, "hugetlb", check_dir, &need);
}

int limits_check_cgroup(const char *root, uint64_t page_bytes, uint64_t pages, char *why,
			size_t why_size)
{
	if (why_size)
		*why = '\0';
	return check_cgroups(root, page_bytes, pages, pages, why, why_size);
}

int limits_check(const char *root, uint64_t page_bytes, uint64_t pages, int node, char *why,
		 size_t why_size)
{
	int err;

	if (why_size)
		*why = '\0';
	err = check_pool(root, page_bytes, pages, node, why, why_size);
	return err ? err : limits_check_cgroup(root, page_bytes, pages, why, why_size);
}

int limits_check_fault(const char *root, const struct limits_fault *f, char *why, size_t why_size)
{
	int err;

	if (why_size)
		*why = '\0';
	err = check_fault_pool(root, f, why, why_size);
	return err ? err : check_cgroups(root, f->page_bytes,
					 plus(plus(f->reserved, f->perhaps), f->unreserved),
					 f->unreserved, why, why_size);
}
