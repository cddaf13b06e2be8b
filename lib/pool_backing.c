/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory of a pool: private and transparent huge, or a file of hugetlb pages. */
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <numaif.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "limits.h"
#include "machine.h"
#include "pool.h"

#ifndef HUGETLBFS_MAGIC
#define HUGETLBFS_MAGIC 0x958458f6
#endif

#define MOST_NODES 1024
#define WORD_BITS (8 * sizeof(unsigned long))

static size_t pmd_bytes(void)
{
	uint64_t bytes;

	return machine_number("", "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", &bytes) ?
	       (size_t)2 << 20 : (size_t)bytes;
}

/* ---- which ----------------------------------------------------------------------- */

static int path_page(const char *path, uint64_t *page, const struct why *why)
{
	struct statfs fs;

	if (statfs(path, &fs)) {
		int err = -errno;

		why_say(why, "%s: %m", path);
		return err;
	}
	if ((unsigned long)fs.f_type != HUGETLBFS_MAGIC) {
		why_say(why, "%s: not a directory of a hugetlbfs: see mount(8)", path);
		return -EINVAL;
	}
	if (*page && *page != (uint64_t)fs.f_bsize) {
		why_say(why, "%s: the pages there are of %lld bytes, not %llu", path,
			(long long)fs.f_bsize, (unsigned long long)*page);
		return -EINVAL;
	}
	*page = (uint64_t)fs.f_bsize;
	return 0;
}

/* Whole pages; a size that no machine has is left for mmap() to refuse. */
static int set_size(struct clearpages_pool *p, uint64_t bytes, uint64_t page,
		    const struct why *why)
{
	if (page < CPG_GRANULE || page & (page - 1) || page > CPG_POLICY_SIZE_MAX) {
		why_say(why, "a page of %llu bytes: expected a power of two from 4096 up",
			(unsigned long long)page);
		return -EINVAL;
	}
	if (!bytes || bytes > INT64_MAX - page || (bytes - 1) / page >= UINT32_MAX) {
		why_say(why, "a pool of %llu bytes: expected at least one page, and fewer than "
			"2^32", (unsigned long long)bytes);
		return -EINVAL;
	}
	p->page = page;
	p->pages = (bytes - 1) / page + 1;
	p->bytes = p->pages * page;
	return 0;
}

int backing_choose(struct clearpages_pool *p, const struct clearpages_pool_opts *o,
		   const struct why *why)
{
	int node = p->node == NODES_ANYWHERE ? LIMITS_ANY_NODE : p->node;
	uint64_t page = o->page_bytes;
	char text[512];
	int err = 0;

	p->backing = o->backing;
	if (p->backing == CLEARPAGES_BACKING_PATH)
		err = path_page(o->path, &page, why);
	if (!err)
		err = set_size(p, o->bytes, page ? page : pmd_bytes(), why);
	if (err || p->backing != CLEARPAGES_BACKING_AUTO)
		return err;
	p->backing = CLEARPAGES_BACKING_HUGETLB;
	if (p->mode == CLEARPAGES_EAGER &&
	    limits_check("", p->page, p->pages, node, text, sizeof(text))) {
		p->backing = CLEARPAGES_BACKING_THP;
		why_say(why, "private memory, no hugetlb pages: %s", text);
	}
	return 0;
}

/* ---- mapping --------------------------------------------------------------------- */

/* More than is needed, and the ends cut off: mmap() aligns to small pages only. */
static char *map_private(size_t bytes, size_t align)
{
	char *p = mmap(NULL, bytes + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	char *base;

	if (p == MAP_FAILED)
		return p;
	base = (char *)(((uintptr_t)p + align - 1) & ~(uintptr_t)(align - 1));
	if (base > p)
		munmap(p, (size_t)(base - p));
	munmap(base + bytes, (size_t)(p + align - base));
	return base;
}

/* A file without a name: nobody else opens it, and it goes when we go, however that is. */
static int file_open(struct clearpages_pool *p, const char *path, const struct why *why)
{
	int fd, err;

	if (p->backing == CLEARPAGES_BACKING_PATH)
		fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	else
		fd = memfd_create("clearpages-pool", MFD_CLOEXEC | MFD_HUGETLB |
				  (unsigned int)__builtin_ctzll(p->page) << MFD_HUGE_SHIFT);
	if (fd >= 0 && !ftruncate(fd, (off_t)p->bytes))
		return fd;
	err = -errno;
	if (p->backing == CLEARPAGES_BACKING_PATH)
		why_say(why, "%s: an unnamed file of %zu bytes: %m", path, p->bytes);
	else
		why_say(why, "no huge pages of %zu bytes: %m; see /sys/kernel/mm/hugepages",
			p->page);
	if (fd >= 0)
		close(fd);
	return err;
}

static char *map_file(int fd, size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static int map_error(struct clearpages_pool *p, const struct why *why)
{
	int err = -errno;

	why_say(why, "%zu pages of %zu bytes could not be mapped: %m", p->pages, p->page);
	return err;
}

/* A second mapping is what makes it possible to clear a page before users can see it. */
static int map_all(struct clearpages_pool *p, int fd, const struct why *why)
{
	size_t pmd = pmd_bytes();

	if (p->backing == CLEARPAGES_BACKING_THP)
		p->base = map_private(p->bytes, p->page < pmd ? pmd : p->page);
	else
		p->base = map_file(fd, p->bytes);
	if (p->base == MAP_FAILED)
		return map_error(p, why);
	p->clear = p->base;
	if (p->mode == CLEARPAGES_LAZY)
		p->clear = map_file(fd, p->bytes);
	if (p->clear == MAP_FAILED)
		return map_error(p, why);
	if (p->mode == CLEARPAGES_LAZY)
		madvise(p->clear, p->bytes, MADV_DONTDUMP);
	if (madvise(p->base, p->bytes, MADV_DONTFORK) ||
	    madvise(p->clear, p->bytes, MADV_DONTFORK))
		return map_error(p, why);
	return 0;
}

static int bind_node(struct clearpages_pool *p, const struct why *why)
{
	unsigned long mask[MOST_NODES / WORD_BITS] = { 0 };
	int err;

	if (p->node == NODES_ANYWHERE)
		return 0;
	if (p->node < 0 || p->node >= MOST_NODES) {
		why_say(why, "node %d: there is no such node", p->node);
		return -EINVAL;
	}
	mask[(unsigned int)p->node / WORD_BITS] |= 1ul << (unsigned int)p->node % WORD_BITS;
	/* For a file it holds for all its mappings. */
	if (!mbind(p->clear, p->bytes, MPOL_BIND, mask, MOST_NODES, 0))
		return 0;
	err = -errno;
	why_say(why, "node %d: %m", p->node);
	return err;
}

/* ---- all of it ------------------------------------------------------------------- */

/* The kernel zeroes it on the way, once and for all. */
static int fill(struct clearpages_pool *p, const struct why *why)
{
	bool thp = p->backing == CLEARPAGES_BACKING_THP && p->page >= pmd_bytes();
	char text[512] = "";
	struct clearpages_populate_opts o = {
		.size = sizeof(o), .threads = p->threads, .why = text, .why_size = sizeof(text),
		.huge = thp ? CLEARPAGES_HUGE_PREFER : CLEARPAGES_HUGE_AS_IS,
	};
	int err = clearpages_populate(p->clear, p->bytes, &o);

	if (text[0])
		why_say(why, "%s", text);
	return err;
}

static int backing_try(struct clearpages_pool *p, const char *path, const struct why *why)
{
	int node = p->node == NODES_ANYWHERE ? LIMITS_ANY_NODE : p->node, fd = -1, err = 0;
	char text[512];

	p->base = p->clear = MAP_FAILED;
	if (p->backing != CLEARPAGES_BACKING_THP) {
		err = limits_check("", p->page, p->pages, node, text, sizeof(text));
		if (err) {
			why_say(why, "%s", text);
			return err == -ENOENT ? -EOPNOTSUPP : err;
		}
		fd = file_open(p, path, why);
		if (fd < 0)
			return fd;
	}
	err = map_all(p, fd, why);
	if (!err)
		err = bind_node(p, why);
	if (!err)
		err = fill(p, why);
	/* The mappings are enough: what has no descriptor can't be read by one. */
	if (fd >= 0)
		close(fd);
	if (err)
		backing_close(p);
	return err;
}

/* That there are enough pages was a look, not a promise: AUTO goes on to private memory. */
int backing_open(struct clearpages_pool *p, const struct clearpages_pool_opts *o,
		 const struct why *why)
{
	bool other = o->backing == CLEARPAGES_BACKING_AUTO && p->mode == CLEARPAGES_EAGER &&
		     p->backing == CLEARPAGES_BACKING_HUGETLB;
	char text[512] = "";
	const struct why first = { text, sizeof(text) };
	int err;

	if (!other)
		return backing_try(p, o->path, why);
	err = backing_try(p, NULL, &first);
	if (!err) {
		why_say(why, "%s", text);
		return 0;
	}
	p->backing = CLEARPAGES_BACKING_THP;
	err = backing_try(p, NULL, why);
	if (!err)
		why_say(why, "private memory, no hugetlb pages: %s", text);
	return err;
}

void backing_close(struct clearpages_pool *p)
{
	if (p->clear != MAP_FAILED && p->clear != p->base)
		munmap(p->clear, p->bytes);
	if (p->base != MAP_FAILED)
		munmap(p->base, p->bytes);
	p->base = p->clear = MAP_FAILED;
}
