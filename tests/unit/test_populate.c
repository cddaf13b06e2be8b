// SPDX-License-Identifier: GPL-2.0-only
/* clearpages_populate() on small pages: what becomes resident, what stays, what is refused. */
#include "test_populate.h"

static char why[512];

static int populate(void *addr, size_t len, unsigned int threads)
{
	struct clearpages_populate_opts o = {
		.size = sizeof(o), .threads = threads, .why = why, .why_size = sizeof(why),
	};

	return clearpages_populate(addr, len, &o);
}

/* ---- kinds of mappings -------------------------------------------------------- */

static void test_kind(const char *what, int flags, int fd, unsigned int threads)
{
	const size_t len = 9 * M + 5 * SMALL;
	char *p = map_small(len, flags, fd);
	int err;

	pattern(p, len, 7);
	err = populate(p, len, threads);
	tap_ok(!err && !*why && resident(p, len) == len / SMALL,
	       "%s, %u threads: %d, %zu of %zu pages resident", what, threads, err,
	       resident(p, len), len / SMALL);
	tap_ok(pattern_lost(p, len, 7) == len / SMALL, "%s, %u threads: contents as they were", what,
	       threads);
	err = populate(p, len, threads);
	tap_ok(!err && pattern_lost(p, len, 7) == len / SMALL, "%s: once more", what);
	munmap(p, len);
}

static void test_kinds(void)
{
	const size_t len = 9 * M + 5 * SMALL;
	unsigned int threads;
	int fd;

	for (threads = 0; threads < 4; threads++) {
		test_kind("private", MAP_PRIVATE | MAP_ANONYMOUS, -1, threads);
		test_kind("shared", MAP_SHARED | MAP_ANONYMOUS, -1, threads);
		fd = memfd_create("populate", MFD_CLOEXEC);
		if (fd < 0 || ftruncate(fd, (off_t)len))
			die("memfd_create", "");
		test_kind("memfd", MAP_SHARED, fd, threads);
		ftruncate(fd, 0);
		ftruncate(fd, (off_t)len);
		test_kind("memfd, private", MAP_PRIVATE, fd, threads);
		close(fd);
	}
}

/* ---- part of a mapping, several of them ------------------------------------------ */

static void test_part(void)
{
	const size_t len = 6 * M;
	char *p = map_small(len, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	tap_ok(!populate(p + 3 * SMALL, 4 * M, 2) && resident(p, len) == 4 * M / SMALL &&
	       resident(p + 3 * SMALL, 4 * M) == 4 * M / SMALL, "a part: that and no more");
	tap_ok(!clearpages_populate(p, len, NULL) && resident(p, len) == len / SMALL,
	       "no options: all of it");
	munmap(p, len);
}

/* Every other 64 KiB another mapping: by a flag of no consequence, by a file, by sharing. */
static void test_several(void)
{
	const size_t len = 16 * M, unit = 16 * SMALL;
	char *p = map_small(len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	int fd = memfd_create("populate", MFD_CLOEXEC);
	size_t at, i;

	if (fd < 0 || ftruncate(fd, (off_t)len))
		die("memfd_create", "");
	for (at = 0, i = 0; at < len; at += unit, i++) {
		void *q = p + at;

		if (i % 4 == 1)
			madvise(q, unit, MADV_DONTDUMP);
		else if (i % 4 == 2)
			q = mmap(q, unit, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
				 (off_t)at);
		else if (i % 4 == 3)
			q = mmap(q, unit, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		if (q == MAP_FAILED)
			die("mmap", "one of several");
	}
	pattern(p, len, 3);
	tap_ok(!populate(p + SMALL, len - 2 * SMALL, 3) &&
	       resident(p + SMALL, len - 2 * SMALL) == len / SMALL - 2,
	       "256 mappings of four kinds side by side %s", why);
	tap_ok(pattern_lost(p, len, 3) == len / SMALL, "their contents are as they were");
	munmap(p, len);
	close(fd);
}

/* ---- what is refused ----------------------------------------------------------------- */

static void refuses(const char *what, void *addr, size_t len, int expected, const char *text)
{
	int err = populate(addr, len, 2);

	if (!tap_ok(err == expected && strstr(why, text), "%s: %d %s", what, err, why))
		tap_note("expected %d ...%s...", expected, text);
}

static void test_refusals(void)
{
	const size_t len = 4 * M;
	char *p = map_small(len, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	refuses("an odd address", p + 8, SMALL, -EINVAL, "its address is no multiple of 4096");
	refuses("an odd length", p, SMALL + 8, -EINVAL, "its length is no multiple of 4096");
	refuses("a range that wraps", p, SIZE_MAX - SMALL + 1, -EINVAL, "longer than memory");
	mprotect(p + M, SMALL, PROT_READ);
	refuses("read-only in the middle", p, len, -EACCES, "is not writable");
	mprotect(p + M, SMALL, PROT_NONE);
	refuses("no access in the middle", p, len, -EACCES, "is not writable");
	munmap(p + M, SMALL);
	refuses("a hole", p, len, -EFAULT, "1048576 bytes into the range");
	munmap(p + len - SMALL, SMALL);
	refuses("a hole at the end", p + 2 * M, 2 * M, -EFAULT, "2093056 bytes into the range");
	munmap(p, SMALL);
	refuses("a hole at the beginning", p, M, -EFAULT, ", 0 bytes into the range");
	refuses("nothing at all", NULL, SMALL, -EFAULT, "nothing is mapped at 0");
	tap_ok(!resident(p + SMALL, M - SMALL) && !resident(p + 2 * M, M),
	       "a refusal leaves everything as it is");
	tap_ok(!populate(p, 0, 2) && !populate(NULL, 0, 0), "no bytes: nothing to do");
	munmap(p, len);
}

static void test_end_of_file(void)
{
	const size_t len = 4 * M;
	int fd = memfd_create("populate", MFD_CLOEXEC);
	char *p;

	if (fd < 0 || ftruncate(fd, (off_t)(2 * M - 100)))
		die("memfd_create", "");
	p = map_small(len, MAP_SHARED, fd);
	refuses("beyond the end of the file", p, len, -EFAULT, "of its file, which has 2097052");
	tap_ok(!populate(p, 2 * M, 2), "to the last page of the file");
	/* Nobody can find the file now, but root. */
	close(fd);
	refuses("beyond the end, the descriptor closed", p, len, -EFAULT, "file");
	munmap(p, len);
}

static void test_options(void)
{
	char *p = map_small(M, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct {
		struct clearpages_populate_opts o;
		uint64_t newer;
	} big = { .o = { .size = sizeof(big) } };
	char tiny[4] = "abc";
	struct clearpages_populate_opts o = { .size = sizeof(o), .huge = 4, .why = why,
					      .why_size = sizeof(why) };

	tap_ok(clearpages_populate(p, M, &o) == -EINVAL && strstr(why, "huge: 4"), "huge: %s", why);
	o = (struct clearpages_populate_opts){ .size = 0 };
	tap_ok(clearpages_populate(p, M, &o) == -EINVAL, "no size");
	o = (struct clearpages_populate_opts){ .size = sizeof(o), .why = tiny, .why_size = 3 };
	tap_ok(clearpages_populate(p + 1, M, &o) == -EINVAL && !strcmp(tiny, "it"),
	       "a reason is cut to its room");
	tap_ok(!clearpages_populate(p, M, &big.o), "newer options, unused");
	big.newer = 1;
	tap_ok(clearpages_populate(p, M, &big.o) == -EINVAL, "newer options, used");
	munmap(p, M);
}

/* ---- progress -------------------------------------------------------------------------- */

struct seen {
	unsigned int calls;
	uint64_t last, total;
	bool backwards;
	unsigned int stop_after;
};

static int see(void *arg, uint64_t done, uint64_t total)
{
	struct seen *s = arg;

	s->backwards |= done <= s->last;
	s->calls++;
	s->last = done;
	s->total = total;
	return s->stop_after && s->calls == s->stop_after;
}

static void test_progress(unsigned int threads)
{
	const size_t len = 64 * M;
	char *p = map_small(len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct seen s = { .stop_after = threads > 1 ? 1 : 3 };
	struct clearpages_populate_opts o = {
		.size = sizeof(o), .threads = threads, .progress = see, .progress_arg = &s,
		.why = why, .why_size = sizeof(why),
	};
	int err = clearpages_populate(p, len, &o);
	size_t there = resident(p, len) * SMALL;

	tap_ok(err == -ECANCELED && s.calls == s.stop_after && there >= s.last &&
			       (threads > 1 || there < len) && *why,
	       "%u threads, cancelled after %u calls: %zu MiB resident, %s", threads, s.calls,
	       there / M, why);
	s = (struct seen){ .stop_after = 0 };
	err = clearpages_populate(p, len, &o);
	tap_ok(!err && !s.backwards && s.calls >= (threads > 1 ? 1 : 4) && s.last == len && s.total == len && !*why,
	       "%u threads: %u calls, up to %llu of %llu", threads, s.calls,
	       (unsigned long long)s.last, (unsigned long long)s.total);
	munmap(p, len);
}

/* ---- cancellation ------------------------------------------------------------------------ */

struct doomed {
	char *at;
	size_t len;
	int err[2];
	bool alive;
};

static __attribute__((noinline)) void use_both(struct doomed *d)
{
	const struct clearpages_parallel_opts two = { .size = sizeof(two), .threads = 2 };

	d->err[0] = clearpages_populate(d->at, d->len, NULL);
	d->err[1] = clearpages_zero_parallel(d->at, d->len, NULL, &two);
	d->alive = true;
}

/* It ends with no variables on its stack: a sanitizer would take those for still in use. */
static void *cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	use_both(arg);
	pthread_testcancel();
	return NULL;
}

/* Neither is a cancellation point, though both read files: nothing may be left open. */
static void test_cancelled(void)
{
	struct doomed d = { .len = 64 * M, .err = { 1, 1 } };
	unsigned int files = open_files();
	pthread_t thread;
	void *end;

	d.at = map_small(d.len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (pthread_create(&thread, NULL, cancelled, &d))
		die("pthread_create", "");
	pthread_join(thread, &end);
	tap_ok(d.alive && end == PTHREAD_CANCELED && !d.err[0] && !d.err[1] &&
	       resident(d.at, d.len) * SMALL == d.len && open_files() == files,
	       "a thread that is to be cancelled populates and zeroes first: %d, %d", d.err[0],
	       d.err[1]);
	munmap(d.at, d.len);
}

/* ---- the caller's threads -------------------------------------------------------------- */

struct lent {
	void (*work)(void *arg);
	void *arg;
};

static void *lend(void *arg)
{
	struct lent *l = arg;

	l->work(l->arg);
	return NULL;
}

static unsigned int lent_threads;

static void lend_some(void *arg, void (*work)(void *), void *work_arg, unsigned int threads)
{
	struct lent l = { work, work_arg };
	unsigned int i, most = *(unsigned int *)arg;
	pthread_t t[8];

	lent_threads = threads;
	most = most < threads ? most : threads;
	for (i = 0; i < most; i++)
		if (pthread_create(&t[i], NULL, lend, &l))
			die("pthread_create", "");
	for (i = 0; i < most; i++)
		pthread_join(t[i], NULL);
}

static void test_lent(unsigned int count)
{
	const size_t len = 32 * M;
	char *p = map_small(len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct clearpages_populate_opts o = {
		.size = sizeof(o), .threads = 4, .run = lend_some, .run_arg = &count,
	};
	int err;

	pattern(p, len, 5);
	err = clearpages_populate(p, len, &o);
	tap_ok(!err && lent_threads == 4 && resident(p, len) == len / SMALL &&
	       pattern_lost(p, len, 5) == len / SMALL,
	       "%u threads of the caller's, of %u asked for", count, lent_threads);
	munmap(p, len);
}

/* ---- anything --------------------------------------------------------------------------- */

/* A random lot of mappings, a random range of whole pages in it. */
static void test_random(unsigned int round)
{
	const size_t len = 4 * M, pages = len / SMALL;
	char *p = map_small(len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	size_t from = below(pages), count = below(pages - from + 1), at, n;
	unsigned int threads = (unsigned int)below(5);
	int err;

	for (at = 0; at < pages; at += n) {
		n = 1 + below(pages - at < 200 ? pages - at : 200);
		if (below(3) == 0 && mmap(p + at * SMALL, n * SMALL, PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			die("mmap", "one of many");
		if (below(3) == 0)
			madvise(p + at * SMALL, n * SMALL, MADV_DONTDUMP);
	}
	err = populate(p + from * SMALL, count * SMALL, threads);
	if (err || resident(p, len) != count || resident(p + from * SMALL, count * SMALL) != count)
		tap_ok(false, "round %u: pages %zu + %zu of %zu, %u threads: %d %s, %zu resident",
		       round, from, count, pages, threads, err, why, resident(p, len));
	munmap(p, len);
}

int main(void)
{
	unsigned int before, i;

	seed();
	before = open_files();
	test_kinds();
	test_part();
	test_several();
	test_refusals();
	test_end_of_file();
	test_options();
	for (i = 1; i < 4; i++)
		test_progress(i);
	test_cancelled();
	for (i = 0; i < 6; i += i ? 3 : 1)
		test_lent(i);
	for (i = 0; i < 200; i++)
		test_random(i);
	tap_ok(true, "%u random ranges", i);
	tap_ok(open_files() == before, "no descriptor is left open");
	return tap_done();
}
