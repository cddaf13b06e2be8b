/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A pager for a pool: the userfaultfd, if it has one, its threads and its signal. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "machine.h"
#include "pager.h"

#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00) /* Linux 6.1 */
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1 /* Linux 5.11 */
#endif
#ifndef UFFD_FEATURE_EXACT_ADDRESS
#define UFFD_FEATURE_EXACT_ADDRESS (1 << 11) /* Linux 5.18 */
#endif

#define DEVICE "/dev/userfaultfd"
#define FLAGS (O_CLOEXEC | O_NONBLOCK)
#define AHEAD_BYTES ((size_t)64 << 20)

/* ---- the userfaultfd ------------------------------------------------------------- */

#define WHAT_TO_CHANGE \
	"give it access to " DEVICE " (as root: setfacl -m u:USER:rw " DEVICE \
	"), or as root: sysctl vm.unprivileged_userfaultfd=1"

static int by_device(void)
{
	int fd, dev = open(DEVICE, O_RDWR | O_CLOEXEC);

	if (dev < 0)
		return -1;
	fd = ioctl(dev, USERFAULTFD_IOC_NEW, FLAGS);
	close(dev);
	return fd;
}

static int by_call(int flags)
{
	return (int)syscall(SYS_userfaultfd, FLAGS | flags);
}

/* The widest that this process may have. */
static int open_any(bool signals, uint32_t *limits, const struct why *why)
{
	int fd = by_device(), err;

	if (fd < 0)
		fd = by_call(0);
	if (fd >= 0 || errno != EPERM)
		goto out;
	fd = by_call(UFFD_USER_MODE_ONLY);
	if (fd >= 0 && !signals) { /* with signals it was never more than that */
		*limits |= CLEARPAGES_POOL_USER_ONLY;
		why_say(why, "system calls that are given untouched memory will fail with EFAULT: "
			"for more, this process is not permitted: " WHAT_TO_CHANGE);
	}
out:
	if (fd >= 0)
		return fd;
	err = -errno;
	if (err == -EPERM)
		why_say(why, "userfaultfd is not permitted to this process: " WHAT_TO_CHANGE
			"; a sandbox (seccomp) can be the reason as well; CLEARPAGES_PAGER_PROTECT "
			"needs neither");
	else
		why_say(why, "userfaultfd: %s; CLEARPAGES_PAGER_PROTECT does without",
			strerror(-err));
	return err == -ENOSYS ? -EOPNOTSUPP : err;
}

/* The exact address is for the window around the touch; kernels before 5.18 round it. */
static int agree(int fd, bool signals, const struct why *why)
{
	struct uffdio_api api = { .api = UFFD_API };
	uint64_t features = UFFD_FEATURE_MINOR_HUGETLBFS | UFFD_FEATURE_EVENT_REMAP |
			    (signals ? UFFD_FEATURE_SIGBUS : UFFD_FEATURE_THREAD_ID);

	api.features = features | UFFD_FEATURE_EXACT_ADDRESS;
	if (!pager_ioctl(fd, UFFDIO_API, &api))
		return 0;
	api = (struct uffdio_api){ .api = UFFD_API, .features = features };
	if (!pager_ioctl(fd, UFFDIO_API, &api))
		return 0;
	why_say(why, "this kernel's userfaultfd knows no minor faults of hugetlb pages: 5.18 is "
		"the first that has all that a lazy pool needs");
	return -EOPNOTSUPP;
}

int pager_uffd(bool signals, uint32_t *limits, const struct why *why)
{
	int fd = open_any(signals, limits, why), err;

	if (fd < 0)
		return fd;
	err = agree(fd, signals, why);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Nothing is mapped in p->base yet, so that all of its pages will fault. */
static int watch(struct clearpages_pool *p, const struct why *why)
{
	struct uffdio_register r = {
		.range = { (uintptr_t)p->base, p->bytes }, .mode = UFFDIO_REGISTER_MODE_MINOR,
	};
	int err = 0;

	if (pager_ioctl(p->pager->uffd, UFFDIO_REGISTER, &r)) {
		err = -errno;
		why_say(why, "userfaultfd cannot watch these pages: %s", strerror(-err));
	} else if (pager_unmap(p, 0, p->pages)) {
		err = -EOPNOTSUPP;
		why_say(why, "this kernel cannot unmap hugetlb pages by madvise(): 5.18 is the "
			"first");
	}
	return err;
}

/* ---- without it ------------------------------------------------------------------ */

/* At worst every second page is touched. */
static int protect(struct clearpages_pool *p, const struct why *why)
{
	uint64_t most;
	int err = 0;

	if (!machine_number("", "/proc/sys/vm/max_map_count", &most) && p->pages + 256 > most) {
		why_say(why, "%zu pages need as many mappings, and vm.max_map_count is %" PRIu64
			": as root, sysctl vm.max_map_count=%zu", p->pages, most,
			2 * p->pages + 1024);
		err = -ENOMEM;
	} else if (mprotect(p->base, p->bytes, PROT_NONE)) {
		err = -errno;
		why_say(why, "mprotect: %s", strerror(-err));
	}
	return err;
}

/* ---- the pager ------------------------------------------------------------------- */

static uint32_t ahead_of(const struct clearpages_pool *p, const struct clearpages_pool_opts *o)
{
	if (o->ahead == CLEARPAGES_NONE || (p->pager->signals && !o->handlers))
		return 0;
	if (o->ahead)
		return o->ahead;
	return p->page < AHEAD_BYTES ? (uint32_t)(AHEAD_BYTES / p->page) : 1;
}

static int start(struct clearpages_pool *p, const struct clearpages_pool_opts *o,
		 const struct why *why)
{
	unsigned int handlers = o->handlers == CLEARPAGES_NONE ? 0 : o->handlers;
	bool thread = p->pager_kind == CLEARPAGES_PAGER_THREAD;
	int err;

	if (thread)
		err = crew_start(p, handlers ? handlers : 1, 0);
	else
		err = crew_start(p, p->pager->uffd >= 0 ? 1 : 0, handlers);
	if (!err && !thread)
		err = signal_add(p, p->pager->uffd >= 0 ? SIGBUS : SIGSEGV);
	if (err)
		why_say(why, "no memory or no thread to be had for the pager: %s", strerror(-err));
	return err;
}

/* Each userfaultfd has an inode of its own, since Linux 5.12. */
static int know(struct pager *g)
{
	struct stat now;

	if (fstat(g->uffd, &now))
		return -errno;
	g->dev = now.st_dev;
	g->ino = now.st_ino;
	return 0;
}

int pager_open(struct clearpages_pool *p, const struct clearpages_pool_opts *o,
	       const struct why *why)
{
	struct pager *g = calloc(1, sizeof(*g));
	uint32_t limits = 0;
	int err = 0;

	if (!g)
		return -ENOMEM;
	p->pager = g;
	g->uffd = -1;
	g->signals = p->pager_kind != CLEARPAGES_PAGER_THREAD;
	g->ahead = ahead_of(p, o);
	if (p->pager_kind != CLEARPAGES_PAGER_PROTECT) {
		g->uffd = pager_uffd(g->signals, &limits, why);
		p->limits = limits;
		err = g->uffd < 0 ? g->uffd : know(g);
		if (!err)
			err = watch(p, why);
	} else {
		err = protect(p, why);
	}
	return err ? err : start(p, o, why);
}

void pager_close(struct clearpages_pool *p)
{
	struct pager *g = p->pager;

	if (!g)
		return;
	if (g->signals)
		signal_remove(p);
	if (*p->alive)
		crew_stop(p);
	else
		free(g->member);
	/* The program may have closed it, and opened something else since. */
	if (pager_has_uffd(g))
		close(g->uffd);
	free(g);
	p->pager = NULL;
}
