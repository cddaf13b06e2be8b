// SPDX-License-Identifier: GPL-2.0-only
/* Opening and mapping files that are memory: see memfile.h. */
#include "memfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../lib/limits.h"
#include "../lib/machine.h"
#include "tool.h"

#define EXPECTED "expected a file of hugetlbfs or tmpfs, a memfd, or DAX"

#ifndef STATX_ATTR_DAX
#define STATX_ATTR_DAX 0x00200000
#endif

const char *const memfile_kinds[] = {
	[MEMFILE_HUGETLB] = "hugetlb", [MEMFILE_TMPFS] = "tmpfs", [MEMFILE_MEMFD] = "memfd",
	[MEMFILE_DEVDAX] = "devdax",   [MEMFILE_FSDAX] = "fsdax",
};

static int refuse(char *why, size_t size, const char *text)
{
	snprintf(why, size, "%s", text);
	return TOOL_FAILED;
}

/* ---- what is it? ----------------------------------------------------------------- */

/* A number from the device's directory in sysfs. */
static bool device_number(dev_t device, const char *file, uint64_t *number)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/%s", major(device), minor(device), file);
	return !machine_number("", path, number);
}

static bool is_devdax(dev_t device)
{
	char path[96], target[256];
	ssize_t len;

	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/subsystem", major(device),
		 minor(device));
	len = readlink(path, target, sizeof(target) - 1);
	target[len > 0 ? len : 0] = '\0';
	return len > 4 && !strcmp(target + len - 4, "/dax");
}

static bool is_fsdax(int fd)
{
	struct statx st;

	return !statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) &&
	       st.stx_attributes & STATX_ATTR_DAX;
}

static bool is_memfd(int fd)
{
	char link[64], target[64];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, target, sizeof(target) - 1);
	target[len > 0 ? len : 0] = '\0';
	return !strncmp(target, "/memfd:", 7);
}

/* By type, before it is opened: opening a device or a pipe can have consequences. */
static int check_type(const struct stat *st, char *why, size_t size)
{
	if (S_ISREG(st->st_mode) || (S_ISCHR(st->st_mode) && is_devdax(st->st_rdev)))
		return TOOL_OK;
	if (S_ISDIR(st->st_mode))
		return refuse(why, size, "a directory, " EXPECTED);
	if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
		return refuse(why, size, "a device that is not DAX, " EXPECTED);
	return refuse(why, size, "a pipe or socket, " EXPECTED);
}

static int find_device(struct memfile *f, dev_t device, char *why, size_t size)
{
	f->kind = MEMFILE_DEVDAX;
	if (!device_number(device, "size", &f->bytes) || !device_number(device, "align", &f->page) ||
	    !f->page)
		return refuse(why, size, "its size or alignment is not in /sys/dev/char");
	return TOOL_OK;
}

static int find_kind(struct memfile *f, bool clear, char *why, size_t size)
{
	struct statfs fs;
	struct stat st;

	if (fstat(f->fd, &st) || fstatfs(f->fd, &fs))
		return refuse(why, size, strerror(errno));
	if (S_ISCHR(st.st_mode))
		return find_device(f, st.st_rdev, why, size);
	f->bytes = (uint64_t)st.st_size;
	if (fs.f_type == HUGETLBFS_MAGIC) {
		f->kind = MEMFILE_HUGETLB;
		f->page = (uint64_t)fs.f_bsize;
	} else if (fs.f_type == TMPFS_MAGIC) {
		f->kind = is_memfd(f->fd) ? MEMFILE_MEMFD : MEMFILE_TMPFS;
		f->page = (uint64_t)sysconf(_SC_PAGESIZE);
	} else if (is_fsdax(f->fd)) {
		f->kind = MEMFILE_FSDAX;
		f->page = (uint64_t)sysconf(_SC_PAGESIZE);
		if (clear)
			return refuse(why, size, "--clear: a file of a DAX file system keeps data, "
				      "expected a file of hugetlbfs or tmpfs, a memfd, or a DAX device");
	} else {
		snprintf(why, size, "on a file system of type %#lx that keeps data elsewhere, "
			 EXPECTED, (unsigned long)fs.f_type);
		return TOOL_FAILED;
	}
	return TOOL_OK;
}

/*
 * Bytes of whole pages within its end that have contents. Only what the kernel says in so
 * many words means that there are none, for --clear leaves such a file as it is; where
 * it says something else, or the file is being truncated, it is the most there can be.
 */
static uint64_t count_data(const struct memfile *f)
{
	const uint64_t most = f->allocated < f->mapped ? f->allocated : f->mapped;
	uint64_t sum = 0, from, to;
	off_t at, end = 0;

	while ((at = lseek(f->fd, end, SEEK_DATA)) >= 0 && (uint64_t)at < f->bytes) {
		end = lseek(f->fd, at, SEEK_HOLE);
		if (end <= at)
			return most;
		from = (uint64_t)at / f->page * f->page;
		to = ((uint64_t)end + f->page - 1) / f->page * f->page;
		sum += (to < f->mapped ? to : f->mapped) - from;
	}
	return at < 0 && errno != ENXIO ? most : sum;
}

void memfile_count(struct memfile *f)
{
	struct stat st;

	f->allocated = f->resident = f->mapped;
	if (f->kind == MEMFILE_DEVDAX || f->kind == MEMFILE_FSDAX || fstat(f->fd, &st))
		return;
	f->allocated = (uint64_t)st.st_blocks * 512;
	if (f->kind != MEMFILE_HUGETLB)
		f->resident = count_data(f);
	else if (f->allocated < f->mapped)
		f->resident = f->allocated;
}

int memfile_open(const char *path, bool clear, struct memfile *f, char *why, size_t why_size)
{
	struct stat st;
	int err;

	*f = (struct memfile){ .path = path, .fd = -1 };
	if (stat(path, &st))
		return refuse(why, why_size, strerror(errno));
	err = check_type(&st, why, why_size);
	if (err)
		return err;
	f->fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (f->fd < 0)
		return refuse(why, why_size, strerror(errno));
	/* The same name may be another file by now: what counts is what was opened. */
	if (fstat(f->fd, &st))
		return refuse(why, why_size, strerror(errno));
	err = check_type(&st, why, why_size);
	if (!err)
		err = find_kind(f, clear, why, why_size);
	if (err)
		return err;
	f->mapped = (size_t)((f->bytes + f->page - 1) / f->page * f->page);
	memfile_count(f);
	return TOOL_OK;
}

int memfile_map(struct memfile *f, char *why, size_t why_size)
{
	uint64_t absent = f->resident < f->mapped ? f->mapped - f->resident : 0;
	int err;

	f->base = mmap(NULL, f->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	if (f->base != MAP_FAILED)
		return TOOL_OK;
	err = errno;
	f->base = NULL;
	/* A mapping of hugetlb reserves what it lacks. */
	if (err == ENOMEM && f->kind == MEMFILE_HUGETLB &&
	    limits_check("", f->page, absent / f->page, LIMITS_ANY_NODE, why, why_size))
		return TOOL_FAILED;
	if (err == EPERM)
		return refuse(why, why_size, "sealed against writing");
	snprintf(why, why_size, "cannot be mapped: %s", strerror(err));
	return TOOL_FAILED;
}

void memfile_close(struct memfile *f)
{
	if (f->base)
		munmap(f->base, f->mapped);
	if (f->fd >= 0)
		close(f->fd);
	f->base = NULL;
	f->fd = -1;
}

/* ---- pages that vanish ---------------------------------------------------------------- */

static struct {
	uintptr_t from, to;
	size_t page;
	struct sigaction before;
} guard;

static atomic_bool lost;

static void on_sigbus(int number, siginfo_t *info, void *context)
{
	const uintptr_t at = (uintptr_t)info->si_addr;
	const int saved = errno;
	void *page;

	(void)context;
	if (info->si_code > 0 && at >= guard.from && at < guard.to) {
		page = (void *)(at - (at - guard.from) % guard.page);
		if (mmap(page, guard.page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page) {
			atomic_store(&lost, true);
			errno = saved;
			return;
		}
	}
	/* None of ours: it comes again at once, and then it is what it was before. */
	sigaction(number, &guard.before, NULL);
	if (info->si_code <= 0)
		raise(number);
}

void memfile_guard(const struct memfile *f)
{
	struct sigaction act = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };

	sigemptyset(&act.sa_mask);
	guard.from = (uintptr_t)f->base;
	guard.to = guard.from + f->mapped;
	guard.page = (size_t)f->page;
	atomic_store(&lost, false);
	sigaction(SIGBUS, &act, &guard.before);
}

bool memfile_lost(void)
{
	return atomic_load(&lost);
}

void memfile_unguard(void)
{
	sigaction(SIGBUS, &guard.before, NULL);
}
