// SPDX-License-Identifier: GPL-2.0-only
/* Zeroing against a byte loop: every policy, odd places and lengths, guard pages, threads. */
#include <sys/mman.h>

#include "../../include/clearpages.h"
#include "test_lib.h"

#define GUARD ((size_t)4096)
#define SMALL ((size_t)96 << 10)
#define LARGE ((size_t)9 << 20)		/* over what `narrow` narrows in */
#define STEP ((size_t)32 << 20)		/* what a thread takes at a time */
#define CASES 60

/* Memory between two pages that nobody may touch, and what it should look like. */
struct zone {
	unsigned char *mem, *want;
	size_t size;
};

static void zone_new(struct zone *z, size_t size)
{
	unsigned char *all = mmap(NULL, size + 2 * GUARD, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	z->want = malloc(size);
	z->size = size;
	if (all == MAP_FAILED || !z->want || mprotect(all, GUARD, PROT_NONE) ||
	    mprotect(all + GUARD + size, GUARD, PROT_NONE))
		die("no memory", "for a zone");
	z->mem = all + GUARD;
}

static void zone_free(struct zone *z)
{
	munmap(z->mem - GUARD, z->size + 2 * GUARD);
	free(z->want);
}

/* 1 .. 251 over and over: never 0, and not the same at the same place of two pages. */
static void zone_fill(struct zone *z)
{
	size_t have, more;

	for (have = 0; have < 251; have++)
		z->want[have] = (unsigned char)(have + 1);
	for (; have < z->size; have += more) {
		more = have < z->size - have ? have : z->size - have;
		memcpy(z->want + have, z->want, more);
	}
	memcpy(z->mem, z->want, z->size);
}

static bool zone_right(const struct zone *z, size_t at, size_t len)
{
	size_t i;

	for (i = at; i < at + len; i++)
		z->want[i] = 0;
	return !memcmp(z->mem, z->want, z->size);
}

static bool one_case(struct zone *z, size_t at, size_t len, size_t touch,
		     const struct clearpages_policy *p, const char *text)
{
	int err;

	zone_fill(z);
	err = touch == SIZE_MAX ? clearpages_zero(z->mem + at, len, p)
				: clearpages_zero_at(z->mem + at, len, touch, p);
	if (!err && zone_right(z, at, len))
		return true;
	tap_note("%s: %d, at %zu of %zu, %zu bytes, touch %zu", text, err, at, z->size, len, touch);
	return false;
}

static size_t some_touch(size_t len)
{
	switch (below(4)) {
	case 0:
		return SIZE_MAX;
	case 1:
		return len + below(3);	/* outside: as none */
	default:
		return len ? below(len) : 0;
	}
}

static bool edges(struct zone *z, const struct clearpages_policy *p, const char *text)
{
	static const size_t lens[] = { 0, 1, 7, 63, 64, 65, 127, 4095, 4096, 4097, 65536 + 1 };
	bool ok = true;
	size_t i;

	for (i = 0; i < sizeof(lens) / sizeof(*lens) && ok; i++) {
		size_t at = z->size - lens[i];

		ok = one_case(z, 0, lens[i], SIZE_MAX, p, text) &&
		     one_case(z, at, lens[i], lens[i] / 2, p, text) &&
		     one_case(z, 1 + below(200), lens[i], some_touch(lens[i]), p, text);
	}
	return ok && one_case(z, 0, z->size, 0, p, text) &&
	       one_case(z, 1, z->size - 2, z->size / 2, p, text);
}

static void test_policy(struct zone *z, const char *text)
{
	struct clearpages_policy *p;
	unsigned int i;
	bool ok = true;

	if (clearpages_policy_new(text, &p, NULL, 0)) {
		tap_ok(false, "policy %s", text);
		return;
	}
	ok = edges(z, p, text);
	for (i = 0; i < CASES && ok; i++) {
		size_t at = below(z->size), len = below(z->size - at + 1);

		ok = one_case(z, at, len, some_touch(len), p, text);
	}
	tap_ok(ok, "%s", text);
	clearpages_policy_free(p);
}

static void test_policies(void)
{
	struct clearpages_variant v = { .size = sizeof(v) };
	const char *name;
	struct zone z;
	char text[128];
	unsigned int i;

	zone_new(&z, SMALL);
	for (i = 0; (name = clearpages_policy_name(i, NULL)); i++)
		test_policy(&z, name);
	for (i = 0; !clearpages_variant_get(i, &v); i++) {
		if (v.lacks) {
			snprintf(text, sizeof(text), "this processor lacks %s", v.lacks);
			tap_skip(v.name, text);
			continue;
		}
		snprintf(text, sizeof(text), "far=%s,near=%s,window=0,far_min=0,batch=0", v.name,
			 v.name);
		test_policy(&z, text);
		snprintf(text, sizeof(text), "stock,far=%s,near=mov,unit=8K", v.name);
		test_policy(&z, text);
		snprintf(text, sizeof(text),
			 "far=stosb,near=%s,window=20K,far_min=3000,batch=12K,order=reverse",
			 v.name);
		test_policy(&z, text);
	}
	zone_free(&z);
}

static void test_large(void)
{
	struct clearpages_policy *p;
	const char *name;
	struct zone z;
	unsigned int i;
	bool ok;

	zone_new(&z, LARGE);
	for (i = 0; (name = clearpages_policy_name(i, NULL)); i++) {
		ok = !clearpages_policy_new(name, &p, NULL, 0);
		ok = ok && one_case(&z, 3, LARGE - 5, below(LARGE), p, name);
		tap_ok(ok, "%s: %zu bytes", name, LARGE - 5);
		clearpages_policy_free(p);
	}
	zone_free(&z);
}

static void test_arguments(void)
{
	struct clearpages_parallel_opts o = { .size = sizeof(o) };
	struct {
		struct clearpages_parallel_opts o;
		unsigned char behind[16];
	} later = { .o = { .size = sizeof(later) } };
	char byte[3] = { 1, 1, 1 };
	void *high = (void *)(UINTPTR_MAX - 10);

	tap_ok(!clearpages_zero(NULL, 0, NULL), "nothing at NULL");
	tap_ok(!clearpages_zero(byte + 1, 1, NULL) && byte[0] && !byte[1] && byte[2], "one byte");
	tap_ok(clearpages_zero(high, 12, NULL) == -EINVAL, "zero: addr + len wraps");
	tap_ok(clearpages_zero_at(high, SIZE_MAX, 0, NULL) == -EINVAL, "zero_at: it wraps");
	tap_ok(clearpages_zero_parallel(high, 12, NULL, NULL) == -EINVAL, "parallel: it wraps");
	tap_ok(!clearpages_zero_parallel(NULL, 0, NULL, &o), "parallel: nothing at NULL");
	byte[1] = 1;
	o.size = 0;
	tap_ok(clearpages_zero_parallel(byte, 3, NULL, &o) == -EINVAL && byte[1], "opts: size 0");
	o.size = sizeof(o) - 1;
	tap_ok(clearpages_zero_parallel(byte, 3, NULL, &o) == -EINVAL, "opts: a byte too short");
	o.size = SIZE_MAX;
	tap_ok(clearpages_zero_parallel(byte, 3, NULL, &o) == -EINVAL, "opts: size absurd");
	tap_ok(!clearpages_zero_parallel(byte, 3, NULL, &later.o) && !byte[1],
	       "opts of a later release, all new fields 0");
	later.behind[15] = 1;
	tap_ok(clearpages_zero_parallel(byte, 3, NULL, &later.o) == -EINVAL,
	       "opts of a later release, one that is not");
}

/* ---- several threads ------------------------------------------------------ */

struct watch {
	uint64_t last, total;
	unsigned int calls, stop_at;
	bool rising;
};

static int watch(void *arg, uint64_t done, uint64_t total)
{
	struct watch *w = arg;

	w->rising = w->rising && done > w->last && done <= total && total == w->total;
	w->last = done;
	return ++w->calls == w->stop_at ? -7 : 0;
}

static void test_threads(struct zone *z, const char *text, unsigned int from, unsigned int to)
{
	struct clearpages_parallel_opts o = { .size = sizeof(o), .progress = watch };
	struct clearpages_policy *p = NULL;
	size_t at = 4099, len = z->size - 12291;
	int err;

	if (text && clearpages_policy_new(text, &p, NULL, 0))
		die("policy", text);
	for (o.threads = from; o.threads <= to; o.threads++) {
		struct watch w = { .total = len, .rising = true };

		o.progress_arg = &w;
		zone_fill(z);
		err = clearpages_zero_parallel(z->mem + at, len, p, &o);
		tap_ok(!err && zone_right(z, at, len), "%s, threads=%u: %d", text ? text : "NULL",
		       o.threads, err);
		tap_ok(w.rising && w.last == len && w.calls >= 1 && (o.threads > 1 || w.calls >= len / STEP),
		       "... %u calls of progress, up to %llu", w.calls, (unsigned long long)w.last);
	}
	clearpages_policy_free(p);
}

static void test_cancel(struct zone *z)
{
	struct clearpages_parallel_opts o = { .size = sizeof(o), .progress = watch };
	struct watch w;
	int err;

	for (o.threads = 1; o.threads <= 3; o.threads++) {
		w = (struct watch){ .total = z->size, .rising = true,
				    .stop_at = o.threads > 1 ? 1 : 2 };
		o.progress_arg = &w;
		zone_fill(z);
		err = clearpages_zero_parallel(z->mem, z->size, NULL, &o);
		tap_ok(err == -ECANCELED && w.calls == w.stop_at &&
			       (o.threads > 1 || w.last <= 2 * STEP),
		       "cancelled with %u threads: %d after %u calls", o.threads, err, w.calls);
		/* With one thread the rest is known not to be zeroed. */
		if (o.threads == 1)
			tap_ok(z->mem[z->size - 1] && !z->mem[0], "... the rest is as it was");
	}
}

static void test_parallel(void)
{
	unsigned int before = open_files();
	struct zone z;

	zone_new(&z, 4 * STEP + (1 << 20));
	test_threads(&z, NULL, 0, 4);
	/* far_min is about the range, not about the parts that it is cut into. */
	test_threads(&z, "far=movnti,near=stosq,far_min=100M,window=0", 2, 2);
	test_cancel(&z);
	zone_free(&z);
	tap_ok(open_files() == before, "no descriptor is left open");
}

int main(void)
{
	seed();
	test_policies();
	test_large();
	test_arguments();
	test_parallel();
	return tap_done();
}
