// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program does around a lazy pool, without asking it: it forks, has signal handlers,
 * protects and drops pages that it holds, closes descriptors. Each case is a process of
 * its own, and has to end by itself.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

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

/* ---- signal handlers ----------------------------------------------------------------- */

static char *volatile target;
static atomic_uint ticks;

static void touches(int n)
{
	(void)n;
	if (target)
		*(volatile char *)target = 7;
	atomic_fetch_add(&ticks, 1);
}

static void start_ticking(void)
{
	const struct itimerspec often = { { 0, 70000 }, { 0, 70000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct sigaction a = { .sa_handler = touches };
	timer_t timer;

	sigaction(SIGUSR1, &a, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &often, NULL);
}

/* The handler touches the very page that its thread makes ready. */
static int case_handler_touches(void)
{
	struct clearpages_pool *p = dirty_pool(PAGES, CLEARPAGES_LAZY, pager, 0);
	unsigned int round, i;
	char *a;

	start_ticking();
	for (round = 0; round < 300; round++) {
		a = lazy(p, PAGES);
		for (i = 0; i < PAGES; i++) {
			target = a + i * HUGE;
			if (clearpages_pool_touch(p, a + i * HUGE, 1))
				return 1;
			target[1] = 1;
		}
		target = NULL;
		if (clearpages_pool_put(p, a, PAGES * HUGE))
			return 2;
	}
	return ticks > 50 ? 0 : 3;
}

/* ---- the pager's threads -------------------------------------------------------------- */

static atomic_bool enough;

static void *spin(void *arg)
{
	(void)arg;
	while (!enough)
		;
	return NULL;
}

/* Four readers and somebody else on one cpu: each has to hear that it is over. */
static int case_many_ends(void)
{
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .bytes = HUGE, .page_bytes = HUGE, .pager = pager,
		.mode = CLEARPAGES_LAZY, .backing = CLEARPAGES_BACKING_HUGETLB, .handlers = 4,
		.cleaners = CLEARPAGES_NONE,
	};
	pthread_t other;
	cpu_set_t one;
	unsigned int i;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	pthread_create(&other, NULL, spin, NULL);
	for (i = 0; i < 100; i++)
		clearpages_pool_destroy(pool_or_die(&o));
	enough = true;
	pthread_join(other, NULL);
	return 0;
}

/* The pager's thread ends where it maps a page. */
static pid_t not_me;

static int die_there(int fd, unsigned long request, void *arg)
{
	if (request == UFFDIO_CONTINUE && syscall(SYS_gettid) != not_me)
		syscall(SYS_exit, 0);
	return ioctl(fd, request, arg);
}

static void close_all(void)
{
	syscall(SYS_close_range, 3, ~0u, 0);
}

/* Who moves memory waits until its event is read: there is nobody else to read it. */
static int case_reader_dies(void)
{
	struct clearpages_pool *p = dirty_pool(PAGES, CLEARPAGES_LAZY, pager, 0);
	char *a = lazy(p, PAGES), *to;

	pager_ioctl = die_there;
	not_me = getpid();
	if (read(open("/dev/zero", O_RDONLY), a, 1) >= 0)
		return 1;
	if (!(stats_of(p).limits & CLEARPAGES_POOL_BROKEN))
		return 2;
	to = mmap(NULL, 2 * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	to = (char *)(((uintptr_t)to + HUGE - 1) & ~(HUGE - 1));
	if (mremap(a, HUGE, HUGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		return 3;
	return clearpages_pool_put(p, a, PAGES * HUGE) || clearpages_pool_destroy(p) ? 4 : 0;
}

/* ---- pages that the program holds ---------------------------------------------------- */

/* A loop that does not end is killed; a loop that ends has seen what is right. */
static int case_dropped(void)
{
	struct clearpages_pool *p = dirty_pool(PAGES, CLEARPAGES_LAZY, pager, 0);
	volatile char *a = lazy(p, PAGES);

	a[5] = 7;
	a[HUGE + 5] = 7;
	if (madvise((void *)a, HUGE, MADV_DONTNEED))
		return 1;
	if (a[5] != 7) /* it is in the file */
		return 2;
	if (madvise((void *)(a + HUGE), HUGE, MADV_REMOVE))
		return 3;
	if (!clear_everywhere(a + HUGE, 1))
		return 4;
	return clear_everywhere(a + 2 * HUGE, 2) ? end(p, (void *)a) : 5;
}

/* What is no longer there cannot be made ready, nor handed out. */
static int case_unmapped(void)
{
	struct clearpages_pool *p = dirty_pool(PAGES, CLEARPAGES_LAZY, pager, 0);
	char *a = lazy(p, PAGES);
	void *b;

	munmap(a, PAGES * HUGE);
	if (clearpages_pool_touch(p, a, HUGE) != -EIO)
		return 1;
	if (clearpages_pool_put(p, a, PAGES * HUGE))
		return 2;
	/* The first one is clean by now, and get wants to map it. */
	return clearpages_pool_get(p, HUGE, NULL, &b) == -EIO ? 0 : 3;
}

static sigjmp_buf back;
static volatile char *volatile guarded;
static volatile sig_atomic_t caught;

static void on_guard(int n, siginfo_t *info, void *context)
{
	(void)n, (void)context;
	caught = caught + 1;
	if (info->si_addr == guarded && caught % 2)
		mprotect((void *)guarded, HUGE, PROT_READ | PROT_WRITE);
	else
		siglongjmp(back, 1);
}

/* A guard that the program has put on a page in use is the program's. */
static int case_guarded(void)
{
	struct sigaction own = { .sa_sigaction = on_guard, .sa_flags = SA_SIGINFO };
	struct clearpages_pool *p;
	volatile char *a;

	sigaction(SIGSEGV, &own, NULL);
	p = dirty_pool(PAGES, CLEARPAGES_LAZY, pager, 0);
	a = guarded = lazy(p, PAGES);
	a[0] = 1;
	mprotect((void *)a, HUGE, PROT_READ);
	if (a[0] != 1 || caught)
		return 1;
	a[0] = 2; /* the handler takes the guard away */
	if (caught != 1 || a[0] != 2)
		return 2;
	mprotect((void *)a, HUGE, PROT_NONE);
	if (!sigsetjmp(back, 1))
		return a[0] ? 3 : 4;
	mprotect((void *)a, HUGE, PROT_READ | PROT_WRITE);
	if (!sigsetjmp(back, 1)) {
		caught = 1;
		((void (*)(void))(uintptr_t)a)();
		return 5;
	}
	return clear_everywhere(a + HUGE, 3) ? end(p, (void *)a) : 6;
}

/* ---- descriptors --------------------------------------------------------------------- */

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

/* A program that becomes a daemon after it has made a pool. The number is a file's again. */
static int all_closed(bool reused)
{
	struct clearpages_pool *p = dirty_pool(PAGES, CLEARPAGES_LAZY, pager, 0);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), round, i;
	char *a;

	if (reused && p->pager->uffd >= 0 && dup2(null, p->pager->uffd) < 0)
		return 1;
	if (!reused)
		close_all();
	for (round = 0; round < 50; round++) {
		a = lazy(p, PAGES);
		if (a[HUGE] || clearpages_pool_touch(p, a, 1) || !clear_everywhere(a, PAGES))
			return 2;
		/* One stays untouched, and is clean then: it is mapped by the next get. */
		clearpages_pool_put(p, a, PAGES * HUGE);
		a = lazy(p, PAGES);
		if (clearpages_pool_touch(p, a, (size_t)(round % 4 + 1) * HUGE))
			return 3;
		for (i = 0; i < PAGES; i++)
			memset(a + i * HUGE, 0xaa, HUGE);
		if (clearpages_pool_put(p, a, PAGES * HUGE))
			return 4;
	}
	return clearpages_pool_destroy(p) ? 5 : reused && fcntl(null, F_GETFD) < 0 ? 6 : 0;
}

static int case_closed(void)
{
	return all_closed(false);
}

static int case_reused(void)
{
	return all_closed(true);
}

/* What a get finds clean it maps, and that too needs the descriptor. */
static int case_closed_clean(void)
{
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .bytes = PAGES * HUGE, .page_bytes = HUGE, .pager = pager,
		.mode = CLEARPAGES_LAZY, .backing = CLEARPAGES_BACKING_HUGETLB,
	};
	struct clearpages_pool *p = pool_or_die(&o);
	struct clearpages_pool_stats s = { .size = sizeof(s) };
	char *a;
	int i;

	close_all();
	a = lazy(p, PAGES);
	memset(a, 0xaa, PAGES * HUGE);
	clearpages_pool_put(p, a, PAGES * HUGE);
	for (i = 0; i < 5000 && s.clean_bytes < PAGES * HUGE; i++) {
		usleep(1000);
		s = stats_of(p);
	}
	a = lazy(p, PAGES);
	return clear_everywhere(a, PAGES) ? end(p, a) : 1;
}

/* ---- running them -------------------------------------------------------------------- */

/* What waits in a signal handler does not hear an alarm. */
static int status_of(pid_t pid)
{
	int status = -1, k;

	for (k = 0; k < 20000; k++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		usleep(1000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return status;
}

static void run(const char *name, int (*fn)(void))
{
	struct rlimit none = { 0, 0 };
	int status;
	pid_t pid = fork();

	if (!pid) {
		setrlimit(RLIMIT_CORE, &none);
		signal(SIGSEGV, SIG_DFL); /* sanitizers have handlers of their own */
		signal(SIGBUS, SIG_DFL);
		_exit(fn());
	}
	status = status_of(pid);
	tap_ok(!status, "%s: %s (%#x)", pager_names[pager], name, status);
}

static void test_mode(void)
{
	if (!live_lazy(pager_names[pager], pager, (size_t)2 * PAGES))
		return;
	run("a child destroys the pool and makes its own", case_child);
	run("a handler touches what its thread makes ready", case_handler_touches);
	run("made and destroyed with four threads on a busy cpu", case_many_ends);
	if (pager == CLEARPAGES_PAGER_THREAD)
		run("the reader dies, and memory is moved", case_reader_dies);
	if (pager != CLEARPAGES_PAGER_PROTECT)
		run("pages are dropped while in use", case_dropped);
	run("pages are unmapped while in use", case_unmapped);
	run("a page in use is protected by the program", case_guarded);
	run("a second pool has the descriptor's number", case_same_number);
	run("all descriptors are closed", case_closed);
	run("its number is another file's", case_reused);
	run("all descriptors are closed, and a cleaner is at work", case_closed_clean);
}

int main(void)
{
	for (pager = CLEARPAGES_PAGER_SIGNAL; pager <= CLEARPAGES_PAGER_PROTECT; pager++)
		test_mode();
	return tap_done();
}
