// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program does around a lazy pool, without asking it: it forks, has signal handlers,
 * protects and drops pages that it holds, closes descriptors. Each case is a process of
 * its own, and has to end by itself.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "../../lib/pager.h"
#include "test_live.h"

enum { PAGES = 4 };

static const char *const pager_names[] = { "signal", "thread", "protect" };

static uint32_t pager;

/* Untouched, with old bytes below. */
static char *lazy(struct clearpages_pool *p, size_t pages)
{
	void *a;

	if (clearpages_pool_get(p, pages * HUGE, NULL, &a))
		_exit(99);
	return a;
}

static bool clear_everywhere(const volatile char *a, size_t pages)
{
	size_t i;

	for (i = 0; i < pages * HUGE; i += 512)
		if (a[i])
			return false;
	return true;
}

static int end(struct clearpages_pool *p, char *a)
{
	return clearpages_pool_put(p, a, PAGES * HUGE) || clearpages_pool_destroy(p);
}

/* ---- a child ------------------------------------------------------------------------- */

/* Its own pool of the same size is mapped where the inherited one was. */
static int own_pool(struct clearpages_pool *inherited)
{
	unsigned int files = open_files();
	struct clearpages_pool *p;
	int i;

	if (clearpages_pool_destroy(inherited))
		return 1;
	if (open_files() != files - (pager != CLEARPAGES_PAGER_PROTECT))
		return 2;
	for (i = 0; i < 2; i++) {
		char *a;

		p = dirty_pool(PAGES, CLEARPAGES_LAZY, pager, 0);
		a = lazy(p, PAGES);
		if (!clear_everywhere(a, PAGES))
			return 3;
		if (end(p, a))
			return 4;
	}
	return 0;
}

static int case_child(void)
{
	struct clearpages_pool *p = dirty_pool(PAGES, CLEARPAGES_LAZY, pager, 0);
	char *a = lazy(p, PAGES);
	int status;
	pid_t pid;

	a[0] = 1;
	pid = fork();
	if (!pid)
		_exit(own_pool(p));
	waitpid(pid, &status, 0);
	if (status)
		return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
	return a[HUGE] || end(p, a) ? 50 : 0;
}

/* ---- descriptors --------------------------------------------------------------------- */

static void close_all(void)
{
	syscall(SYS_close_range, 3, ~0u, 0);
}

/* The second pool's userfaultfd has the number that the first one's had. */
static int case_same_number(void)
{
	struct clearpages_pool *first = dirty_pool(PAGES, CLEARPAGES_LAZY, pager, 0), *second;
	char *a;

	close_all();
	second = dirty_pool(PAGES, CLEARPAGES_LAZY, pager, 0);
	if (first->pager->uffd != second->pager->uffd)
		return 1;
	a = lazy(second, PAGES);
	if (clearpages_pool_destroy(first))
		return 2;
	if (second->pager->uffd >= 0 && fcntl(second->pager->uffd, F_GETFD) < 0)
		return 3;
	return clear_everywhere(a, PAGES) ? end(second, a) : 4;
}

/* ---- running them -------------------------------------------------------------------- */

static void run(const char *name, int (*fn)(void))
{
	struct rlimit none = { 0, 0 };
	int status;
	pid_t pid = fork();

	if (!pid) {
		setrlimit(RLIMIT_CORE, &none);
		signal(SIGSEGV, SIG_DFL); /* sanitizers have handlers of their own */
		signal(SIGBUS, SIG_DFL);
		alarm(60);
		_exit(fn());
	}
	waitpid(pid, &status, 0);
	tap_ok(!status, "%s: %s (%#x)", pager_names[pager], name, status);
}

static void test_mode(void)
{
	if (!live_lazy(pager_names[pager], pager, 2 * PAGES))
		return;
	run("a child destroys the pool and makes its own", case_child);
	run("a second pool has the descriptor's number", case_same_number);
}

int main(void)
{
	for (pager = CLEARPAGES_PAGER_SIGNAL; pager <= CLEARPAGES_PAGER_PROTECT; pager++)
		test_mode();
	return tap_done();
}
