// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who gets a SIGBUS or SIGSEGV: the pool whose page was touched, and for all
 * others the handler that was there before, as if ours did not exist. Each case
 * is a process of its own.
 */
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "test_live.h"

static uint32_t pager;
static int signo;

static sigjmp_buf back;
static volatile sig_atomic_t called, was_blocked, code, other_blocked;
static void *volatile where;

static void with_info(int n, siginfo_t *info, void *context)
{
	sigset_t mask;

	(void)context;
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	was_blocked = sigismember(&mask, n);
	other_blocked = sigismember(&mask, SIGUSR1) + 2 * sigismember(&mask, SIGUSR2);
	code = info->si_code;
	where = info->si_addr;
	called = called + 1;
	siglongjmp(back, 1);
}

static void plain(int n)
{
	(void)n;
	called = called + 1;
	siglongjmp(back, 1);
}

static void returns(int n)
{
	(void)n;
	called = called + 1;
}

static void before(void (*handler)(int), void (*action)(int, siginfo_t *, void *), int flags)
{
	struct sigaction a = { .sa_flags = flags };

	if (action) {
		a.sa_sigaction = action;
		a.sa_flags |= SA_SIGINFO;
	} else {
		a.sa_handler = handler;
	}
	sigaddset(&a.sa_mask, SIGUSR1);
	sigaction(signo, &a, NULL);
}

/* A fault of that kind which is not the pool's: beyond the end of a file, or read-only memory. */
static volatile char *foreign(void)
{
	char *m;

	if (signo == SIGSEGV)
		return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memfd_create("empty", 0), 0);
	return m;
}

static struct clearpages_pool *pool;
static volatile char *memory;

static void make(void)
{
	void *a;

	pool = dirty_pool(2, CLEARPAGES_LAZY, pager, 0);
	if (clearpages_pool_get(pool, 2 * HUGE, NULL, &a))
		_exit(99);
	memory = a;
}

/* ---- cases: 0 is right --------------------------------------------------------------- */

static int case_info(void)
{
	volatile char *f = foreign();

	before(NULL, with_info, 0);
	make();
	if (!sigsetjmp(back, 1))
		*f = 1;
	if (called != 1 || !was_blocked || other_blocked != 1 || where != (void *)f || code <= 0)
		return 1;
	memory[5] = 1;
	return memory[6] || called != 1;
}

static int case_plain(void)
{
	volatile char *f = foreign();

	before(plain, NULL, SA_NODEFER);
	make();
	if (!sigsetjmp(back, 1))
		*f = 1;
	memory[HUGE] = 1;
	return called != 1 || memory[HUGE + 1];
}

static int case_resethand(void)
{
	volatile char *f = foreign();

	before(plain, NULL, (int)SA_RESETHAND);
	make();
	if (!sigsetjmp(back, 1))
		*f = 1;
	if (called != 1)
		return 1;
	*f = 1; /* the default action now */
	return 2;
}

static int case_default(void)
{
	volatile char *f = foreign();

	make();
	memory[0] = 1;
	*f = 1;
	return 1;
}

/* A fault can't be ignored, a signal that was sent can. */
static int case_ignore_fault(void)
{
	volatile char *f = foreign();

	before(SIG_IGN, NULL, 0);
	make();
	*f = 1;
	return 1;
}

static int case_ignore_sent(void)
{
	before(SIG_IGN, NULL, 0);
	make();
	raise(signo);
	kill(getpid(), signo);
	memory[0] = 1;
	return memory[1];
}

static int case_sent_default(void)
{
	make();
	memory[0] = 1;
	raise(signo);
	return 1;
}

static int case_sent_handler(void)
{
	before(returns, NULL, 0);
	make();
	raise(signo);
	return called != 1;
}

static int case_restored(void)
{
	struct sigaction now;
	struct clearpages_pool *first;
	volatile char *a;

	before(returns, NULL, SA_RESTART);
	make();
	first = pool;
	a = memory;
	make();
	a[0] = memory[0] = 1;
	clearpages_pool_put(first, (void *)a, 2 * HUGE);
	if (clearpages_pool_destroy(first))
		return 1;
	memory[HUGE] = 1; /* one is left, and so is the handler */
	clearpages_pool_put(pool, (void *)memory, 2 * HUGE);
	if (clearpages_pool_destroy(pool) || sigaction(signo, NULL, &now))
		return 2;
	return now.sa_handler != returns || !(now.sa_flags & SA_RESTART);
}

/* Somebody put a handler over ours, and calls ours for what is not his. */
static struct sigaction ours;

static void over(int n, siginfo_t *info, void *context)
{
	called = called + 1;
	ours.sa_sigaction(n, info, context);
}

static int case_over(void)
{
	struct sigaction a = { .sa_sigaction = over, .sa_flags = SA_SIGINFO }, now;

	make();
	sigaction(signo, &a, &ours);
	memory[0] = 1;
	if (called != 1 || memory[1])
		return 1;
	clearpages_pool_put(pool, (void *)memory, 2 * HUGE);
	if (clearpages_pool_destroy(pool))
		return 2;
	sigaction(signo, NULL, &now);
	if (now.sa_sigaction != over)
		return 3;
	make(); /* in the chain twice, and no ring */
	memory[0] = 1;
	return called > 2 || memory[1];
}

/* A foreign fault comes by each handler once, whichever of ours it went through. */
static int case_no_ring(void)
{
	struct sigaction a = { .sa_sigaction = over, .sa_flags = SA_SIGINFO };
	volatile char *f = foreign();
	int i;

	before(plain, NULL, SA_NODEFER);
	for (i = 0; i < 7; i++) {
		struct sigaction under;

		make();
		memory[0] = 1;
		if (memory[1])
			return 1;
		if (!i)
			sigaction(signo, &a, &ours);
		clearpages_pool_put(pool, (void *)memory, 2 * HUGE);
		clearpages_pool_destroy(pool);
		sigaction(signo, NULL, &under);
		if (under.sa_sigaction != over)
			return 2;
	}
	make();
	called = 0;
	if (!sigsetjmp(back, 1))
		*f = 1;
	return called != 2; /* over and plain */
}

/* Somebody put a handler over ours and took it away again, to the default. */
static int case_default_again(void)
{
	struct sigaction a = { .sa_sigaction = over, .sa_flags = SA_SIGINFO };

	make();
	sigaction(signo, &a, NULL);
	clearpages_pool_put(pool, (void *)memory, 2 * HUGE);
	if (clearpages_pool_destroy(pool))
		return 1;
	signal(signo, SIG_DFL);
	make();
	memory[0] = 1;
	if (memory[1])
		return 2;
	signal(signo, SIG_DFL); /* a second pool, while there is a first one */
	make();
	memory[0] = 1;
	return memory[1];
}

/* Somebody's handler that does not call ours is there when a pool is made: ours goes first. */
static int case_over_deaf(void)
{
	struct sigaction a = { .sa_handler = plain };

	make();
	sigaction(signo, &a, NULL);
	clearpages_pool_put(pool, (void *)memory, 2 * HUGE);
	if (clearpages_pool_destroy(pool))
		return 1;
	make();
	memory[0] = 1;
	return memory[1] || called;
}

/* The thread's errno and its mask are as they were. */
static int case_unseen(void)
{
	sigset_t was, is;
	int k;

	make();
	pthread_sigmask(SIG_BLOCK, NULL, &was);
	errno = ENOTTY;
	memory[0] = 1;
	if (errno != ENOTTY)
		return 1;
	pthread_sigmask(SIG_BLOCK, NULL, &is);
	for (k = 1; k < NSIG; k++)
		if (sigismember(&was, k) != sigismember(&is, k))
			return 2;
	return 0;
}

static int case_many(void)
{
	enum { POOLS = 40 };
	struct clearpages_pool *p[POOLS];
	char *a[POOLS];
	size_t i, bad = 0;

	for (i = 0; i < POOLS; i++) {
		struct clearpages_pool_opts o = {
			.size = sizeof(o), .bytes = HUGE, .page_bytes = HUGE, .pager = pager,
			.mode = CLEARPAGES_LAZY, .backing = CLEARPAGES_BACKING_HUGETLB,
			.cleaners = CLEARPAGES_NONE,
		};
		void *m;

		p[i] = pool_or_die(&o);
		bad += !!clearpages_pool_get(p[i], HUGE, NULL, &m);
		a[i] = m;
		memset(a[i], 0xaa, HUGE);
		bad += !!clearpages_pool_put(p[i], a[i], HUGE);
		bad += !!clearpages_pool_get(p[i], HUGE, NULL, &m);
	}
	for (i = 0; i < POOLS; i++)
		bad += a[i][7] != 0;
	for (i = 0; i < POOLS; i++)
		bad += clearpages_pool_put(p[i], a[i], HUGE) || clearpages_pool_destroy(p[i]);
	return bad != 0;
}

/* ---- running them -------------------------------------------------------------------- */

static void run(const char *name, int (*fn)(void), bool dies)
{
	struct rlimit none = { 0, 0 };
	int status;
	pid_t pid = fork();

	if (!pid) {
		setrlimit(RLIMIT_CORE, &none);
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		alarm(60);
		_exit(fn());
	}
	waitpid(pid, &status, 0);
	tap_ok(dies ? WIFSIGNALED(status) && WTERMSIG(status) == signo : !status, "%s: %s (%#x)",
	       strsignal(signo), name, status);
}

static void test_mode(const char *name, uint32_t mode, int number)
{
	pager = mode;
	signo = number;
	if (!live_lazy(name, mode, 40))
		return;
	run("a foreign fault goes to the SA_SIGINFO handler before ours", case_info, false);
	run("... to a plain one, with SA_NODEFER", case_plain, false);
	run("... to one with SA_RESETHAND, once", case_resethand, true);
	run("... to the default action", case_default, true);
	run("... to the default action where it was ignored", case_ignore_fault, true);
	run("one that was sent is ignored where it was", case_ignore_sent, false);
	run("... ends the program by default", case_sent_default, true);
	run("... goes to the handler before ours", case_sent_handler, false);
	run("the last pool restores the handler before ours", case_restored, false);
	run("a handler over ours that calls ours", case_over, false);
	run("... and a foreign fault goes round in no ring", case_no_ring, false);
	run("the handler before is the default again", case_default_again, false);
	run("a handler over ours that calls nobody, and a new pool", case_over_deaf, false);
	run("errno and the mask are as they were", case_unseen, false);
	run("40 pools, more than a block of slots", case_many, false);
}

int main(void)
{
	test_mode("SIGBUS", CLEARPAGES_PAGER_SIGNAL, SIGBUS);
	test_mode("SIGSEGV", CLEARPAGES_PAGER_PROTECT, SIGSEGV);
	return tap_done();
}
