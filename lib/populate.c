/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Making mappings resident, by several threads. */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api.h"
#include "nodes.h"
#include "populate.h"
#include "workers.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* The least that a thread takes at a time, or is worth having for. */
#define STEP_LEAST ((uint64_t)2 << 20)

/* How often the kernel may say EAGAIN for one part: memory that it cannot free just now. */
#define AGAIN_MOST 1000

int populate_say(struct populate *p, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (p->o.why_size)
		vsnprintf(p->o.why, p->o.why_size, format, args);
	va_end(args);
	return err;
}

/* ---- is it a range that can be filled? ----------------------------------------- */

static int hole(struct populate *p, uintptr_t at)
{
	return populate_say(p, -EFAULT, "nothing is mapped at %#lx, %lu bytes into the range",
			    (unsigned long)at, (unsigned long)(at - p->from));
}

static int midst(struct populate *p, const char *what, uintptr_t at, uint64_t page)
{
	return populate_say(p, -EINVAL, "the range %s at %#lx, in the midst of a page of %llu bytes",
			    what, (unsigned long)at, (unsigned long long)page);
}

static int check_mappings(struct populate *p)
{
	uintptr_t at = p->from;
	size_t i;

	for (i = 0; i < p->maps.count; at = p->maps.list[i++].to) {
		const struct mapping *m = &p->maps.list[i];

		if (m->from != at)
			return hole(p, at);
		if (!m->writable)
			return populate_say(p, -EACCES, "the mapping at %#lx is not writable",
					    (unsigned long)m->from);
		if (m->from % m->page)
			return midst(p, "begins", m->from, m->page);
		if (m->to % m->page)
			return midst(p, "ends", m->to, m->page);
	}
	return at < p->to ? hole(p, at) : 0;
}

static int check_range(struct populate *p, const void *addr, size_t len)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	p->from = (uintptr_t)addr;
	if (len > UINTPTR_MAX - p->from)
		return populate_say(p, -EINVAL, "the range is longer than memory");
	p->to = p->from + len;
	if (p->from % page || len % page)
		return populate_say(p, -EINVAL, "%s is no multiple of %lu bytes, the size of a page",
				    p->from % page ? "its address" : "its length",
				    (unsigned long)page);
	if (p->o.huge > CLEARPAGES_HUGE_REQUIRED)
		return populate_say(p, -EINVAL, "huge: %u is none of enum clearpages_huge",
				    p->o.huge);
	return 0;
}

/* ---- a part of it ------------------------------------------------------------------ */

/*
 * The kernel itself adds 0 to the first word of the page, atomically: what
 * another thread writes there meanwhile is not lost, and where there is no
 * page to be had the answer is -EFAULT and not SIGBUS. A thread that waits for
 * that very word may wake up once, which futex(2) tells it to expect.
 */
int populate_touch(void *addr)
{
	static uint32_t nobody_waits_here;
	const int add_0 = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_LT, 0);

	while (syscall(SYS_futex, &nobody_waits_here, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, NULL,
		       addr, add_0) < 0)
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
	return 0;
}

static int touch_part(const struct populate *p, char *addr, size_t len)
{
	const struct mapping *m = mappings_at(&p->maps, (uintptr_t)addr);
	const uint64_t page = m ? m->page : STEP_LEAST;
	size_t at;
	int err = 0;

	for (at = 0; at < len && !err; at += page)
		err = p->sys->touch(addr + at);
	return err;
}

static int fill_part(void *arg, char *addr, size_t len)
{
	const struct populate *p = arg;
	unsigned int again = 0;

	if (p->by_touch)
		return touch_part(p, addr, len);
	while (p->sys->madvise(addr, len, MADV_POPULATE_WRITE)) {
		if (errno == EAGAIN && again++ < AGAIN_MOST)
			sched_yield();
		else if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static int filled(void *arg, uint64_t done, uint64_t total)
{
	struct populate *p = arg;

	(void)total;
	return p->o.progress ? p->o.progress(p->o.progress_arg, p->before + done, p->to - p->from)
			     : 0;
}

/* ---- all of it ------------------------------------------------------------------------ */

static int home(void *arg, const char *addr)
{
	const struct populate *p = arg;
	const struct mapping *m = mappings_at(&p->maps, (uintptr_t)addr);

	if (!m)
		return NODES_ANYWHERE;
	return m->place.local ? p->here : m->place.node;
}

/*
 * Without a policy a page comes from the node of the thread that touches it: it
 * is to be the node of the caller, as it would be if the caller touched it.
 */
static unsigned int threads_most(const struct populate *p)
{
	unsigned int most = p->o.threads ? p->o.threads : workers_cpus(p->sys->root), cpus;
	size_t i;

	if (!nodes_many() || p->here == NODES_ANYWHERE)
		return most;
	for (i = 0; i < p->maps.count; i++)
		if (!p->maps.list[i].place.local)
			return most;
	cpus = nodes_cpus((unsigned int)p->here);
	return cpus && cpus < most ? cpus : most;
}

unsigned int populate_threads(const struct populate *p, uint64_t units)
{
	if (!units)
		return 1;
	return units < p->threads ? (unsigned int)units : p->threads;
}

/* Mappings with pages of one size, side by side: parts are whole pages. */
static int fill_run(struct populate *p, const struct mapping *first, const struct mapping *last)
{
	uint64_t len = last->to - first->from;
	uint64_t unit = first->page > STEP_LEAST ? first->page : STEP_LEAST;
	unsigned int threads = populate_threads(p, len / unit);
	struct workers_job job = {
		.addr = (char *)first->from, .len = len, .step = workers_step(len, unit, threads),
		.threads = threads, .part = fill_part, .arg = p, .done = filled, .done_arg = p,
	};
	const struct workers_with with = {
		.home = home, .run = p->o.run, .run_arg = p->o.run_arg,
	};
	int err = workers_run_with(&job, &with);

	p->before += len;
	return err;
}

static int fill(struct populate *p)
{
	const struct mapping *list = p->maps.list;
	size_t i, next;
	int err = 0;

	/* Of no bytes: asks only whether the kernel knows the word. */
	p->by_touch = p->sys->madvise((void *)p->from, 0, MADV_POPULATE_WRITE) && errno == EINVAL;
	for (i = 0; i < p->maps.count && !err; i = next) {
		for (next = i + 1; next < p->maps.count; next++)
			if (list[next].page != list[i].page)
				break;
		err = fill_run(p, &list[i], &list[next - 1]);
	}
	return err;
}

/* The mappings are as they should be, and nothing that can be looked at is in the way. */
static int no_page(struct populate *p, int err)
{
	size_t i;

	if (err == -ENOMEM)
		return populate_say(p, err, "the kernel or the memory cgroup of this process is out "
				    "of memory");
	for (i = 0; i < p->maps.count; i++)
		if (p->maps.list[i].inode && p->maps.list[i].file_size < 0)
			return populate_say(p, err, "the kernel has no page for it: the file has become "
					    "shorter, or there is no room for it where it lies");
	return populate_say(p, -ENOMEM, "the kernel has no page for it: the file system is full, or "
			    "huge pages or a limit on them were gone for a while");
}

/*
 * The kernel had no page after all. EFAULT is what a touch would have answered by
 * SIGBUS: huge pages that somebody took, a limit that somebody reached, or a
 * file that became shorter. What the first look saw may have changed.
 */
static int explain(struct populate *p, int err)
{
	char text[64];
	int found;

	if (err == -ECANCELED)
		return populate_say(p, err, "stopped by the progress function");
	if (err == -EHWPOISON)
		return populate_say(p, err, "a page of the range has a memory error");
	if (err == -EINVAL)
		return populate_say(p, err, "memory of a device, or of another kind that the kernel "
				    "does not populate");
	if (err != -EFAULT && err != -ENOMEM)
		return populate_say(p, err, "MADV_POPULATE_WRITE: %s",
				    strerror_r(-err, text, sizeof(text)));
	mappings_free(&p->maps);
	found = mappings_read(p->from, p->to, &p->maps);
	if (!found)
		found = check_mappings(p);
	if (!found)
		found = populate_look_files(p);
	if (!found)
		found = populate_look(p, true);
	return found ? found : no_page(p, err);
}

static int populate(struct populate *p)
{
	int err = mappings_read(p->from, p->to, &p->maps);
	unsigned int node;
	char text[64];

	p->here = syscall(SYS_getcpu, NULL, &node, NULL) ? NODES_ANYWHERE : (int)node;
	if (err)
		return populate_say(p, err, "/proc/self/smaps: %s",
				    strerror_r(-err, text, sizeof(text)));
	err = check_mappings(p);
	if (!err)
		err = populate_look_files(p);
	if (!err)
		err = populate_look(p, false);
	if (!err)
		err = populate_huge_before(p);
	if (err)
		return err;
	p->threads = threads_most(p);
	err = fill(p);
	if (err)
		err = explain(p, err);
	else
		err = populate_huge_after(p);
	return err;
}

int populate_with(const struct populate_system *sys, void *addr, size_t len,
		  struct clearpages_populate_opts *opts)
{
	struct populate p = { .sys = sys };
	int err;

	if (opts && !api_struct_in(&p.o, sizeof(p.o), sizeof(p.o), opts))
		return -EINVAL;
	p.o.huge_bytes = 0;
	if (!p.o.why)
		p.o.why_size = 0;
	if (p.o.why_size)
		*p.o.why = '\0';
	err = check_range(&p, addr, len);
	if (!err && len)
		err = populate(&p);
	if (err && p.maps.count)
		p.o.huge_bytes = mapping_huge(p.from, p.to);
	if (opts)
		opts->huge_bytes = p.o.huge_bytes;
	mappings_free(&p.maps);
	return err;
}

API int clearpages_populate(void *addr, size_t len, struct clearpages_populate_opts *opts)
{
	static const struct populate_system kernel = {
		.root = "", .madvise = madvise, .touch = populate_touch,
	};
	int cancel = api_cancel_off();
	int err = populate_with(&kernel, addr, len, opts);

	api_cancel_as(cancel);
	return err;
}
