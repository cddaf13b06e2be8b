// SPDX-License-Identifier: GPL-2.0-only
/* Huge pages of every kind: dirtied, freed, faulted in again, and looked at. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"

#define HUGE_SHIFT 26
#define THP_DIR "/sys/kernel/mm/transparent_hugepage/"

const struct kind hugetlb_2m = { .name = "hugetlb 2M", .page = 2 * MIB, .hugetlb = true };
const struct kind hugetlb_1g = { .name = "hugetlb 1G", .page = GIB, .hugetlb = true };
const struct kind memfd_2m = { .name = "memfd 2M", .page = 2 * MIB, .hugetlb = true,
			       .shared = true };
const struct kind memfd_1g = { .name = "memfd 1G", .page = GIB, .hugetlb = true,
			       .shared = true };
const struct kind fallocate_2m = { .name = "fallocate 2M", .page = 2 * MIB, .hugetlb = true,
				   .shared = true, .fallocate = true };
const struct kind fallocate_1g = { .name = "fallocate 1G", .page = GIB, .hugetlb = true,
				   .shared = true, .fallocate = true };
const struct kind thp = { .name = "THP", .page = 2 * MIB };
const struct kind mthp_64k = { .name = "mTHP 64K", .page = 64 * KIB };

static int huge_flags(const struct kind *kind)
{
	return (kind->page == GIB ? 30 : 21) << HUGE_SHIFT;
}

static unsigned char *or_null(void *p)
{
	return p == MAP_FAILED ? NULL : p;
}

static unsigned char *map_memfd(const struct kind *kind, size_t len)
{
	unsigned char *p = NULL;
	int fd = memfd_create("guest", MFD_CLOEXEC | MFD_HUGETLB | (unsigned int)huge_flags(kind));

	if (fd < 0)
		return NULL;
	if (!ftruncate(fd, (off_t)len) &&
	    (!kind->fallocate || !fallocate(fd, 0, 0, (off_t)len)))
		p = or_null(mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	close(fd);
	return p;
}

/* Aligned to 2 MiB, and not a byte more than asked for. */
static unsigned char *map_thp(size_t len)
{
	size_t room = len + 2 * MIB;
	unsigned char *p = or_null(mmap(NULL, room, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	size_t before;

	if (!p)
		return NULL;
	before = -(uintptr_t)p % (2 * MIB);
	if (before)
		munmap(p, before);
	munmap(p + before + len, room - before - len);
	if (madvise(p + before, len, MADV_HUGEPAGE))
		fail("madvise(MADV_HUGEPAGE): %s", strerror(errno));
	return p + before;
}

unsigned char *map_pages(const struct kind *kind, size_t n)
{
	size_t len = n * kind->page;

	if (kind->shared)
		return map_memfd(kind, len);
	if (!kind->hugetlb)
		return map_thp(len);
	return or_null(mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
			    MAP_HUGETLB | huge_flags(kind), -1, 0));
}

void unmap_pages(const struct kind *kind, unsigned char *pages, size_t n)
{
	if (munmap(pages, n * kind->page))
		fail("munmap of %s: %s", kind->name, strerror(errno));
}

/* ---- pools ------------------------------------------------------------------ */

static void pool_file(const struct kind *kind, const char *file, char *path, size_t size)
{
	snprintf(path, size, "/sys/kernel/mm/hugepages/hugepages-%zukB/%s", kind->page / KIB,
		 file);
}

static size_t pool_number(const struct kind *kind, const char *file)
{
	char path[128], text[32];

	pool_file(kind, file, path, sizeof(path));
	return read_text(path, text, sizeof(text)) ? strtoul(text, NULL, 10) : 0;
}

/* Free, and promised to nobody. */
static size_t available(const struct kind *kind)
{
	size_t n = pool_number(kind, "free_hugepages"), promised = pool_number(kind, "resv_hugepages");

	return n > promised ? n - promised : 0;
}

/* Whoever had pages a moment ago may not have given them back yet: some tries. */
void need_pool(const struct kind *kind, size_t n)
{
	char path[128], text[32];
	unsigned int tries;

	pool_file(kind, "nr_hugepages", path, sizeof(path));
	for (tries = 0; tries < 300 && available(kind) != n; tries++) {
		snprintf(text, sizeof(text), "%zu",
			 n + pool_number(kind, "nr_hugepages") - available(kind));
		if (write_text(path, text) == ENOENT)
			skip("this kernel has no %s pages", kind->name);
		if (tries)
			sleep_ms(50);
	}
	if (available(kind) < n)
		fail("%zu of %zu pages in the pool of %s", available(kind), n, kind->name);
}

static void choose(const char *size, const char *word)
{
	char path[128];

	snprintf(path, sizeof(path), THP_DIR "%s%senabled", size, *size ? "/" : "");
	write_text(path, word);
}

bool has_thp(void)
{
	return !access(THP_DIR "enabled", F_OK);
}

void choose_thp(const struct kind *kind)
{
	bool small = kind == &mthp_64k;

	if (!has_thp())
		skip("this kernel has no THP");
	if (small && access(THP_DIR "hugepages-64kB/enabled", F_OK))
		skip("this kernel has no mTHP");
	choose("", "madvise");
	choose("hugepages-2048kB", small ? "never" : "inherit");
	choose("hugepages-64kB", small ? "madvise" : "never");
	write_text(THP_DIR "defrag", "madvise");
	write_text(THP_DIR "khugepaged/defrag", "0");
}

long long kernel_faults(const struct kind *kind)
{
	char text[32];

	if (kind->hugetlb)
		return -1;
	if (kind == &thp)
		return number_after("/proc/vmstat", "thp_fault_alloc ");
	if (!read_text(THP_DIR "hugepages-64kB/stats/anon_fault_alloc", text, sizeof(text)))
		return -1;
	return strtoll(text, NULL, 10);
}

/* ---- dirt -------------------------------------------------------------------- */

typedef uint64_t vec __attribute__((vector_size(16)));

/* Words, not rep stosb: under TCG that takes a byte at a time. No byte is zero. */
void dirty(unsigned char *p, size_t len)
{
	vec *v = (vec *)p, bytes = { 0xa5c3e1f7d9b58da5ULL, 0x5b3d9f7ee1a5c3b7ULL };
	size_t i;

	for (i = 0; i < len / sizeof(vec); i += 4)
		v[i] = v[i + 1] = v[i + 2] = v[i + 3] = bytes;
}

void dirty_free_pages(const struct kind *kind, size_t pages)
{
	struct kind plain = *kind;
	unsigned char *p;
	size_t n;

	plain.fallocate = false;
	n = kind->hugetlb ? available(kind) : 2 * pages;
	p = n ? map_pages(&plain, n) : NULL;
	if (!p)
		fail("cannot map %zu pages of %s to dirty them", n, kind->name);
	dirty(p, n * kind->page);
	unmap_pages(&plain, p, n);
}

/* ---- looking ------------------------------------------------------------------ */

static bool is_zero(const unsigned char *p, size_t len)
{
	const vec *v = (const vec *)p;
	vec all = { 0, 0 };
	size_t i;

	for (i = 0; i < len / sizeof(vec); i += 4)
		all |= v[i] | v[i + 1] | v[i + 2] | v[i + 3];
	return !(all[0] | all[1]);
}

static void look_at(const struct kind *kind, const unsigned char *page, size_t lo, size_t hi,
		    size_t touch, const char *when)
{
	for (; lo < hi; lo++)
		if (page[lo] != (lo == touch ? TOUCHED : 0))
			fail("%s%s%s, touched at %#zx: byte %#zx of the page is %#x", kind->name,
			     *when ? " " : "", when, touch, lo, page[lo]);
}

void must_be_zero(const struct kind *kind, const unsigned char *page, size_t touch,
		  const char *when)
{
	size_t at, step = 4 * KIB;

	for (at = 0; at < kind->page; at += step)
		if (touch - at < step || !is_zero(page + at, step))
			look_at(kind, page, at, at + step, touch, when);
}

static size_t next_touch(const struct kind *kind)
{
	static unsigned int turn;

	switch (turn++ % 5) {
	case 0:
		return 0;
	case 1:
		return kind->page / 2;
	case 2:
		return kind->page - 1;
	default:
		return random_below(kind->page);
	}
}

size_t fault_and_look(const struct kind *kind, size_t pages, const char *when)
{
	unsigned char *p = map_pages(kind, pages);
	size_t i, touch;

	if (!p)
		fail("cannot map %zu pages of %s%s%s: %s", pages, kind->name, *when ? " " : "",
		     when, strerror(errno));
	for (i = 0; i < pages; i++) {
		volatile unsigned char *page = p + i * kind->page;

		touch = next_touch(kind);
		/* Of THP a read would get the shared page of zeros. */
		if (kind->fallocate || (kind == &hugetlb_2m && i % 4 == 3))
			must_be_zero(kind, p + i * kind->page, SIZE_MAX, when);
		page[touch] = TOUCHED;
		must_be_zero(kind, p + i * kind->page, touch, when);
	}
	unmap_pages(kind, p, pages);
	return pages;
}
