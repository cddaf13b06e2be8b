// SPDX-License-Identifier: GPL-2.0-only
/*
 * Eight threads on a few lazy pages. Each writes its mark as soon as it can get
 * at the page: a pager that clears a page twice, or maps it before it is
 * cleared, loses marks; one that forgets to wake somebody hangs. Starts are
 * together in one round and staggered in the next, because a naive handler
 * loses nothing in the first and most in the second.
 *
 * CLEARPAGES_RACE_FAULTS: how many touches in all (default 240000).
 */
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "../../lib/pager.h"
#include "test_live.h"

#define THREADS 8
#define PAGES ((size_t)6)

static struct clearpages_pool *pool;
static pthread_barrier_t begin, end;
static char *memory;		/* of this round */
static _Atomic(uint64_t) round_number;	/* 0: leave */
static bool staggered;

/* ---- an ioctl that fails now and then ------------------------------------------------ */

static atomic_uint calls, again, exists, really;
static int (*real_ioctl)(int fd, unsigned long request, void *arg);
static atomic_bool inject;

static int unreliable_ioctl(int fd, unsigned long request, void *arg)
{
	struct uffdio_continue *c = arg;
	unsigned int n;
	int err;

	if (request != UFFDIO_CONTINUE || !inject) {
		err = real_ioctl(fd, request, arg);
		if (err && errno == EAGAIN)
			atomic_fetch_add(&really, 1);
		return err;
	}
	n = atomic_fetch_add(&calls, 1) * 2654435761u >> 29;
	if (n == 1) {			/* an mremap() is on its way */
		atomic_fetch_add(&again, 1);
		errno = EAGAIN;
		return -1;
	}
	if (n == 2 && c->range.len > HUGE) { /* and this one came in the middle */
		struct uffdio_continue half = *c;

		half.range.len = c->range.len / 2 & ~(HUGE - 1);
		if (real_ioctl(fd, request, &half))
			return -1;
		atomic_fetch_add(&again, 1);
		c->mapped = half.mapped;
		errno = EAGAIN;
		return -1;
	}
	if (n == 3) {			/* somebody else was faster, and woke nobody */
		struct uffdio_continue one = *c;

		one.range.len = HUGE;
		one.mode = UFFDIO_CONTINUE_MODE_DONTWAKE;
		if (real_ioctl(fd, request, &one))
			return -1;
		atomic_fetch_add(&exists, 1);
		c->mapped = -EEXIST;
		errno = EEXIST;
		return -1;
	}
	return real_ioctl(fd, request, arg);
}

/* ---- the race ------------------------------------------------------------------------ */

static uint64_t *word_of(size_t page, unsigned int thread)
{
	/* All over the page: at its ends, and where a window would be. */
	size_t at = thread * (HUGE / THREADS) + (thread & 1 ? HUGE / THREADS - 64 : 0);

	return (uint64_t *)(void *)(memory + page * HUGE + at);
}

static uint64_t mark_of(uint64_t n, unsigned int thread)
{
	return n << 8 | (0x80 + thread);
}

static void *race(void *arg)
{
	unsigned int me = (unsigned int)(uintptr_t)arg, i, k;
	uint64_t random = me + 1;

	for (;;) {
		pthread_barrier_wait(&begin);
		if (!round_number)
			return NULL;
		for (i = 0; i < PAGES; i++) {
			size_t page = me & 1 ? PAGES - 1 - i : i;

			random = random * 6364136223846793005u + 1442695040888963407u;
			for (k = staggered ? (unsigned int)(random >> 52) : 0; k; k--)
				__builtin_ia32_pause();
			*(volatile uint64_t *)word_of(page, me) = mark_of(round_number, me);
		}
		pthread_barrier_wait(&end);
	}
}

/* Words of a page that nobody wrote to. */
static bool is_clear(size_t page)
{
	const uint64_t *w = (const uint64_t *)(void *)(memory + page * HUGE);
	size_t i;

	for (i = 1; i < HUGE / 8 - 8; i += 509)
		if (w[i] && i % (HUGE / THREADS / 8) && i % (HUGE / THREADS / 8) !=
						     HUGE / THREADS / 8 - 8)
			return false;
	return true;
}

static void dirty(size_t page)
{
	uint64_t *w = (uint64_t *)(void *)(memory + page * HUGE);
	size_t i;

	for (i = 0; i < HUGE / 8; i += 509)
		w[i] = w[i + 1] = 0xaaaaaaaaaaaaaaaau;
	for (i = 0; i < THREADS; i++)
		*word_of(page, (unsigned int)i) = 0xaaaaaaaaaaaaaaaau;
}

static void one_round(uint64_t n, uint64_t *lost, uint64_t *old)
{
	struct clearpages_get_opts wait = { .size = sizeof(wait), .timeout_ns = UINT64_MAX };
	unsigned int page, t;
	void *a;

	if (clearpages_pool_get(pool, PAGES * HUGE, &wait, &a)) {
		++*lost;
		return;
	}
	memory = a;
	round_number = n;
	staggered = n & 1;
	pthread_barrier_wait(&begin);
	pthread_barrier_wait(&end);
	for (page = 0; page < PAGES; page++) {
		for (t = 0; t < THREADS; t++)
			*lost += *word_of(page, t) != mark_of(n, t);
		*old += !is_clear(page);
		dirty(page);
	}
	*lost += !!clearpages_pool_put(pool, a, PAGES * HUGE);
}

static void rounds(uint64_t count, uint64_t *lost, uint64_t *old)
{
	pthread_t thread[THREADS];
	unsigned int i;
	uint64_t n;

	pthread_barrier_init(&begin, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, race, (void *)(uintptr_t)i);
	for (n = 1; n <= count; n++)
		one_round(n, lost, old);
	round_number = 0;
	pthread_barrier_wait(&begin);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&begin);
	pthread_barrier_destroy(&end);
}

static void make_pool(struct clearpages_pool_opts o)
{
	o.size = sizeof(o);
	o.bytes = 2 * PAGES * HUGE;
	o.page_bytes = HUGE;
	o.mode = CLEARPAGES_LAZY;
	pool = pool_or_die(&o);
	calls = again = exists = really = 0;
}

static void test_race(const char *name, struct clearpages_pool_opts o, uint64_t touches)
{
	uint64_t lost = 0, old = 0, count = touches / (THREADS * PAGES) + 2;
	struct clearpages_pool_stats s;

	if (!live_lazy(name, o.pager, 2 * PAGES))
		return;
	make_pool(o);
	inject = o.pager != CLEARPAGES_PAGER_PROTECT;
	rounds(count, &lost, &old);
	s = stats_of(pool);
	tap_ok(!lost && !old && !s.lost_bytes, "%s: %llu touches, %llu faults, %u EAGAIN, %u EEXIST"
	       ": %llu marks lost, %llu pages with old bytes", name,
	       (unsigned long long)(count * THREADS * PAGES), (unsigned long long)s.faults,
	       again, exists, (unsigned long long)lost, (unsigned long long)old);
	if (inject)
		tap_ok(again && exists, "... with both errors put in its way");
	inject = false;
	tap_ok(!clearpages_pool_destroy(pool), "... and everything was put back");
}

/* ---- the same while a neighbour is moved ------------------------------------------------ */

/*
 * There and back, as fast as it goes: until such an mremap() has been read by
 * the pager, the kernel answers each UFFDIO_CONTINUE with EAGAIN. Nothing else in
 * this program asks for mappings meanwhile, so the hole stays one: it begins when all
 * threads have their stacks.
 */
struct mover {
	char *page, *to;
	uint64_t moves;
	atomic_bool stop, failed;
};

static void *move(void *arg)
{
	struct mover *m = arg;
	const int flags = MREMAP_MAYMOVE | MREMAP_FIXED;

	while (!round_number)
		sched_yield();
	while (!m->stop && !m->failed) {
		m->failed = mremap(m->page, HUGE, HUGE, flags, m->to) != m->to ||
			    mremap(m->to, HUGE, HUGE, flags, m->page) != m->page;
		m->moves++;
	}
	return NULL;
}

static void test_moving(const char *name, struct clearpages_pool_opts o, uint64_t touches)
{
	uint64_t lost = 0, old = 0, count = touches / (THREADS * PAGES) + 2;
	char *room = mmap(NULL, 2 * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mover m = { .to = (char *)(((uintptr_t)room + HUGE - 1) & ~(HUGE - 1)) };
	pthread_t mover;
	void *a;

	if (!live_lazy(name, o.pager, 2 * PAGES))
		return;
	make_pool(o);
	if (clearpages_pool_get(pool, HUGE, NULL, &a))
		die("clearpages_pool_get", "");
	m.page = a;
	*(volatile char *)a = 77;
	pthread_create(&mover, NULL, move, &m);
	rounds(count, &lost, &old);
	m.stop = true;
	pthread_join(mover, NULL);
	tap_ok(!lost && !old, "%s: %llu touches, %llu moves: %llu marks lost, %llu pages with old "
	       "bytes", name, (unsigned long long)(count * THREADS * PAGES),
	       (unsigned long long)m.moves, (unsigned long long)lost, (unsigned long long)old);
	tap_ok(really && !m.failed && *m.page == 77, "... %u EAGAIN from the kernel itself, and "
	       "the neighbour is what it was", really);
	lost = (uint64_t)clearpages_pool_put(pool, a, HUGE);
	tap_ok(!lost && !stats_of(pool).lost_bytes && !clearpages_pool_destroy(pool),
	       "... and everything was put back");
	munmap(room, 2 * HUGE);
}

int main(void)
{
	const char *text = getenv("CLEARPAGES_RACE_FAULTS");
	/* Beside a neighbour that is moved they take a hundred times as long. */
	const uint64_t all = text ? strtoull(text, NULL, 0) : 240000, beside = 7000 + all / 512,
		       touches = (all - 2 * beside) / 6;
	const struct clearpages_pool_opts o = { .cleaners = CLEARPAGES_NONE };
	struct clearpages_pool_opts v;

#define WITH(...) ({ v = o; __VA_ARGS__; v; })
	real_ioctl = pager_ioctl;
	pager_ioctl = unreliable_ioctl;
	test_race("signal", WITH(v.pager = CLEARPAGES_PAGER_SIGNAL), touches);
	test_race("signal, two threads clear ahead",
		  WITH(v.pager = CLEARPAGES_PAGER_SIGNAL, v.handlers = 2), touches);
	test_race("signal, with a cleaner", WITH(v.pager = CLEARPAGES_PAGER_SIGNAL, v.cleaners = 1),
		  touches);
	test_race("thread", WITH(v.pager = CLEARPAGES_PAGER_THREAD), touches);
	test_race("three threads, with a cleaner",
		  WITH(v.pager = CLEARPAGES_PAGER_THREAD, v.handlers = 3, v.cleaners = 1), touches);
	test_race("protect", WITH(v.pager = CLEARPAGES_PAGER_PROTECT, v.handlers = 1), touches);
	test_moving("signal, a neighbour moved", WITH(v.pager = CLEARPAGES_PAGER_SIGNAL), beside);
	test_moving("two threads, a neighbour moved",
		    WITH(v.pager = CLEARPAGES_PAGER_THREAD, v.handlers = 2), beside);
	return tap_done();
}
