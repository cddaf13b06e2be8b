/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How much of a range is there already, and in pages of which kind. */
#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/types.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mapping.h"

/* Of <linux/fs.h> since 6.7; the headers of older systems lack it. */
struct scan_region {
	__u64 start, end, categories;
};

struct scan_arg {
	__u64 size, flags, start, end, walk_end, vec, vec_len, max_pages;
	__u64 category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define SCAN _IOWR('f', 16, struct scan_arg)
/* PAGE_IS_HUGE, PAGE_IS_PRESENT: a page of hugetlb that is absent is huge as well. */
#define SCAN_HUGE ((__u64)1 << 6 | (__u64)1 << 3)

uint64_t mapping_resident(const struct mapping *m)
{
	unsigned char there[16384];	/* one for each page of the smallest size */
	const size_t small = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t found = 0;
	uintptr_t at, next, page;

	/* What smaps said is enough where the range is all of it: 1 TiB takes mincore() 0.3 s. */
	if (!m->hugetlb_bytes || (m->from == m->start && m->to == m->end))
		return m->hugetlb_bytes;
	for (at = m->from; at < m->to; at = next) {
		const size_t most = sizeof(there) * small;

		next = m->to - at > most ? at + most : m->to;
		if (mincore((void *)at, next - at, there))
			return found;
		/* Of a huge page all bytes say the same: one that begins here counts. */
		page = (at + m->page - 1) / m->page * m->page;
		for (; page < next; page += m->page)
			if (there[(page - at) / small] & 1)
				found += m->page;
	}
	return found;
}

/* Bytes, or -errno: kernels before 6.7 answer -ENOTTY or -EINVAL. */
static int64_t scan_huge(uintptr_t from, uintptr_t to)
{
	struct scan_region found[64] = { { .start = 0 } }; /* valgrind does not see it written */
	struct scan_arg arg = {
		.size = sizeof(arg), .start = from, .end = to, .vec = (uintptr_t)found,
		.vec_len = sizeof(found) / sizeof(*found), .category_mask = SCAN_HUGE,
		.return_mask = SCAN_HUGE,
	};
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	int64_t sum = 0;
	int i, n;

	if (fd < 0)
		return -errno;
	while (arg.start < to) {
		n = ioctl(fd, SCAN, &arg);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			sum = -errno;
			break;
		}
		for (i = 0; i < n; i++)
			sum += (int64_t)(found[i].end - found[i].start);
		arg.start = arg.walk_end;
	}
	close(fd);
	return sum;
}

static uint64_t smaps_huge(uintptr_t from, uintptr_t to)
{
	struct mappings maps;
	uint64_t sum = 0;
	size_t i;

	if (mappings_read(from, to, &maps))
		sum = 0;
	for (i = 0; i < maps.count; i++) {
		const struct mapping *m = &maps.list[i];
		uint64_t len = m->to - m->from;

		sum += m->hugetlb ? mapping_resident(m) :
		       m->huge_bytes < len ? m->huge_bytes : len;
	}
	mappings_free(&maps);
	return sum;
}

uint64_t mapping_huge(uintptr_t from, uintptr_t to)
{
	int64_t huge = scan_huge(from, to);

	return huge < 0 ? smaps_huge(from, to) : (uint64_t)huge;
}
