// SPDX-License-Identifier: GPL-2.0-only
/* clearpages_populate() on kernels made up: what they refuse, and which huge pages they give. */
#include <sched.h>

#include "test_populate.h"

/* ---- a kernel that is told what to answer ---------------------------------------- */

static struct {
	int fill_errno;		/* of MADV_POPULATE_WRITE, 0: as the real one */
	int probe_errno;	/* the same for no bytes */
	unsigned int times;	/* how often, 0: always */
	bool no_huge;		/* MADV_HUGEPAGE does nothing */
	int collapse_errno;	/* of MADV_COLLAPSE, 0: as the real one */
	atomic_uint fills, touches, collapses, answered;
	uintptr_t from[512], to[512];
} k;

static int answer(int number)
{
	errno = number;
	return -1;
}

static int told_madvise(void *addr, size_t len, int advice)
{
	unsigned int i;

	if (advice == MADV_POPULATE_WRITE && !len)
		return k.probe_errno ? answer(k.probe_errno) : 0;
	if (advice == MADV_POPULATE_WRITE) {
		if (k.fill_errno && (!k.times || k.answered++ < k.times))
			return answer(k.fill_errno);
		i = k.fills++;
		if (i < 512) {
			k.from[i] = (uintptr_t)addr;
			k.to[i] = (uintptr_t)addr + len;
		}
		return madvise(addr, len, advice);
	}
	if (advice == MADV_HUGEPAGE && k.no_huge)
		return 0;
	if (advice == MADV_COLLAPSE) {
		k.collapses++;
		if (k.collapse_errno)
			return answer(k.collapse_errno);
	}
	return madvise(addr, len, advice);
}

static int counted_touch(void *addr)
{
	k.touches++;
	return populate_touch(addr);
}

static char why[512];
static struct clearpages_populate_opts opts;

static int populate(void *addr, size_t len)
{
	static const struct populate_system told = {
		.root = "", .madvise = told_madvise, .touch = counted_touch,
	};

	opts.size = sizeof(opts);
	opts.why = why;
	opts.why_size = sizeof(why);
	k.fills = k.touches = k.collapses = k.answered = 0;
	return populate_with(&told, addr, len, &opts);
}

static void fresh(void)
{
	memset(&k, 0, sizeof(k));
	memset(&opts, 0, sizeof(opts));
}

/* ---- no MADV_POPULATE_WRITE --------------------------------------------------------- */

static struct {
	char *base;
	size_t pages;
	atomic_bool stop;
	uint64_t rounds;
} writer;

/*
 * Adds one to the word that the touch goes to, in every page, again and again.
 * It yields for valgrind, which runs one thread at a time and gives this one its
 * whole slice, 5 ms, after every touch: minutes.
 */
static void *write_on(void *arg)
{
	size_t i;

	(void)arg;
	while (!atomic_load(&writer.stop)) {
		for (i = 0; i < writer.pages; i++)
			__atomic_fetch_add((uint32_t *)(void *)(writer.base + i * SMALL), 1,
					   __ATOMIC_RELAXED);
		writer.rounds++;
		sched_yield();
	}
	return NULL;
}

static void test_touch(int flags, const char *what)
{
	const size_t len = 8 * M;
	char *p = map_small(len, flags | MAP_ANONYMOUS, -1);
	int err;

	fresh();
	k.probe_errno = k.fill_errno = EINVAL;
	opts.threads = 3;
	pattern(p, len, 7);
	err = populate(p, len);
	tap_ok(!err && k.touches == len / SMALL && resident(p, len) == len / SMALL &&
	       pattern_lost(p, len, 7) == len / SMALL,
	       "%s: no MADV_POPULATE_WRITE: %u touches, contents as they were", what, k.touches);
	munmap(p, len);
}

static void test_touch_race(void)
{
	const size_t len = 4 * M;
	size_t i, lost = 0;
	pthread_t t;

	fresh();
	k.probe_errno = k.fill_errno = EINVAL;
	opts.threads = 2;
	writer.base = map_small(len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	writer.pages = len / SMALL;
	if (pthread_create(&t, NULL, write_on, NULL))
		die("pthread_create", "");
	for (i = 0; i < 50; i++)
		lost += populate(writer.base, len) != 0;
	atomic_store(&writer.stop, true);
	pthread_join(t, NULL);
	for (i = 0; i < writer.pages; i++)
		lost += *(uint32_t *)(void *)(writer.base + i * SMALL) != (uint32_t)writer.rounds;
	tap_ok(!lost, "touched %u times while somebody counts there: nothing lost in %llu rounds",
	       50, (unsigned long long)writer.rounds);
	munmap(writer.base, len);
}

/* Where a touch by the program would be SIGBUS. */
static void test_touch_end_of_file(void)
{
	const size_t len = 4 * M;
	int fd = memfd_create("populate", MFD_CLOEXEC), err;
	char *p;

	if (fd < 0)
		die("memfd_create", "");
	p = map_small(len, MAP_SHARED, fd);
	err = populate_touch(p);
	tap_ok(err == -EFAULT, "a touch beyond the end of the file: %d, no signal", err);
	munmap(p, len);
	close(fd);
}

/* ---- errors --------------------------------------------------------------------------- */

static void test_error(const char *what, int answered, unsigned int times, int expected,
		       const char *text)
{
	const size_t len = 8 * M;
	char *p = map_small(len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	int err;

	fresh();
	k.fill_errno = answered;
	k.times = times;
	opts.threads = 2;
	err = populate(p, len);
	if (!tap_ok(err == expected && strstr(why, text) && !k.touches &&
		    resident(p, len) == (expected ? 0 : len / SMALL),
		    "%s: %d %s, nothing touched", what, err, why))
		tap_note("expected %d ...%s..., %u touches, %zu resident", expected, text, k.touches,
			 resident(p, len));
	munmap(p, len);
}

static void test_errors(void)
{
	test_error("ENOMEM", ENOMEM, 0, -ENOMEM, "out of memory");
	test_error("EFAULT", EFAULT, 0, -ENOMEM, "the kernel has no page for it");
	test_error("EHWPOISON", EHWPOISON, 0, -EHWPOISON, "memory error");
	test_error("EINVAL though it has the word", EINVAL, 0, -EINVAL, "memory of a device");
	test_error("EPERM", EPERM, 0, -EPERM, "MADV_POPULATE_WRITE: Operation not permitted");
	test_error("EAGAIN for good", EAGAIN, 0, -EAGAIN, "temporarily unavailable");
	test_error("EAGAIN a few times", EAGAIN, 20, 0, "");
	test_error("EINTR many times", EINTR, 5000, 0, "");
}

/* ---- parts ------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return (x > y) - (x < y);
}

/* Every byte in exactly one part, whatever the threads. */
static void test_parts(unsigned int threads)
{
	const size_t len = 100 * M + 3 * SMALL;
	char *p = map_small(len, MAP_SHARED | MAP_ANONYMOUS, -1);
	unsigned int i, n, whole = 0;
	uintptr_t at = (uintptr_t)p;
	int err;

	fresh();
	opts.threads = threads;
	err = populate(p, len);
	n = k.fills < 512 ? k.fills : 512;
	/* Both in the same order, for they do not overlap. */
	qsort(k.from, n, sizeof(k.from[0]), compare);
	qsort(k.to, n, sizeof(k.to[0]), compare);
	for (i = 0; i < n && k.from[i] == at; i++) {
		at = k.to[i];
		whole += i + 1 == n || at % (2 * M) == 0;
	}
	tap_ok(!err && i == n && at == (uintptr_t)p + len && whole == n,
	       "%u threads: %u parts, side by side, whole 2 MiB", threads, n);
	munmap(p, len);
}

/* ---- huge pages --------------------------------------------------------------------------- */

static bool have_thp(void)
{
	char line[64] = "";
	FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");

	if (f && !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		fclose(f);
	return *line && !strstr(line, "[never]");
}

static char *map_huge(size_t len)
{
	char *p = map_small(len, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	/* Neither asked for nor refused: takes the word of map_small() back. */
	munmap(p, len);
	if (mmap(p, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p)
		die("mmap", "the same again");
	return p;
}

/* every: the pages that were there before; small ones, where huge ones have to be asked for. */
static void test_huge(const char *what, unsigned int huge, size_t every, int expected,
		      uint64_t bytes, const char *text)
{
	const size_t len = 16 * M;
	char *p = k.collapse_errno ? map_small(len, MAP_PRIVATE | MAP_ANONYMOUS, -1) : map_huge(len);
	int err;

	opts.huge = huge;
	opts.threads = 2;
	if (every)
		pattern(p, len, every);
	err = populate(p, len);
	if (!tap_ok(err == expected && opts.huge_bytes == bytes && strstr(why, text) &&
		    (*text || !*why) && resident(p, len) == len / SMALL &&
		    (!every || pattern_lost(p, len, every) == len / SMALL),
		    "%s: %d, %llu MiB huge %s", what, err,
		    (unsigned long long)opts.huge_bytes / M, why))
		tap_note("expected %d, %llu MiB ...%s...", expected,
			 (unsigned long long)bytes / M, text);
	munmap(p, len);
}

static void test_huge_pages(void)
{
	const size_t len = 16 * M;
	char *p = map_huge(len);
	int err;

	fresh();
	test_huge("off", CLEARPAGES_HUGE_OFF, 0, 0, 0, "");
	fresh();
	k.no_huge = true;
	k.collapse_errno = ENOMEM;
	test_huge("prefer, none free", CLEARPAGES_HUGE_PREFER, 512, 0, 0,
		  "0 of 16777216 bytes are in huge pages: no huge page was free");
	test_huge("required, none free", CLEARPAGES_HUGE_REQUIRED, 512, -ENOMEM, 0,
		  "0 of 16777216 bytes are in huge pages: no huge page was free");
	k.collapse_errno = EINVAL;
	test_huge("prefer, of another kind", CLEARPAGES_HUGE_PREFER, 512, 0, 0, "of this kind");
	test_huge("required, of another kind", CLEARPAGES_HUGE_REQUIRED, 512, -EOPNOTSUPP, 0,
		  "of this kind");
	k.collapse_errno = EAGAIN;
	test_huge("prefer, EAGAIN for good", CLEARPAGES_HUGE_PREFER, 512, 0, 0, "unavailable");
	fresh();
	opts.huge = CLEARPAGES_HUGE_REQUIRED;
	err = populate(p + SMALL, len - SMALL);
	tap_ok(err == -EINVAL && strstr(why, "begins at") && !k.fills, "required, odd: %d %s", err,
	       why);
	munmap(p, len);
}

/* What is asked of the kernel in earnest; it may have no huge page left. */
static void test_real_huge_pages(void)
{
	const size_t len = 16 * M;
	char *p;
	int err;

	if (!have_thp()) {
		tap_skip("huge pages that the kernel gives", "transparent huge pages are off");
		return;
	}
	fresh();
	test_huge("prefer", CLEARPAGES_HUGE_PREFER, 0, 0, len, "");
	tap_ok(!k.collapses, "prefer: nothing to collapse");
	test_huge("required", CLEARPAGES_HUGE_REQUIRED, 0, 0, len, "");
	k.no_huge = true;
	test_huge("prefer, by MADV_COLLAPSE", CLEARPAGES_HUGE_PREFER, 512, 0, len, "");
	test_huge("required, by MADV_COLLAPSE", CLEARPAGES_HUGE_REQUIRED, 512, 0, len, "");
	fresh();
	p = map_huge(len);
	opts.huge = CLEARPAGES_HUGE_PREFER;
	err = populate(p + SMALL, len - SMALL);
	tap_ok(!err && opts.huge_bytes == len - 2 * M && strstr(why, "ends of the range"),
	       "prefer, odd: %d, %llu MiB huge, %s", err, (unsigned long long)opts.huge_bytes / M,
	       why);
	munmap(p, len);
}

int main(void)
{
	unsigned int i;

	seed();
	test_touch(MAP_PRIVATE, "private");
	test_touch(MAP_SHARED, "shared");
	test_touch_race();
	test_touch_end_of_file();
	test_errors();
	for (i = 1; i < 6; i++)
		test_parts(i);
	test_huge_pages();
	test_real_huge_pages();
	return tap_done();
}
