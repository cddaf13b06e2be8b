// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages full of 0xaa are handed out lazily, and then everything is tried that
 * could show them before they are cleared. Each attempt is a process of its own,
 * and may end in zeros, in an error or in a signal, but never in 0xaa, nor in
 * waiting for ever.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "../../lib/pager.h"
#include "test_live.h"

enum { PAGES = 6 };

/* 1 is what a test ends with that could not begin: somebody else took the pages. */
enum end { BROKEN = 1, ZEROS = 2, ERROR = 4, SIGNAL = 8, OLD = 16, STUCK = 32 };

static const char *const end_names[] = { "a broken test", "zeros", "an error", "a signal",
					 "OLD BYTES", "STUCK" };

/* The exit status of an attempt. */
_Noreturn static void leave(enum end end)
{
	_exit((int)end);
}

static enum end look(const volatile char *at, size_t len)
{
	size_t i;

	for (i = 0; i < len; i += 512)
		if (at[i])
			return OLD;
	return ZEROS;
}

/* The last byte of each page first: where a clearing that is under way comes last. */
static enum end look_everywhere(const volatile char *a)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		if (a[(i + 1) * HUGE - 1])
			return OLD;
	return look(a, PAGES * HUGE);
}

/* ---- attempts ------------------------------------------------------------------------ */

static void *look_thread(void *a)
{
	if (look_everywhere(a) == OLD)
		leave(OLD);
	return NULL;
}

static void plainly(struct clearpages_pool *p, char *a)
{
	(void)p;
	leave(look_everywhere(a));
}

static void close_all(void)
{
	syscall(SYS_close_range, 3, ~0u, 0);
}

static void close_first(struct clearpages_pool *p, char *a)
{
	(void)p;
	close_all();
	leave(look_everywhere(a));
}

static void close_meanwhile(struct clearpages_pool *p, char *a)
{
	pthread_t thread[3];
	int i;

	(void)p;
	for (i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, look_thread, a);
	usleep(150);
	close_all();
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	leave(ZEROS);
}

/* The number is somebody else's file now: it must not be written to, closed or obeyed. */
static void close_and_reuse(struct clearpages_pool *p, char *a)
{
	int fd, uffd = p->pager->uffd, null = open("/dev/zero", O_RDWR);

	if (uffd >= 0)
		dup2(null, uffd);
	clearpages_pool_put(p, a, PAGES * HUGE);
	if (clearpages_pool_destroy(p))
		leave(BROKEN);
	fd = uffd >= 0 ? fcntl(uffd, F_GETFD) : 0;
	leave(fd < 0 ? BROKEN : ERROR);
}

static void in_a_child(struct clearpages_pool *p, char *a)
{
	int status;
	pid_t pid = fork();

	(void)p;
	if (!pid) {
		struct rlimit none = { 0, 0 };

		setrlimit(RLIMIT_CORE, &none);
		leave(look_everywhere(a));
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == OLD)
		leave(OLD);
	if (look_everywhere(a) == OLD)
		leave(OLD);
	leave(WIFSIGNALED(status) ? SIGNAL : ZEROS);
}

static void moved(struct clearpages_pool *p, char *a)
{
	char *to = mmap(NULL, 4 * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *now;

	(void)p;
	to = (char *)(((uintptr_t)to + HUGE - 1) & ~(HUGE - 1));
	now = mremap(a + HUGE, 2 * HUGE, 2 * HUGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	if (now == MAP_FAILED)
		leave(ERROR);
	leave(look(now, 2 * HUGE));
}

static void moved_and_put(struct clearpages_pool *p, char *a)
{
	char *to = mmap(NULL, 4 * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *b;
	int err;

	to = (char *)(((uintptr_t)to + HUGE - 1) & ~(HUGE - 1));
	if (mremap(a + HUGE, 2 * HUGE, 2 * HUGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED)
		leave(ERROR);
	a[0] = 1;
	if (clearpages_pool_put(p, a, PAGES * HUGE))
		leave(BROKEN);
	err = clearpages_pool_get(p, PAGES * HUGE, NULL, &b);
	leave(err ? ERROR : look_everywhere(b));
}

static void through_mem(struct clearpages_pool *p, char *a)
{
	int fd = open("/proc/self/mem", O_RDONLY);
	char buffer[4096];
	ssize_t got = pread(fd, buffer, sizeof(buffer), (off_t)(uintptr_t)(a + 2 * HUGE));

	(void)p;
	leave(got <= 0 ? ERROR : look(buffer, (size_t)got));
}

static void through_vm_readv(struct clearpages_pool *p, char *a)
{
	char buffer[4096];
	struct iovec local = { buffer, sizeof(buffer) }, remote = { a + HUGE, sizeof(buffer) };
	ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	(void)p;
	leave(got <= 0 ? ERROR : look(buffer, (size_t)got));
}

/* Is there a descriptor that leads to the file? */
static void through_the_file(struct clearpages_pool *p, char *a)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	char *m;

	(void)p, (void)a;
	while ((e = readdir(d))) {
		int fd = (int)strtol(e->d_name, NULL, 10);

		if (fd < 3)
			continue;
		m = mmap(NULL, HUGE, PROT_READ, MAP_SHARED, fd, 0);
		if (m != MAP_FAILED && look(m, HUGE) == OLD)
			leave(OLD);
	}
	leave(ERROR);
}

static void blocked(struct clearpages_pool *p, char *a)
{
	sigset_t all;

	(void)p;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	leave(look_everywhere(a));
}

/* A handler thread is gone between clearing and mapping: the worst moment. */
static int die_instead(int fd, unsigned long request, void *arg)
{
	if (request == UFFDIO_CONTINUE)
		syscall(SYS_exit, 0);
	return ioctl(fd, request, arg);
}

static void dead_handler(struct clearpages_pool *p, char *a)
{
	pthread_t thread;

	pager_ioctl = die_instead;
	/* It waits for the page that the dead one had claimed; the others are never asked. */
	pthread_create(&thread, NULL, look_thread, a);
	pthread_join(thread, NULL);
	leave(p->limits & CLEARPAGES_POOL_BROKEN ? ZEROS : BROKEN);
}

static void dead_handler_then_get(struct clearpages_pool *p, char *a)
{
	void *b;
	int err;

	pager_ioctl = die_instead;
	/* By a system call, which survives what a load would not. */
	if (write(open("/dev/null", O_WRONLY), a, 1) < 0 && errno != EFAULT)
		leave(BROKEN);
	if (read(open("/dev/zero", O_RDONLY), a + HUGE, 1) >= 0)
		leave(BROKEN);
	if (clearpages_pool_put(p, a, PAGES * HUGE))
		leave(BROKEN);
	err = clearpages_pool_get(p, HUGE, NULL, &b);
	leave(err ? ERROR : look(b, HUGE));
}

static void after_put(struct clearpages_pool *p, char *a)
{
	a[HUGE] = 1;
	clearpages_pool_put(p, a, PAGES * HUGE);
	leave(look_everywhere(a));
}

static void *touch_slowly(void *arg)
{
	char *a = arg;
	size_t i;

	for (i = 0; i < PAGES; i++)
		if (look(a + i * HUGE, HUGE) == OLD)
			leave(OLD);
	return NULL;
}

static void put_during_a_fault(struct clearpages_pool *p, char *a)
{
	pthread_t thread;

	pthread_create(&thread, NULL, touch_slowly, a);
	usleep(100);
	clearpages_pool_put(p, a, PAGES * HUGE);
	pthread_join(thread, NULL);
	leave(ZEROS);
}

/* Not tried either: the manual says that it is not prevented. */
#define LIMIT 0x80u

static const struct attempt {
	const char *name;
	void (*run)(struct clearpages_pool *p, char *a);
	unsigned int signal, thread, protect;	/* the ends that are right; 0: not tried; LIMIT */
} attempts[] = {
	{ "plain loads", plainly, ZEROS, ZEROS, ZEROS },
	{ "all descriptors closed", close_first, ZEROS, ZEROS, ZEROS },
	{ "all descriptors closed during faults", close_meanwhile, ZEROS, ZEROS, ZEROS },
	{ "its descriptor used for another file", close_and_reuse, ERROR, ERROR, ERROR },
	{ "in a child", in_a_child, SIGNAL, SIGNAL, SIGNAL },
	{ "moved by mremap", moved, SIGNAL | ERROR, SIGNAL | ERROR, SIGNAL | ERROR },
	{ "moved by mremap, put and gotten", moved_and_put, SIGNAL | ERROR, SIGNAL | ERROR,
	  SIGNAL | ERROR | ZEROS },
	{ "/proc/self/mem", through_mem, ERROR, ZEROS | ERROR, LIMIT },
	{ "process_vm_readv", through_vm_readv, ERROR, ZEROS, ERROR },
	{ "the file behind it", through_the_file, ERROR, ERROR, ERROR },
	{ "all signals blocked", blocked, SIGNAL, ZEROS, SIGNAL },
	{ "a dead handler thread", dead_handler, 0, SIGNAL, 0 },
	{ "a dead handler thread, put and get", dead_handler_then_get, 0, ERROR, 0 },
	{ "after put", after_put, SIGNAL, SIGNAL, SIGNAL },
	{ "put during a fault", put_during_a_fault, ZEROS | SIGNAL, ZEROS | SIGNAL,
	  ZEROS | SIGNAL },
};

/* ---- running them -------------------------------------------------------------------- */

static void child(const struct attempt *t, uint32_t pager)
{
	struct rlimit none = { 0, 0 };
	struct clearpages_pool *p;
	void *a;

	setrlimit(RLIMIT_CORE, &none);
	signal(SIGSEGV, SIG_DFL); /* sanitizers have handlers of their own */
	signal(SIGBUS, SIG_DFL);
	alarm(30);
	p = dirty_pool(PAGES, CLEARPAGES_LAZY, pager, 0);
	if (clearpages_pool_get(p, PAGES * HUGE, NULL, &a))
		leave(BROKEN);
	t->run(p, a);
	leave(BROKEN);
}

static enum end end_of(int status)
{
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGALRM ? STUCK :
		       WTERMSIG(status) == SIGBUS || WTERMSIG(status) == SIGSEGV ? SIGNAL : BROKEN;
	return (enum end)WEXITSTATUS(status);
}

static const char *end_name(enum end end)
{
	return end_names[__builtin_ctz((unsigned int)end | STUCK)];
}

static void attempt(const struct attempt *t, const char *mode, uint32_t pager,
		    unsigned int right)
{
	char name[96];
	enum end end;
	int status;
	pid_t pid;

	if (right == LIMIT) {
		snprintf(name, sizeof(name), "%s, %s", mode, t->name);
		tap_skip(name, "a stated limit");
	}
	if (!right || right == LIMIT)
		return;
	pid = fork();
	if (!pid)
		child(t, pager);
	waitpid(pid, &status, 0);
	end = end_of(status);
	tap_ok(end & right, "%s, %s: %s (%#x)", mode, t->name, end_name(end), status);
}

static void test_mode(const char *mode, uint32_t pager)
{
	unsigned int i, free_before;

	if (!live_lazy(mode, pager, PAGES))
		return;
	free_before = (unsigned int)live_free(HUGE);
	for (i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		const struct attempt *t = &attempts[i];

		attempt(t, mode, pager, pager == CLEARPAGES_PAGER_SIGNAL ? t->signal :
					pager == CLEARPAGES_PAGER_THREAD ? t->thread : t->protect);
	}
	/* Others on this machine take and return pages too: it has to come, not to be there. */
	for (i = 0; live_free(HUGE) < free_before && i < 2000; i++)
		usleep(1000);
	tap_ok(live_free(HUGE) >= free_before, "%s: all pages came back", mode);
}

/* ---- a cleaner at work meanwhile ----------------------------------------------------- */

static void test_cleaner(const char *name, uint32_t mode, uint32_t pager)
{
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .bytes = 4 * HUGE, .page_bytes = HUGE, .cleaners = 2,
		.backing = CLEARPAGES_BACKING_HUGETLB, .mode = mode, .pager = pager,
	};
	/* A cleaner that does not get to run is not what this is about. */
	struct clearpages_get_opts wait = { .size = sizeof(wait), .timeout_ns = UINT64_MAX };
	struct clearpages_pool *p;
	struct clearpages_pool_stats s;
	unsigned int i, bad = 0;
	void *a;

	if (!live_lazy(name, pager, 4))
		return;
	p = pool_or_die(&o);
	for (i = 0; i < 300 && !bad; i++) {
		size_t pages = 1 + below(4);

		bad += clearpages_pool_get(p, pages * HUGE, &wait, &a) ||
		       look(a, pages * HUGE) == OLD;
		memset(a, 0xaa, pages * HUGE);
		bad += !!clearpages_pool_put(p, a, pages * HUGE);
		if (i % 8 == 7)
			usleep((unsigned int)below(1000));
	}
	s = stats_of(p);
	tap_ok(!bad, "%s: a cleaner races get: %llu pages by it, %llu by get, %llu by faults",
	       name, (unsigned long long)s.cleaner_cleared_bytes / HUGE,
	       (unsigned long long)s.get_cleared_bytes / HUGE,
	       (unsigned long long)s.fault_cleared_bytes / HUGE);
	clearpages_pool_destroy(p);
}

int main(void)
{
	seed();
	test_mode("signal", CLEARPAGES_PAGER_SIGNAL);
	test_mode("thread", CLEARPAGES_PAGER_THREAD);
	test_mode("protect", CLEARPAGES_PAGER_PROTECT);
	test_cleaner("eager", CLEARPAGES_EAGER, CLEARPAGES_PAGER_SIGNAL);
	test_cleaner("signal", CLEARPAGES_LAZY, CLEARPAGES_PAGER_SIGNAL);
	test_cleaner("thread", CLEARPAGES_LAZY, CLEARPAGES_PAGER_THREAD);
	return tap_done();
}
