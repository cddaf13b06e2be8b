// SPDX-License-Identifier: GPL-2.0-only
/*
 * clearpages_populate() on huge pages of hugetlb. Needs root, for the pool is made
 * larger by what a test needs and smaller by as much after it. Others who use
 * huge pages meanwhile disturb it.
 */
#include <fcntl.h>
#include <linux/memfd.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "../../lib/limits.h"
#include "../unit/test_populate.h"

#define HUGE_2M (2 * M)
#define HUGE_1G (1024 * M)
#define ANON (MAP_ANONYMOUS | MAP_HUGETLB)

static char why[512];
static struct clearpages_populate_opts opts;

static int populate(void *addr, size_t len)
{
	opts.size = sizeof(opts);
	opts.why = why;
	opts.why_size = sizeof(why);
	return clearpages_populate(addr, len, &opts);
}

/* ---- the pool ------------------------------------------------------------------------ */

static struct limits_pool pool(uint64_t page)
{
	struct limits_pool p;

	if (limits_pool("", page, LIMITS_ANY_NODE, &p))
		die("no pool of this size in", "/sys/kernel/mm/hugepages");
	return p;
}

static uint64_t available(uint64_t page)
{
	struct limits_pool p = pool(page);

	return limits_available(&p);
}

/* What is to be given back, also when a test dies. */
static int64_t held[2];

/* By so many pages; by how many it was. */
static int64_t grow(uint64_t page, int64_t by)
{
	struct limits_pool before = pool(page), after;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/hugepages-%llukB/nr_hugepages",
		 (unsigned long long)page >> 10);
	f = fopen(path, "we");
	if (!f || fprintf(f, "%lld\n", (long long)(before.total - before.surplus) + by) < 0 ||
	    fclose(f))
		die("write", path);
	after = pool(page);
	by = (int64_t)(after.total - after.surplus) - (int64_t)(before.total - before.surplus);
	held[page == HUGE_1G] += by;
	return by;
}

static void give_back(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (held[i])
			grow(i ? HUGE_1G : HUGE_2M, -held[i]);
}

/* So many pages more to be had, or a skip by that name. */
static bool grown(const char *name, uint64_t page, int64_t by)
{
	int64_t got = grow(page, by);

	if (got == by)
		return true;
	grow(page, -got);
	tap_skip(name, "the kernel finds no such pages: memory is full or in pieces");
	return false;
}

static char *map(size_t len, int flags, int fd)
{
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		die("mmap", "of huge pages");
	return p;
}

/*
 * All that is to be had goes to a mapping: a pool of 0 for the rest. Threads of a
 * populate may take pages between the look and the deed: then look again.
 */
static char *take_all(uint64_t page, size_t *len)
{
	for (;;) {
		struct limits_pool p = pool(page);
		char *at;

		*len = p.free > p.reserved ? (size_t)((p.free - p.reserved) * page) : 0;
		if (!*len)
			return NULL;
		at = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_PRIVATE | ANON | MAP_POPULATE, -1,
			  0);
		if (at != MAP_FAILED)
			return at;
		if (errno != ENOMEM)
			die("mmap", "of huge pages");
	}
}

static int huge_memfd(size_t len)
{
	int fd = memfd_create("populate", MFD_CLOEXEC | MFD_HUGETLB | MFD_HUGE_2MB);

	if (fd < 0 || ftruncate(fd, (off_t)len))
		die("memfd_create", "of huge pages");
	return fd;
}

/* ---- kinds ----------------------------------------------------------------------------- */

static void test_kind(const char *what, int flags, int fd, unsigned int threads)
{
	const size_t len = 16 * HUGE_2M, every = 512 * 3 + 5; /* some huge pages, not all */
	char *p = map(len, flags, fd);
	int err;

	opts = (struct clearpages_populate_opts){ .threads = threads };
	pattern(p, len, every);
	err = populate(p, len);
	tap_ok(!err && !*why && opts.huge_bytes == len && resident(p, len) == len / SMALL &&
	       pattern_lost(p, len, every) == len / SMALL,
	       "%s, %u threads: %d %s", what, threads, err, why);
	tap_ok(populate(p + M, len - M) == -EINVAL && strstr(why, "begins at") &&
	       strstr(why, "in the midst of a page of 2097152"), "%s: an odd address: %s", what, why);
	tap_ok(populate(p, len - SMALL) == -EINVAL && strstr(why, "ends at"),
	       "%s: an odd length: %s", what, why);
	munmap(p, len);
}

static void test_kinds(void)
{
	unsigned int threads;
	uint64_t before;
	int fd;

	if (!grown("huge pages of 2 MiB", HUGE_2M, 16))
		return;
	before = pool(HUGE_2M).free;
	for (threads = 1; threads < 4; threads++) {
		test_kind("private", MAP_PRIVATE | ANON, -1, threads);
		test_kind("private, noreserve", MAP_PRIVATE | ANON | MAP_NORESERVE, -1, threads);
		test_kind("shared", MAP_SHARED | ANON, -1, threads);
		fd = huge_memfd(16 * HUGE_2M);
		test_kind("memfd", MAP_SHARED, fd, threads);
		close(fd);
	}
	tap_ok(pool(HUGE_2M).free == before, "all pages came back");
	grow(HUGE_2M, -16);
}

static void test_side_by_side(void)
{
	const size_t len = 8 * HUGE_2M;
	char *p;
	int err;

	if (!grown("two page sizes side by side", HUGE_2M, 4))
		return;
	p = map_small(len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (mmap(p + 2 * HUGE_2M, 4 * HUGE_2M, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | ANON,
		 -1, 0) == MAP_FAILED)
		die("mmap", "in the middle");
	opts = (struct clearpages_populate_opts){ .threads = 2 };
	err = populate(p + SMALL, len - 2 * SMALL);
	tap_ok(!err && opts.huge_bytes == 4 * HUGE_2M &&
	       resident(p + SMALL, len - 2 * SMALL) == len / SMALL - 2,
	       "small and huge pages side by side: %d %s", err, why);
	munmap(p, len);
	grow(HUGE_2M, -4);
}

static void test_1g(void)
{
	const int flags = MAP_PRIVATE | ANON | 30 << 26;
	char *p;
	int err;

	if (access("/sys/kernel/mm/hugepages/hugepages-1048576kB", F_OK)) {
		tap_skip("huge pages of 1 GiB", "this kernel has none");
		return;
	}
	if (!grown("huge pages of 1 GiB", HUGE_1G, 1))
		return;
	p = map(HUGE_1G, flags, -1);
	opts = (struct clearpages_populate_opts){ .threads = 2 };
	p[HUGE_1G / 2] = 5;
	err = populate(p, HUGE_1G);
	tap_ok(!err && opts.huge_bytes == HUGE_1G && p[HUGE_1G / 2] == 5 && !p[HUGE_1G - 1],
	       "a page of 1 GiB: %d %s", err, why);
	tap_ok(populate(p, HUGE_2M) == -EINVAL, "2 MiB of it: %s", why);
	munmap(p, HUGE_1G);
	p = map(HUGE_1G, flags | MAP_NORESERVE, -1);
	grow(HUGE_1G, -1);
	if (available(HUGE_1G))
		tap_skip("no page of 1 GiB", "the pool has some");
	else
		tap_ok(populate(p, HUGE_1G) == -ENOMEM &&
		       strstr(why, "hugepages-1048576kB: 1 pages of 1G needed, 0 to be had"),
		       "no page of 1 GiB: %s", why);
	munmap(p, HUGE_1G);
}

/* ---- too few --------------------------------------------------------------------------------- */

static void test_too_few(void)
{
	const size_t have = (size_t)available(HUGE_2M) * HUGE_2M, len = have + 3 * HUGE_2M;
	uint64_t before = pool(HUGE_2M).free;
	char *p = map(len, MAP_PRIVATE | ANON | MAP_NORESERVE, -1);
	int err;

	opts = (struct clearpages_populate_opts){ .threads = 2 };
	err = populate(p, len);
	tap_ok(err == -ENOMEM && strstr(why, "hugepages-2048kB: ") && strstr(why, "to be had") &&
	       !resident(p, len) && pool(HUGE_2M).free == before && !opts.huge_bytes,
	       "more than the pool has: %d %s", err, why);
	munmap(p, len);
	/* Nobody may know what a shared file has, so that it may begin; it must not die of it. */
	p = map(len, MAP_SHARED | ANON | MAP_NORESERVE, -1);
	err = populate(p, len);
	tap_ok(err == -ENOMEM && strstr(why, "hugepages-2048kB: "),
	       "more than the pool has, shared: %d %s", err, why);
	munmap(p, len);
	tap_ok(pool(HUGE_2M).free == before, "nothing is kept");
}

/* All that is free is reserved, and by this very mapping. */
static void test_own_reservation(void)
{
	const size_t len = 8 * HUGE_2M;
	size_t rest_len;
	char *p, *rest;
	int err, status;
	pid_t child;

	if (!grown("a reservation of its own", HUGE_2M, 8))
		return;
	p = map(len, MAP_PRIVATE | ANON, -1);
	rest = take_all(HUGE_2M, &rest_len);
	opts = (struct clearpages_populate_opts){ .threads = 2 };
	/* A child of fork() does not inherit the promise: it is told so, not killed. */
	child = fork();
	if (!child) {
		memset(held, 0, sizeof(held));
		err = populate(p, len);
		_exit(err == -ENOMEM && strstr(why, "to be had") ? 0 : err ? 1 : 2);
	}
	waitpid(child, &status, 0);
	if (available(HUGE_2M))
		tap_skip("the child of one who has reserved", "the pool has overcommitted pages");
	else
		tap_ok(!status, "the child of one who has reserved: status %#x", status);
	err = populate(p, len);
	tap_ok(!err && opts.huge_bytes == len, "nothing free but what it has reserved itself: %d %s",
	       err, why);
	if (rest)
		munmap(rest, rest_len);
	munmap(p, len);
	grow(HUGE_2M, -8);
}

/* A file whose pages are all there, but not mapped here: needs nothing. */
static void test_mapped_elsewhere(void)
{
	const size_t len = 8 * HUGE_2M;
	size_t rest_len;
	char *p, *q, *rest;
	int fd, err;

	if (!grown("a file that is resident", HUGE_2M, 8))
		return;
	fd = huge_memfd(len);
	p = map(len, MAP_SHARED, fd);
	opts = (struct clearpages_populate_opts){ .threads = 2 };
	err = populate(p, len);
	p[len - 1] = 7;
	rest = take_all(HUGE_2M, &rest_len);
	q = map(len, MAP_SHARED | MAP_NORESERVE, fd);
	err = err ? err : populate(q, len);
	tap_ok(!err && q[len - 1] == 7 && opts.huge_bytes == len,
	       "a file that is resident, mapped once more, nothing free: %d %s", err, why);
	if (rest)
		munmap(rest, rest_len);
	munmap(p, len);
	munmap(q, len);
	close(fd);
	grow(HUGE_2M, -8);
}

/* ---- taken away meanwhile ------------------------------------------------------- */

struct thief {
	char *taken;
	size_t len;
	int fd;		/* that is truncated, or -1 */
	unsigned int calls;
};

static int steal(void *arg, uint64_t done, uint64_t total)
{
	struct thief *t = arg;

	(void)done, (void)total;
	if (t->calls++)
		return 0;
	if (t->fd >= 0)
		return ftruncate(t->fd, (off_t)HUGE_2M);
	t->taken = take_all(HUGE_2M, &t->len);
	return 0;
}

static void test_taken(unsigned int threads)
{
	const size_t len = 64 * HUGE_2M;
	struct thief t = { .fd = -1 };
	char *p;
	int err;

	if (!grown("pages taken away meanwhile", HUGE_2M, 64))
		return;
	p = map(len, MAP_PRIVATE | ANON | MAP_NORESERVE, -1);
	opts = (struct clearpages_populate_opts){
		.threads = threads, .progress = steal, .progress_arg = &t,
	};
	err = populate(p, len);
	if (!t.taken)
		tap_skip("pages taken away meanwhile", "the thief came too late");
	else
		tap_ok(err == -ENOMEM && strstr(why, "hugepages-2048kB: ") && opts.huge_bytes &&
		       opts.huge_bytes < len, "%u threads, pages taken away meanwhile: %d %s; %llu "
		       "MiB are there", threads, err, why, (unsigned long long)opts.huge_bytes / M);
	if (t.taken)
		munmap(t.taken, t.len);
	munmap(p, len);
	/* The same with a file that becomes shorter. */
	t = (struct thief){ .fd = huge_memfd(len) };
	p = map(len, MAP_SHARED, t.fd);
	err = populate(p, len);
	tap_ok(err == -EFAULT && strstr(why, "of its file, which has 2097152"),
	       "%u threads, file truncated meanwhile: %d %s", threads, err, why);
	munmap(p, len);
	close(t.fd);
	grow(HUGE_2M, -64);
}

/* ---- a mount, a user, many times ------------------------------------------------ */

/* A file of len bytes on a file system of its own, in a mount namespace of its own. */
static int on_mount(const char *type, const char *options, size_t len, int expected,
		    const char *text)
{
	char dir[] = "/tmp/clearpages-test-XXXXXX", path[64];
	int fd, err = -1;
	char *p;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    !mkdtemp(dir))
		return 77;
	if (mount("none", dir, type, 0, options)) {
		rmdir(dir);
		return 77;
	}
	snprintf(path, sizeof(path), "%s/file", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && !ftruncate(fd, (off_t)len)) {
		p = map(len, MAP_SHARED, fd);
		opts = (struct clearpages_populate_opts){ .threads = 2 };
		err = populate(p, len);
		munmap(p, len);
		close(fd);
	}
	umount(dir);
	rmdir(dir);
	if (err == expected && strstr(why, text))
		return 0;
	fprintf(stderr, "%s: %d %s\n", type, err, why);
	return 1;
}

static int on_hugetlbfs(void)
{
	return on_mount("hugetlbfs", "pagesize=2M", 8 * HUGE_2M, 0, "");
}

static int on_full_tmpfs(void)
{
	return on_mount("tmpfs", "size=4M", 8 * HUGE_2M, -ENOMEM, "the file system is full");
}

/* Somebody who has given up root without exec: the files of /proc/self are root's now. */
static int as_nobody(void)
{
	const size_t len = 8 * HUGE_2M, too_long = (size_t)1 << 40;
	char *p;

	if (setgid(65534) || setuid(65534))
		return 77;
	p = map_small(len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	opts = (struct clearpages_populate_opts){ .threads = 2 };
	if (populate(p, len) || resident(p, len) != len / SMALL)
		return 1;
	p = map(len, MAP_PRIVATE | ANON, -1);
	if (populate(p, len) || opts.huge_bytes != len)
		return 2;
	munmap(p, len);
	p = map(len, MAP_SHARED, huge_memfd(len));
	if (populate(p, len) || opts.huge_bytes != len)
		return 3;
	p = map(too_long, MAP_PRIVATE | ANON | MAP_NORESERVE, -1);
	return populate(p, too_long) == -ENOMEM && strstr(why, "to be had") ? 0 : 4;
}

static void test_child(const char *what, int (*run)(void))
{
	pid_t child;
	int status;

	if (!grown(what, HUGE_2M, 8))
		return;
	child = fork();
	if (!child) {
		memset(held, 0, sizeof(held)); /* its parent's business */
		_exit(run());
	}
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		tap_skip(what, "not permitted here");
	else
		tap_ok(!status, "%s: status %#x", what, status);
	grow(HUGE_2M, -8);
}

/* CYCLES in the environment: another number. */
static void test_cycles(void)
{
	const char *text = getenv("CYCLES");
	unsigned long i, cycles = text ? strtoul(text, NULL, 10) : 10000, failed = 0;
	struct limits_pool before, after;

	if (!grown("many cycles", HUGE_2M, 2))
		return;
	before = pool(HUGE_2M);
	for (i = 0; i < cycles; i++) {
		/* Reserved or not, and every third time too many. */
		size_t len = i % 3 == 2 ? (size_t)(available(HUGE_2M) + 9) * HUGE_2M : 2 * HUGE_2M;
		char *p = map(len, MAP_PRIVATE | ANON | (i % 3 ? MAP_NORESERVE : 0), -1);

		opts = (struct clearpages_populate_opts){ .threads = 1 + i % 2 };
		failed += populate(p, len) != (i % 3 == 2 ? -ENOMEM : 0);
		munmap(p, len);
	}
	after = pool(HUGE_2M);
	tap_ok(!failed && after.free == before.free && after.reserved == before.reserved,
	       "%lu cycles: %lu failed, %llu free before, %llu after", cycles, failed,
	       (unsigned long long)before.free, (unsigned long long)after.free);
	grow(HUGE_2M, -2);
}

int main(void)
{
	struct limits_pool before, after;
	unsigned int threads;

	if (geteuid() || limits_pool("", HUGE_2M, LIMITS_ANY_NODE, &before)) {
		tap_skip("all", geteuid() ? "needs root" : "no huge pages of 2 MiB");
		return tap_done();
	}
	atexit(give_back);
	test_kinds();
	test_side_by_side();
	test_1g();
	test_too_few();
	test_own_reservation();
	test_mapped_elsewhere();
	for (threads = 1; threads < 4; threads++)
		test_taken(threads);
	test_child("a file of hugetlbfs", on_hugetlbfs);
	test_child("a tmpfs that is full", on_full_tmpfs);
	test_child("without privilege", as_nobody);
	test_cycles();
	limits_pool("", HUGE_2M, LIMITS_ANY_NODE, &after);
	tap_ok(after.total == before.total && after.free == before.free &&
	       after.reserved == before.reserved, "the pool is as it was");
	return tap_done();
}
