// SPDX-License-Identifier: GPL-2.0-only
/* Lazy pools: system calls, statistics, clearing ahead, many cycles, 1 GiB pages. */
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "test_live.h"

static const char *const pager_names[] = { "signal", "thread", "protect" };

static char *lazy(struct clearpages_pool *p, size_t pages)
{
	void *a;

	if (clearpages_pool_get(p, pages * HUGE, NULL, &a))
		die("clearpages_pool_get", "");
	return a;
}

/* ---- system calls on untouched memory ------------------------------------------------ */

static int try_read(char *a)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ssize_t got = read(fd, a, 100);

	close(fd);
	return got < 0 ? errno : got == 100 ? 0 : -1;
}

static int try_write(char *a)
{
	int fds[2], err = 0;
	char buffer[100];

	if (pipe(fds))
		return -1;
	if (write(fds[1], a, sizeof(buffer)) < 0)
		err = errno;
	if (!err && (read(fds[0], buffer, sizeof(buffer)) != sizeof(buffer) ||
		     !is_filled(buffer, sizeof(buffer), 0)))
		err = -1;
	close(fds[0]);
	close(fds[1]);
	return err;
}

static int try_recvmsg(char *a)
{
	struct iovec v = { a, 100 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	int fds[2], err = 0;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds))
		return -1;
	if (send(fds[0], "hello", 5, 0) == 5 && recvmsg(fds[1], &m, 0) < 0)
		err = errno;
	if (!err && memcmp(a, "hello", 6))
		err = -1;
	close(fds[0]);
	close(fds[1]);
	return err;
}

/* The word is 0, not 1: EAGAIN is what a futex that could look says. */
static int try_futex(char *a)
{
	syscall(SYS_futex, a, FUTEX_WAIT, 1, NULL, NULL, 0);
	return errno == EAGAIN ? 0 : errno;
}

static void test_syscalls(uint32_t pager)
{
	static const struct {
		const char *name;
		int (*run)(char *a);
	} calls[] = {
		{ "read", try_read }, { "write", try_write }, { "recvmsg", try_recvmsg },
		{ "futex", try_futex },
	};
	int want = pager == CLEARPAGES_PAGER_THREAD ? 0 : EFAULT, got;
	struct clearpages_pool *p;
	size_t i;
	char *a;

	if (!live_lazy("system calls", pager, 8))
		return;
	p = dirty_pool(8, CLEARPAGES_LAZY, pager, 0);
	a = lazy(p, 8);
	for (i = 0; i < 4; i++) {
		got = calls[i].run(a + i * HUGE);
		tap_ok(got == want, "%s: %s on untouched memory: %s", pager_names[pager],
		       calls[i].name, strerror(got));
		got = clearpages_pool_touch(p, a + (4 + i) * HUGE + 5, 10);
		tap_ok(!got && !calls[i].run(a + (4 + i) * HUGE),
		       "%s: %s after clearpages_pool_touch()", pager_names[pager], calls[i].name);
	}
	clearpages_pool_put(p, a, 8 * HUGE);
	clearpages_pool_destroy(p);
}


/* ---- statistics, and pages that stay clean ------------------------------------------- */

static void test_stats(uint32_t pager)
{
	struct clearpages_get_opts ready = { .size = sizeof(ready), .flags = CLEARPAGES_GET_READY };
	struct clearpages_pool_stats s;
	struct clearpages_pool *p;
	void *b;
	char *a;

	if (!live_lazy("statistics", pager, 4))
		return;
	p = dirty_pool(4, CLEARPAGES_LAZY, pager, 0);
	a = lazy(p, 4);
	s = stats_of(p);
	tap_ok(s.untouched_bytes == 4 * HUGE && s.used_bytes == 4 * HUGE && !s.fault_cleared_bytes,
	       "%s: get touches nothing", pager_names[pager]);
	a[3 * HUGE + 77] = 1;
	s = stats_of(p);
	tap_ok(s.untouched_bytes == 3 * HUGE && s.fault_cleared_bytes == HUGE && s.faults == 1,
	       "%s: a touch clears one page", pager_names[pager]);
	clearpages_pool_touch(p, a, 2 * HUGE);
	clearpages_pool_touch(p, a, 2 * HUGE);
	s = stats_of(p);
	tap_ok(s.untouched_bytes == HUGE && s.touch_cleared_bytes == 2 * HUGE,
	       "%s: clearpages_pool_touch() two, once", pager_names[pager]);
	clearpages_pool_put(p, a, 4 * HUGE);
	tap_ok(!clearpages_pool_get(p, 4 * HUGE, &ready, &b) && is_filled(b, 4 * HUGE, 0),
	       "%s: CLEARPAGES_GET_READY", pager_names[pager]);
	s = stats_of(p);
	tap_ok(!s.untouched_bytes && s.get_cleared_bytes == 4 * HUGE && s.dirty_bytes == 0,
	       "%s: ... clears at once", pager_names[pager]);
	clearpages_pool_put(p, b, 4 * HUGE);
	s = stats_of(p);
	tap_ok(s.dirty_bytes == 4 * HUGE && !s.used_bytes && !clearpages_pool_destroy(p),
	       "%s: all of it is back", pager_names[pager]);
}


/* ---- clearing ahead ------------------------------------------------------------------ */

/* Forward: most pages are cleared before they are touched, if the other thread gets to run. */
static void test_ahead(uint32_t pager)
{
	enum { PAGES = 48 };
	struct clearpages_pool_stats s = { .size = sizeof(s) };
	unsigned int round, bad = 0;
	struct clearpages_pool *p;
	size_t i;
	char *a;

	if (!live_lazy("ahead", pager, PAGES))
		return;
	p = dirty_pool(PAGES, CLEARPAGES_LAZY, pager, 1);
	for (round = 0; round < 50 && !s.ahead_cleared_bytes; round++) {
		a = lazy(p, PAGES);
		for (i = 0; i < PAGES; i++) {
			bad += a[i * HUGE] || a[(i + 1) * HUGE - 1];
			memset(a + i * HUGE, 0xaa, HUGE);
		}
		clearpages_pool_put(p, a, PAGES * HUGE);
		s = stats_of(p);
	}
	tap_ok(!bad && s.ahead_cleared_bytes, "%s: forward: %llu pages ahead, %llu by faults",
	       pager_names[pager], (unsigned long long)s.ahead_cleared_bytes / HUGE,
	       (unsigned long long)s.fault_cleared_bytes / HUGE);
	clearpages_pool_destroy(p);

	p = dirty_pool(PAGES, CLEARPAGES_LAZY, pager, 1);
	a = lazy(p, PAGES);
	for (i = 0; i < PAGES; i += 2)
		a[(PAGES - 1 - i) * HUGE] = 1;
	usleep(1000);
	s = stats_of(p);
	tap_ok(!s.ahead_cleared_bytes, "%s: backward, every second page: none ahead",
	       pager_names[pager]);
	clearpages_pool_put(p, a, PAGES * HUGE);
	clearpages_pool_destroy(p);
}


/* ---- again and again, and larger ----------------------------------------------------- */

static void test_cycles(uint32_t pager)
{
	enum { CYCLES = 10000 };
	struct clearpages_pool *p;
	unsigned int i, files, bad = 0;
	uint64_t before, after;
	void *a;

	if (!live_lazy("cycles", pager, 4))
		return;
	p = dirty_pool(4, CLEARPAGES_LAZY, pager, 0);
	files = open_files();
	before = live_free(HUGE);
	for (i = 0; i < CYCLES; i++) {
		size_t pages = 1 + i % 4;

		if (clearpages_pool_get(p, pages * HUGE, NULL, &a)) {
			bad++;
			continue;
		}
		if (i % 16 == 0)
			((char *)a)[i % (pages * HUGE)] = 1;
		bad += !!clearpages_pool_put(p, a, pages * HUGE);
	}
	after = live_free(HUGE);
	tap_ok(!bad && stats_of(p).dirty_bytes + stats_of(p).clean_bytes == 4 * HUGE &&
	       open_files() == files, "%s: %u cycles of get and put", pager_names[pager], CYCLES);
	if (before != after)
		tap_note("free pages %llu, then %llu: somebody else's?", (unsigned long long)before,
			 (unsigned long long)after);
	tap_ok(!clearpages_pool_destroy(p), "... and all of it is still there");
}

/* Not under ThreadSanitizer: no more races than in a page of 2 MiB, in minutes. */
static bool live_giga(const char *name)
{
#ifdef __SANITIZE_THREAD__
	tap_skip(name, "left out under ThreadSanitizer");
	return false;
#else
	if (!live_pages(GIGA, 1))
		tap_skip(name, "none to be had");
	return live_free(GIGA) > 0;
#endif
}

/* One page, cleared by two threads. */
static void test_giga_eager(void)
{
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .bytes = GIGA, .page_bytes = GIGA, .threads = 2,
		.backing = CLEARPAGES_BACKING_HUGETLB, .cleaners = CLEARPAGES_NONE,
	};
	struct clearpages_pool *p;
	void *a;

	if (!live_giga("eager: a page of 1 GiB"))
		return;
	p = pool_or_die(&o);
	clearpages_pool_get(p, GIGA, NULL, &a);
	memset(a, 0xaa, GIGA);
	clearpages_pool_put(p, a, GIGA);
	tap_ok(!clearpages_pool_get(p, 1, NULL, &a) && is_filled(a, GIGA, 0) &&
	       stats_of(p).get_cleared_bytes == GIGA, "eager: a page of 1 GiB");
	clearpages_pool_put(p, a, 1);
	clearpages_pool_destroy(p);
}

static void test_giga(uint32_t pager)
{
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .bytes = GIGA, .page_bytes = GIGA, .pager = pager,
		.backing = CLEARPAGES_BACKING_HUGETLB, .mode = CLEARPAGES_LAZY,
		.cleaners = CLEARPAGES_NONE,
	};
	struct clearpages_pool *p;
	void *a;

	if (!live_giga("a page of 1 GiB") || !live_lazy("a page of 1 GiB", pager, 1))
		return;
	p = pool_or_die(&o);
	clearpages_pool_get(p, GIGA, NULL, &a);
	memset(a, 0xaa, GIGA);
	clearpages_pool_put(p, a, GIGA);
	tap_ok(!clearpages_pool_get(p, 1, NULL, &a) && is_filled(a, GIGA, 0) &&
	       stats_of(p).fault_cleared_bytes == GIGA, "%s: a page of 1 GiB", pager_names[pager]);
	clearpages_pool_put(p, a, 1);
	clearpages_pool_destroy(p);
}

int main(void)
{
	uint32_t pager;

	for (pager = CLEARPAGES_PAGER_SIGNAL; pager <= CLEARPAGES_PAGER_PROTECT; pager++) {
		test_syscalls(pager);
		test_stats(pager);
		test_ahead(pager);
		test_cycles(pager);
		test_giga(pager);
	}
	test_giga_eager();
	return tap_done();
}
