// SPDX-License-Identifier: GPL-2.0-only
/* The eager pool, in private memory: no privilege, no huge page reserved. */
#include <clearpages.h>
#include <pthread.h>
#include <sys/wait.h>

#include "test_pool.h"

static struct clearpages_pool *small(size_t pages, uint32_t cleaners)
{
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .bytes = pages * P, .page_bytes = P,
		.backing = CLEARPAGES_BACKING_THP, .cleaners = cleaners,
	};

	return pool_or_die(&o);
}

/* ---- a dumb model ----------------------------------------------------------------- */

#define MODEL_PAGES 40

struct lease {
	unsigned char *addr;
	size_t pages;
	unsigned char mark;
};

/* Which leases there are, by page: 0 none, else the number of the lease. */
struct model {
	unsigned char *base;
	unsigned char owner[MODEL_PAGES];
	struct lease lease[MODEL_PAGES + 1];
};

static bool fits(const struct model *m, size_t pages)
{
	size_t i, run = 0;

	for (i = 0; i < MODEL_PAGES && run < pages; i++)
		run = m->owner[i] ? 0 : run + 1;
	return run >= pages;
}

static bool model_get(struct clearpages_pool *p, struct model *m, size_t pages)
{
	size_t bytes = pages * P - below(P), first, i, n = 1;
	void *addr;
	int err = clearpages_pool_get(p, bytes, NULL, &addr);
	struct clearpages_get_opts wait = { .size = sizeof(wait), .timeout_ns = UINT64_MAX };

	/* A cleaner was in the way, and did not get to run. */
	if (err == -ENOMEM && fits(m, pages))
		err = clearpages_pool_get(p, bytes, &wait, &addr);
	if (err)
		return err == -ENOMEM && !fits(m, pages) && !addr;
	first = (size_t)((unsigned char *)addr - m->base) / P;
	while (m->lease[n].pages)
		n++;
	if (first + pages > MODEL_PAGES || !is_filled(addr, pages * P, 0))
		return false;
	for (i = first; i < first + pages; i++) {
		if (m->owner[i])
			return false;
		m->owner[i] = (unsigned char)n;
	}
	m->lease[n] = (struct lease){ addr, pages, (unsigned char)(1 + below(255)) };
	memset(addr, m->lease[n].mark, pages * P);
	return true;
}

static bool model_put(struct clearpages_pool *p, struct model *m)
{
	size_t n = 1 + below(MODEL_PAGES), first, i;
	struct lease *l = &m->lease[n];

	if (!l->pages)
		return true;
	first = (size_t)(l->addr - m->base) / P;
	if (!is_filled(l->addr, l->pages * P, l->mark) ||
	    clearpages_pool_put(p, l->addr, l->pages * P - below(P)))
		return false;
	for (i = first; i < first + l->pages; i++)
		m->owner[i] = 0;
	l->pages = 0;
	return true;
}

static bool model_stats(struct clearpages_pool *p, const struct model *m)
{
	struct clearpages_pool_stats s = { .size = sizeof(s) };
	size_t i, used = 0;

	for (i = 0; i < MODEL_PAGES; i++)
		used += m->owner[i] != 0;
	return !clearpages_pool_stats(p, &s) && s.used_bytes == used * P &&
	       s.total_bytes == MODEL_PAGES * P && !s.lost_bytes && !s.untouched_bytes;
}

static void test_model(uint32_t cleaners, const char *name)
{
	struct clearpages_pool *p = small(MODEL_PAGES, cleaners);
	struct clearpages_pool_stats s = { .size = sizeof(s) };
	struct model m = { .base = NULL };
	unsigned int step, n;
	bool ok = true;
	void *all;

	clearpages_pool_get(p, MODEL_PAGES * P, NULL, &all);
	m.base = all;
	clearpages_pool_put(p, all, MODEL_PAGES * P);
	for (step = 0; step < 4000 && ok; step++)
		ok = (below(2) ? model_get(p, &m, 1 + below(7)) : model_put(p, &m)) &&
		     model_stats(p, &m);
	tap_ok(ok, "%s: %u random steps as the model has them", name, step);
	for (n = 1; n <= MODEL_PAGES; n++)
		if (m.lease[n].pages)
			clearpages_pool_put(p, m.lease[n].addr, m.lease[n].pages * P);
	clearpages_pool_stats(p, &s);
	tap_ok(s.gets > 500 && s.hit_bytes + s.miss_bytes >= s.gets * P,
	       "%s: %llu gets, %llu pages clean, %llu not", name, (unsigned long long)s.gets,
	       (unsigned long long)s.hit_bytes / P, (unsigned long long)s.miss_bytes / P);
	tap_ok(s.get_cleared_bytes == s.miss_bytes, "%s: what was not clean was cleared by get",
	       name);
	tap_ok(!clearpages_pool_destroy(p), "%s: destroyed", name);
}

/* ---- misuse ----------------------------------------------------------------------- */

static void test_misuse(void)
{
	struct clearpages_pool *p = small(8, CLEARPAGES_NONE), *q = small(8, CLEARPAGES_NONE);
	struct clearpages_get_opts bad = { .size = sizeof(bad), .flags = 64 };
	char *a = NULL, *b = NULL, here;
	void *x = &here;

	tap_ok(!get_pages(p, 3, &a) && !get_pages(p, 2, &b) && b == a + 3 * P, "two neighbours");
	memset(a, 1, 3 * P);
	tap_ok(clearpages_pool_put(p, a + 1, 3 * P) == -EINVAL, "put: not where it begins");
	tap_ok(clearpages_pool_put(p, a + P, 2 * P) == -EINVAL, "put: the second half");
	tap_ok(clearpages_pool_put(p, a, 2 * P) == -EINVAL, "put: the first half");
	tap_ok(clearpages_pool_put(p, a, 5 * P) == -EINVAL, "put: two at once");
	tap_ok(clearpages_pool_put(p, a, 4 * P) == -EINVAL, "put: one and a half");
	tap_ok(clearpages_pool_put(p, a, SIZE_MAX) == -EINVAL, "put: everything there is");
	tap_ok(clearpages_pool_put(p, &here, P) == -EINVAL, "put: memory of the stack");
	tap_ok(clearpages_pool_put(p, NULL, P) == -EINVAL, "put: NULL");
	tap_ok(clearpages_pool_put(q, a, 3 * P) == -EINVAL, "put: another pool's");
	tap_ok(clearpages_pool_put(p, b + 2 * P, P) == -EINVAL, "put: a page that is free");
	tap_ok(clearpages_pool_touch(p, b, 3 * P) == -EINVAL, "touch: more than is in use");
	tap_ok(clearpages_pool_touch(p, &here, 1) == -EINVAL, "touch: memory of the stack");
	tap_ok(!clearpages_pool_touch(p, a + 5, 4 * P), "touch: two neighbours");
	tap_ok(is_filled(a, 3 * P, 1) && is_filled(b, 2 * P, 0), "nothing has changed by all that");
	tap_ok(clearpages_pool_destroy(p) == -EBUSY, "destroy: memory is in use");
	tap_ok(!clearpages_pool_put(p, a, 3 * P), "put: as it was gotten");
	tap_ok(clearpages_pool_put(p, a, 3 * P) == -EINVAL, "put: twice");
	tap_ok(!clearpages_pool_put(p, b, P + 1), "put: rounded up as get did");
	tap_ok(!clearpages_pool_get(p, 0, NULL, &x) && !x && !clearpages_pool_put(p, NULL, 0) &&
	       !clearpages_pool_touch(p, NULL, 0), "zero bytes: success, nothing done");
	tap_ok(clearpages_pool_get(p, P, &bad, &x) == -EINVAL, "get: an unknown flag");
	tap_ok(clearpages_pool_get(p, 9 * P, NULL, &x) == -ENOMEM && !x, "get: more than there is");
	tap_ok(!clearpages_pool_destroy(p) && !clearpages_pool_destroy(q) &&
	       !clearpages_pool_destroy(NULL), "destroy, NULL too");
}

static void refused(const char *what, struct clearpages_pool_opts o)
{
	char why[200] = "as it was";
	struct clearpages_pool *p = (void *)why;
	int err;

	o.why = why;
	o.why_size = sizeof(why);
	err = clearpages_pool_create(&p, &o);
	tap_ok(err == -EINVAL && !p && why[0] && strcmp(why, "as it was"), "refused: %s: %s", what,
	       why);
	o.why = NULL;
	tap_ok(clearpages_pool_create(&p, &o) == -EINVAL, "... with nobody to tell it to");
}

static void test_options(void)
{
	const struct clearpages_pool_opts good = {
		.size = sizeof(good), .bytes = 4 * P, .page_bytes = P,
		.backing = CLEARPAGES_BACKING_THP,
	};
	struct clearpages_pool *p;
	struct clearpages_pool_opts o = good;
	struct clearpages_pool_stats s = { .size = 3 };

#define WITH(field, value) ({ o = good; o.field = (value); o; })
	refused("no bytes", WITH(bytes, 0));
	refused("too many bytes", WITH(bytes, UINT64_MAX));
	refused("a page of 5000", WITH(page_bytes, 5000));
	refused("a page of 2048", WITH(page_bytes, 2048));
	refused("an unknown backing", WITH(backing, 4));
	refused("an unknown mode", WITH(mode, 2));
	refused("an unknown pager", WITH(pager, 3));
	refused("an unknown flag", WITH(flags, 2));
	refused("something in reserved", WITH(reserved, 1));
	refused("a path without its backing", WITH(path, "/"));
	refused("a backing without its path", WITH(backing, CLEARPAGES_BACKING_PATH));
	refused("private memory cannot be lazy", WITH(mode, CLEARPAGES_LAZY));
	refused("watermarks upside down", WITH(clean_low, P));
	refused("very many cleaners", WITH(cleaners, 5000));
	o = WITH(backing, CLEARPAGES_BACKING_PATH);
	o.path = "/";
	refused("a path that is no hugetlbfs", o);
	o = WITH(flags, CLEARPAGES_POOL_NODE);
	o.node = 1023;
	refused("a node that is not there", o);
	o = WITH(size, 8);
	tap_ok(clearpages_pool_create(&p, &o) == -EINVAL && !p, "a size that is none of ours");
	o = WITH(bytes, 3 * P + 1);
	p = pool_or_die(&o);
	tap_ok(clearpages_pool_stats(p, &s) == -EINVAL, "stats: a size that is none of ours");
	s.size = sizeof(s);
	tap_ok(!clearpages_pool_stats(p, &s) && s.total_bytes == 4 * P && s.page_bytes == P &&
	       s.backing == CLEARPAGES_BACKING_THP, "bytes are rounded up to pages");
	clearpages_pool_destroy(p);
}

/* With all defaults it has to come from somewhere: huge pages of either kind, or small ones. */
static void test_default(void)
{
	struct clearpages_pool_opts o = { .size = sizeof(o), .bytes = 1 };
	struct clearpages_pool_stats s = { .size = sizeof(s) };
	struct clearpages_pool *p = pool_or_die(&o);
	void *a;

	clearpages_pool_stats(p, &s);
	tap_ok(s.total_bytes >= 1 << 20 && s.backing != CLEARPAGES_BACKING_AUTO,
	       "auto: %s, a page of %llu",
	       s.backing == CLEARPAGES_BACKING_THP ? "private memory" : "hugetlb",
	       (unsigned long long)s.page_bytes);
	tap_ok(!clearpages_pool_get(p, 1, NULL, &a) && is_filled(a, s.page_bytes, 0) &&
	       !clearpages_pool_put(p, a, 1), "one page of it");
	clearpages_pool_destroy(p);
}

/* ---- exhausted -------------------------------------------------------------------- */

struct waiter {
	struct clearpages_pool *pool;
	uint64_t timeout_ns;
	void *addr;
	int err;
};

static void *wait_for_pages(void *arg)
{
	struct waiter *w = arg;
	struct clearpages_get_opts o = { .size = sizeof(o), .timeout_ns = w->timeout_ns };

	w->err = clearpages_pool_get(w->pool, 2 * P, &o, &w->addr);
	return NULL;
}

static uint64_t waits(struct clearpages_pool *p)
{
	struct clearpages_pool_stats s = { .size = sizeof(s) };

	clearpages_pool_stats(p, &s);
	return s.waits;
}

static void test_exhausted(void)
{
	struct clearpages_pool *p = small(4, CLEARPAGES_NONE);
	struct waiter w = { .pool = p, .timeout_ns = 1 };
	pthread_t thread;
	char *a, *b, *c;

	get_pages(p, 1, &a);
	get_pages(p, 2, &b);
	memset(b, 7, 2 * P);
	tap_ok(get_pages(p, 2, &c) == -ENOMEM && !c, "no piece of two pages: -ENOMEM at once");
	tap_ok(!waits(p), "... and nobody waited");
	wait_for_pages(&w);
	tap_ok(w.err == -ETIMEDOUT && !w.addr && waits(p) == 1, "... -ETIMEDOUT after 1 ns");
	w.timeout_ns = UINT64_MAX;
	pthread_create(&thread, NULL, wait_for_pages, &w);
	while (waits(p) < 2)
		usleep(100);
	/* A page beside it is not enough. */
	clearpages_pool_put(p, a, P);
	clearpages_pool_put(p, b, 2 * P);
	pthread_join(thread, NULL);
	tap_ok(!w.err && is_filled(w.addr, 2 * P, 0), "... else as soon as somebody puts");
	clearpages_pool_put(p, w.addr, 2 * P);
	tap_ok(!clearpages_pool_destroy(p), "destroyed");
}

/* ---- cleaners --------------------------------------------------------------------- */

static void test_cleaner(void)
{
	struct clearpages_pool *p = small(64, 0), *off = small(64, CLEARPAGES_NONE);
	struct clearpages_pool_stats s = { .size = sizeof(s) };
	char *a;

	get_pages(p, 64, &a);
	memset(a, 0xaa, 64 * P);
	clearpages_pool_put(p, a, 64 * P);
	do {
		usleep(200);
		clearpages_pool_stats(p, &s);
	} while (s.clean_bytes < 64 * P);
	tap_ok(!s.dirty_bytes && s.cleaner_cleared_bytes == 64 * P,
	       "a cleaner clears what was put");
	get_pages(p, 64, &a);
	clearpages_pool_stats(p, &s);
	tap_ok(is_filled(a, 64 * P, 0) && !s.get_cleared_bytes && s.hit_bytes == 128 * P,
	       "get has nothing to do then");
	clearpages_pool_put(p, a, 64 * P);
	clearpages_pool_destroy(p);

	get_pages(off, 64, &a);
	memset(a, 0xaa, 64 * P);
	clearpages_pool_put(off, a, 64 * P);
	get_pages(off, 64, &a);
	clearpages_pool_stats(off, &s);
	tap_ok(is_filled(a, 64 * P, 0) && !s.cleaner_cleared_bytes &&
	       s.get_cleared_bytes == 64 * P, "without one get does it");
	clearpages_pool_put(off, a, 64 * P);
	clearpages_pool_destroy(off);
}

static void test_watermarks(void)
{
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .bytes = 64 * P, .page_bytes = P, .cleaners = 2,
		.backing = CLEARPAGES_BACKING_THP, .clean_low = 8 * P, .clean_high = 16 * P,
	};
	struct clearpages_pool *p = pool_or_die(&o);
	struct clearpages_pool_stats s = { .size = sizeof(s) };
	char *a, *b;

	get_pages(p, 50, &a);
	get_pages(p, 14, &b);
	clearpages_pool_put(p, a, 50 * P);
	do {
		usleep(200);
		clearpages_pool_stats(p, &s);
	} while (s.clean_bytes < 16 * P);
	usleep(2000);
	clearpages_pool_stats(p, &s);
	/* Each of two cleaners may have begun with one below the mark. */
	tap_ok(s.clean_bytes >= 16 * P && s.clean_bytes <= 17 * P && s.dirty_bytes >= 33 * P,
	       "cleaned up to the mark: %llu of 50 pages", (unsigned long long)s.clean_bytes / P);
	clearpages_pool_put(p, b, 14 * P);
	tap_ok(!clearpages_pool_destroy(p), "destroyed");
}

/* ---- many threads ----------------------------------------------------------------- */

struct crowd {
	struct clearpages_pool *pool;
	uint64_t seed;
	unsigned int bad, rounds;
};

/* Each writes all over what it has, and finds nothing of anybody else's. */
static void *crowd_main(void *arg)
{
	struct crowd *c = arg;
	struct clearpages_get_opts o = { .size = sizeof(o), .timeout_ns = UINT64_MAX };
	unsigned int i;

	for (i = 0; i < c->rounds; i++) {
		size_t pages = 1 + (c->seed = c->seed * 6364136223846793005u + 1) % 5;
		unsigned char mark = (unsigned char)(1 + i % 255);
		void *a;

		if (clearpages_pool_get(c->pool, pages * P, &o, &a)) {
			c->bad++;
			break;
		}
		c->bad += !is_filled(a, pages * P, 0);
		memset(a, mark, pages * P);
		sched_yield();
		c->bad += !is_filled(a, pages * P, mark);
		c->bad += !!clearpages_pool_put(c->pool, a, pages * P);
	}
	return NULL;
}

static void test_crowd(void)
{
	enum { THREADS = 8 };
	struct clearpages_pool *p = small(16, 2);
	struct crowd c[THREADS];
	pthread_t thread[THREADS];
	unsigned int i, bad = 0;

	for (i = 0; i < THREADS; i++) {
		c[i] = (struct crowd){ .pool = p, .seed = below(1u << 31), .rounds = 2000 };
		pthread_create(&thread[i], NULL, crowd_main, &c[i]);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		bad += c[i].bad;
	}
	tap_ok(!bad, "%u threads on 16 pages with 2 cleaners: nobody saw another's bytes", THREADS);
	tap_ok(!clearpages_pool_destroy(p), "all of it was put back");
}

/* ---- fork ------------------------------------------------------------------------- */

static void in_child(struct clearpages_pool *p, volatile char *a)
{
	struct clearpages_pool_stats s = { .size = sizeof(s) };
	void *b;

	if (clearpages_pool_get(p, P, NULL, &b) != -ECHILD || b ||
	    clearpages_pool_put(p, (void *)a, P) != -ECHILD ||
	    clearpages_pool_touch(p, (void *)a, P) != -ECHILD ||
	    clearpages_pool_stats(p, &s) != -ECHILD)
		_exit(1);
	if (clearpages_pool_destroy(p))
		_exit(2);
	signal(SIGSEGV, SIG_DFL); /* a sanitizer has its own */
	*a = 1;
	_exit(3);
}

static void test_fork(void)
{
	struct clearpages_pool *p = small(4, 1);
	int status = 0;
	char *a;
	pid_t pid;

	get_pages(p, 1, &a);
	memset(a, 5, P);
	pid = fork();
	if (!pid)
		in_child(p, a);
	waitpid(pid, &status, 0);
	tap_ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
	       "a child has neither the pool nor its memory: %#x", status);
	tap_ok(is_filled(a, P, 5) && !clearpages_pool_put(p, a, P) && !clearpages_pool_destroy(p),
	       "the parent still has both");
}

struct doomed {
	int err[4];
	bool alive;
};

static __attribute__((noinline)) void use_pool(struct doomed *d)
{
	struct clearpages_pool_opts o = {
		.size = sizeof(o), .bytes = 64 * P, .page_bytes = P,
		.backing = CLEARPAGES_BACKING_THP,
	};
	struct clearpages_pool *p = NULL;
	char *a = NULL;

	d->err[0] = clearpages_pool_create(&p, &o);
	d->err[1] = get_pages(p, 64, &a);
	d->err[2] = clearpages_pool_put(p, a, 64 * P);
	d->err[3] = clearpages_pool_destroy(p);
	d->alive = true;
}

/* It ends with no variables on its stack: a sanitizer would take those for still in use. */
static void *cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	use_pool(arg);
	pthread_testcancel();
	return NULL;
}

/* None of them is a cancellation point: what they have is not left behind. */
static void test_cancelled(void)
{
	struct doomed d = { .err = { 1, 1, 1, 1 } };
	pthread_t thread;
	void *end;

	if (pthread_create(&thread, NULL, cancelled, &d))
		die("pthread_create", "");
	pthread_join(thread, &end);
	tap_ok(d.alive && end == PTHREAD_CANCELED && !d.err[0] && !d.err[1] && !d.err[2] &&
	       !d.err[3], "a thread that is to be cancelled has a whole pool first: %d %d %d %d",
	       d.err[0], d.err[1], d.err[2], d.err[3]);
}

int main(void)
{
	unsigned int before = open_files();

	seed();
	test_model(CLEARPAGES_NONE, "no cleaner");
	test_model(1, "a cleaner");
	test_misuse();
	test_options();
	test_default();
	test_exhausted();
	test_cleaner();
	test_watermarks();
	test_crowd();
	test_fork();
	test_cancelled();
	tap_ok(open_files() == before, "no descriptor is left open");
	return tap_done();
}
