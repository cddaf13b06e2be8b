// SPDX-License-Identifier: GPL-2.0-only
/* Memory as the benchmarks map it; the search for a byte that is not zero; where they touch. */
#include <stdint.h>
#include <sys/mman.h>

#include "../../tools/bench.h"
#include "test_tool.h"

#define BUFFER ((size_t)4096)

/* Left and right of it, guard pages. */
static char *guarded(void)
{
	char *all = mmap(NULL, 3 * BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED || mprotect(all, BUFFER, PROT_NONE) ||
	    mprotect(all + 2 * BUFFER, BUFFER, PROT_NONE)) {
		printf("Bail out! no memory\n");
		exit(1);
	}
	return all + BUFFER;
}

static void test_nonzero(void)
{
	static const unsigned char values[] = { 1, 0x80, 0xff };
	char *buffer = guarded();
	unsigned int wrong = 0;
	size_t i, v;

	tap_ok(region_nonzero(buffer, BUFFER) == BUFFER, "nothing but zeros");
	tap_ok(region_nonzero(buffer, 0) == 0, "no bytes at all");
	for (i = 0; i < BUFFER; i++) {
		size_t before = i / 64 * 64;

		for (v = 0; v < LENGTH(values); v++) {
			buffer[i] = (char)values[v];
			wrong += region_nonzero(buffer, BUFFER) != i;
			wrong += region_nonzero(buffer, before) != before;
			wrong += region_nonzero(buffer + before, 64) != i - before;
			if (before + 64 < BUFFER)
				wrong += region_nonzero(buffer + before + 64, BUFFER - before - 64) !=
					 BUFFER - before - 64;
		}
		buffer[i] = 0;
	}
	tap_ok(!wrong, "a single byte, at each of %zu places, is found there and nowhere else", BUFFER);
	buffer[100] = buffer[4000] = 1;
	tap_ok(region_nonzero(buffer, BUFFER) == 100, "of two bytes the first");

	region_dirty(buffer, BUFFER);
	for (i = 0; i < BUFFER && buffer[i]; i++)
		;
	tap_ok(i == BUFFER, "dirty: no byte is zero");
}

/* ---- mappings -------------------------------------------------------------- */

static size_t resident(const struct region *r)
{
	static unsigned char present[64 << 10];
	size_t pages = r->bytes / 4096, i, sum = 0;

	if (pages > sizeof(present) || mincore(r->base, r->bytes, present))
		return SIZE_MAX;
	for (i = 0; i < pages; i++)
		sum += present[i] & 1u;
	return sum;
}

static void test_small(bool populate)
{
	const size_t bytes = (size_t)16 << 20;
	const char *how = populate ? "populated" : "demand";
	struct region r;

	if (!tap_ok(region_map(&r, bytes, 4096, REGION_SMALL, populate) == 0, "4K, %s", how))
		return;
	tap_ok(resident(&r) == (populate ? bytes / 4096 : 0), "4K, %s: what is resident", how);
	tap_ok(region_nonzero(r.base, bytes) == bytes, "4K, %s: zero", how);
	region_dirty(r.base, bytes);
	tap_ok(region_huge_bytes(&r) == 0, "4K, %s: no huge page in it, whatever THP says", how);
	region_unmap(&r);
	tap_ok(!r.base, "4K, %s: given back", how);
	region_unmap(&r); /* nothing happens */
}

static void test_thp(void)
{
	const size_t page = region_pmd_bytes();
	struct region r;
	int err;

	listen_begin();
	err = region_thp_check(page, false);
	listen_end();
	if (err) {
		tap_ok(err == TOOL_UNSUPPORTED && one_line(heard_text, "transparent huge pages"),
		       "THP: not here, said in one line");
		return;
	}
	if (!tap_ok(!region_map(&r, 4 * page, page, REGION_THP, false), "THP"))
		return;
	tap_ok((uintptr_t)r.base % page == 0 && resident(&r) == 0, "THP: aligned, nothing resident");
	region_dirty(r.base, r.bytes);
	tap_note("%llu of %zu bytes in huge pages", (unsigned long long)region_huge_bytes(&r), r.bytes);
	tap_ok(region_huge_bytes(&r) <= r.bytes, "THP: no more huge bytes than bytes");
	region_unmap(&r);
}

/* No machine has hugetlb pages of 4 KiB: the kernel says no, in one line. */
static void test_refused(void)
{
	struct region r;
	int err;

	listen_begin();
	err = region_map(&r, 4096, 4096, REGION_HUGETLB, false);
	listen_end();
	tap_ok(err == TOOL_FAILED && !r.base && one_line(heard_text, "cannot map 4K in pages of 4K"),
	       "a mapping that cannot be");

	listen_begin();
	err = region_thp_check(8192 + 4096, false);
	listen_end();
	tap_ok(err == TOOL_UNSUPPORTED && one_line(heard_text, "12K"), "THP of 12K");
}

/* ---- touches ---------------------------------------------------------------- */

static void test_touch(void)
{
	static const size_t pages[] = { 64, 4096, 65536, 2 << 20, 1 << 30 };
	struct bench b = { .seed = 1 };
	size_t p, i, moved = 0, same = 0;

	for (p = 0; p < LENGTH(pages); p++) {
		size_t page = pages[p], low = page, high = 0, wrong = 0;

		for (b.seed = 0; b.seed < 3; b.seed++) {
			for (i = 0; i < 20000; i++) {
				size_t at;

				b.touch = TOUCH_FIRST;
				wrong += bench_touch(&b, i, page) != 0;
				b.touch = TOUCH_MIDDLE;
				wrong += bench_touch(&b, i, page) != page / 2;
				b.touch = TOUCH_LAST;
				wrong += bench_touch(&b, i, page) != page - 8;
				b.touch = TOUCH_NONE;
				wrong += bench_touch(&b, i, page) != SIZE_MAX;
				b.touch = TOUCH_RANDOM;
				at = bench_touch(&b, i, page);
				wrong += at > page - 8 || at % 8;
				low = at < low ? at : low;
				high = at > high ? at : high;
			}
		}
		tap_ok(!wrong, "pages of %zu: 60000 words, all within the page", page);
		tap_ok(low < page / 8 && high >= page - page / 8, "pages of %zu: random reaches both ends",
		       page);
	}
	b = (struct bench){ .touch = TOUCH_RANDOM, .seed = 7 };
	for (i = 0; i < 1000; i++) {
		struct bench other = { .touch = TOUCH_RANDOM, .seed = 8 };

		same += bench_touch(&b, i, 2 << 20) == bench_touch(&b, i, 2 << 20);
		moved += bench_touch(&b, i, 2 << 20) != bench_touch(&other, i, 2 << 20);
	}
	tap_ok(same == 1000, "a seed gives the same touches again");
	tap_ok(moved > 990, "another seed gives others");
}

int main(void)
{
	test_nonzero();
	test_thp();
	test_small(false);
	test_small(true);
	test_refused();
	test_touch();
	return tap_done();
}
