/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SIGBUS (or SIGSEGV) of a thread that touched an untouched page. One handler
 * for all pools of the process; what is not for one of them goes to the handler
 * that was there before, as if ours did not exist.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "pager.h"

#define SLOTS 32

/*
 * Where the pools are. The handler reads this at any time, so that nothing of
 * it is ever freed: a slot without a pool is used again, and blocks are only added.
 */
struct slot {
	_Atomic(uintptr_t) base, end;	/* 0: free */
	_Atomic(int) signo;
	_Atomic(struct clearpages_pool *) pool;
	_Atomic(uint32_t) users;	/* handlers that may be looking at pool */
};

struct block {
	struct slot slot[SLOTS];
	_Atomic(struct block *) next;
};

/* Our handler at one place in the chain of handlers, and what it goes on to. */
struct link {
	bool installed;
	struct sigaction before;	/* written before our handler can read it */
	atomic_bool reset;		/* before had SA_RESETHAND, and has had its turn */
};

/*
 * A handler over ours may call ours, or not. When ours is put over it, it is by another
 * function, with a link of its own: so it cannot be called by what it calls.
 */
#define LINKS 4

/* One for each of the two signals. */
struct chain {
	int signo;
	unsigned int pools;
	struct link link[LINKS];
};

static struct block blocks;
static struct chain chains[] = { { .signo = SIGBUS }, { .signo = SIGSEGV } };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * A child of fork() has the one thread that made it: those that held the lock or
 * were in the handler are not there to let go.
 */
static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
	struct block *b;
	size_t i;

	for (b = &blocks; b; b = b->next)
		for (i = 0; i < SLOTS; i++)
			b->slot[i].users = 0;
	pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static int mind_forks(void)
{
	static bool minded;
	int err = minded ? 0 : -pthread_atfork(before_fork, after_fork, in_child);

	minded = !err;
	return err;
}

static struct chain *chain_of(int signo)
{
	return &chains[signo == SIGSEGV];
}

/* ---- the handler ----------------------------------------------------------------- */

static bool serve_in(struct slot *s, int signo, uintptr_t addr, enum access access)
{
	struct clearpages_pool *p;
	bool served = false;

	if (addr < s->base || addr >= s->end)
		return false;
	atomic_fetch_add(&s->users, 1);
	/* Again: signal_remove() empties it first, and waits for users then. */
	if (addr >= s->base && addr < s->end && s->signo == signo) {
		p = s->pool;
		served = !pager_fault(p, addr, access);
	}
	atomic_fetch_sub(&s->users, 1);
	return served;
}

/* A page that is not there, or not permitted yet; not a memory error, and not kill(2). */
static bool may_be_ours(const siginfo_t *info)
{
	return info->si_code == (info->si_signo == SIGBUS ? BUS_ADRERR : SEGV_ACCERR);
}

/* The processor's error code of a page fault: bit 1 a store, bit 4 an instruction. */
static enum access access_of(const ucontext_t *context)
{
	greg_t code = context->uc_mcontext.gregs[REG_ERR];

	if (code & 1 << 4)
		return ACCESS_FETCH;
	if (code & 1 << 1)
		return ACCESS_WRITE;
	return ACCESS_READ;
}

static bool serve(const siginfo_t *info, enum access access)
{
	uintptr_t addr = (uintptr_t)info->si_addr;
	struct block *b;
	size_t i;

	for (b = &blocks; b; b = b->next)
		for (i = 0; i < SLOTS; i++)
			if (serve_in(&b->slot[i], info->si_signo, addr, access))
				return true;
	return false;
}

/*
 * The default action. For a fault it is enough to leave: the instruction runs
 * again. A signal that somebody sent has to be sent once more.
 */
static void by_default(int signo, bool fault)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };

	sigaction(signo, &dfl, NULL);
	if (!fault)
		raise(signo);
}

/* With the signals blocked that the kernel would have blocked for it. */
static void call(const struct sigaction *before, int signo, siginfo_t *info, void *context)
{
	sigset_t mask = ((ucontext_t *)context)->uc_sigmask;
	int k;

	for (k = 1; k < NSIG; k++)
		if (sigismember(&before->sa_mask, k) == 1)
			sigaddset(&mask, k);
	if (!(before->sa_flags & SA_NODEFER))
		sigaddset(&mask, signo);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (before->sa_flags & SA_SIGINFO)
		before->sa_sigaction(signo, info, context);
	else
		before->sa_handler(signo);
}

static void forward(struct link *l, int signo, siginfo_t *info, void *context)
{
	const struct sigaction *before = &l->before;
	bool handler = before->sa_flags & SA_SIGINFO ||
		       (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN);
	/* An error in memory that nobody has touched yet can be ignored; a fault cannot. */
	bool fault = info->si_code > 0 &&
		     !(signo == SIGBUS && info->si_code == BUS_MCEERR_AO);

	if (handler && before->sa_flags & SA_RESETHAND && atomic_exchange(&l->reset, true))
		handler = false;
	if (handler)
		call(before, signo, info, context);
	else if (fault || before->sa_handler != SIG_IGN)
		by_default(signo, fault);
}

static void on_signal(unsigned int k, int signo, siginfo_t *info, void *context)
{
	int saved = errno;

	if (!may_be_ours(info) || !serve(info, access_of(context))) {
		errno = saved;
		forward(&chain_of(signo)->link[k], signo, info, context);
		return;
	}
	errno = saved;
}

static void on_signal_0(int signo, siginfo_t *info, void *context)
{
	on_signal(0, signo, info, context);
}

static void on_signal_1(int signo, siginfo_t *info, void *context)
{
	on_signal(1, signo, info, context);
}

static void on_signal_2(int signo, siginfo_t *info, void *context)
{
	on_signal(2, signo, info, context);
}

static void on_signal_3(int signo, siginfo_t *info, void *context)
{
	on_signal(3, signo, info, context);
}

static void (*const entry[LINKS])(int, siginfo_t *, void *) = {
	on_signal_0, on_signal_1, on_signal_2, on_signal_3,
};

/* ---- putting it in place --------------------------------------------------------- */

/* Which of our links that is, or LINKS. */
static unsigned int link_of(const struct sigaction *a)
{
	unsigned int k = 0;

	while (k < LINKS && !(a->sa_flags & SA_SIGINFO && a->sa_sigaction == entry[k]))
		k++;
	return k;
}

/*
 * All signals are blocked in our handler, those with which the C library
 * cancels threads as well (sigfillset() leaves them out): a thread that is taken
 * away from a page that it has claimed would leave it claimed.
 *
 * The first pool looks whether ours is on top, and puts it there; a later one only where
 * it cannot be below: a handler that was put over ours has to call it, as the manual says.
 * One that may be in the chain for good, below somebody else's, is not used twice; when
 * none is left, what is there has to do, and over the default the last one once more.
 */
static int install(struct chain *c)
{
	struct sigaction ours = { .sa_flags = SA_SIGINFO | SA_ONSTACK }, now;
	unsigned int k = 0;
	bool default_now;

	if (sigaction(c->signo, NULL, &now))
		return -errno;
	default_now = !(now.sa_flags & SA_SIGINFO) &&
		      (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN);
	if (link_of(&now) < LINKS || (c->pools && !default_now))
		return 0;
	while (k < LINKS && c->link[k].installed)
		k++;
	if (k == LINKS && !default_now)
		return 0;
	if (k == LINKS)
		k--;
	memset(&ours.sa_mask, 0xff, sizeof(ours.sa_mask));
	ours.sa_sigaction = entry[k];
	c->link[k].reset = false;
	c->link[k].before = now;
	if (sigaction(c->signo, &ours, NULL))
		return -errno;
	c->link[k].installed = true;
	return 0;
}

/* A handler that was put over ours stays, and may call ours: then ours stays in the chain. */
static void uninstall(struct chain *c)
{
	struct sigaction now;
	unsigned int k = sigaction(c->signo, NULL, &now) ? LINKS : link_of(&now);

	if (k == LINKS)
		return;
	sigaction(c->signo, &c->link[k].before, NULL);
	c->link[k].installed = false;
}

static struct slot *free_slot(void)
{
	struct block *b = &blocks, *more;
	size_t i;

	for (;; b = b->next) {
		for (i = 0; i < SLOTS; i++)
			if (!b->slot[i].end)
				return &b->slot[i];
		if (b->next)
			continue;
		more = calloc(1, sizeof(*more));
		if (!more)
			return NULL;
		b->next = more;
	}
}

int signal_add(struct clearpages_pool *p, int signo)
{
	struct chain *c = chain_of(signo);
	struct slot *s;
	int err;

	pthread_mutex_lock(&lock);
	s = free_slot();
	err = s ? mind_forks() : -ENOMEM;
	if (!err)
		err = install(c);
	if (!err) {
		c->pools++;
		s->pool = p;
		s->signo = signo;
		s->base = (uintptr_t)p->base;
		s->end = (uintptr_t)p->base + p->bytes;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

static void empty(struct slot *s)
{
	struct chain *c = chain_of(s->signo);

	s->end = 0;
	s->base = 0;
	while (s->users)
		sched_yield();
	s->pool = NULL;
	if (!--c->pools)
		uninstall(c);
}

void signal_remove(const struct clearpages_pool *p)
{
	struct block *b;
	size_t i;

	pthread_mutex_lock(&lock);
	for (b = &blocks; b; b = b->next)
		for (i = 0; i < SLOTS; i++)
			if (b->slot[i].pool == p)
				empty(&b->slot[i]);
	pthread_mutex_unlock(&lock);
}
