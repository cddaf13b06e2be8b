/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Transparent huge pages for a range that is being filled: off, preferred or required. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "machine.h"
#include "populate.h"
#include "workers.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

#define PMD_FILE "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"
#define AGAIN_MOST 10

static bool wanted(const struct populate *p)
{
	return p->o.huge == CLEARPAGES_HUGE_PREFER || p->o.huge == CLEARPAGES_HUGE_REQUIRED;
}

/* As far as the range consists of whole huge pages. */
static uint64_t whole(const struct populate *p, const struct mapping *m, uintptr_t *from)
{
	uintptr_t to = m->to - m->to % p->pmd;

	*from = (m->from + p->pmd - 1) / p->pmd * p->pmd;
	return *from < to ? to - *from : 0;
}

static int odd(struct populate *p, const char *what, uintptr_t at)
{
	return populate_say(p, -EINVAL, "the range %s at %#lx, which is no multiple of a huge page of "
			    "%llu bytes", what, (unsigned long)at, (unsigned long long)p->pmd);
}

static int required_whole(struct populate *p, const struct mapping *m)
{
	if (!p->pmd)
		return populate_say(p, -EOPNOTSUPP, "this kernel has no transparent huge pages");
	if (m->from % p->pmd)
		return odd(p, "begins", m->from);
	if (m->to % p->pmd)
		return odd(p, "ends", m->to);
	return 0;
}

int populate_huge_before(struct populate *p)
{
	const int advice = p->o.huge == CLEARPAGES_HUGE_OFF ? MADV_NOHUGEPAGE : MADV_HUGEPAGE;
	size_t i;
	int err = 0;

	if (machine_number(p->sys->root, PMD_FILE, &p->pmd))
		p->pmd = 0;
	if (p->o.huge == CLEARPAGES_HUGE_AS_IS || (!p->pmd && !wanted(p)))
		return 0;
	for (i = 0; i < p->maps.count && !err; i++) {
		const struct mapping *m = &p->maps.list[i];

		if (m->hugetlb)
			continue;
		if (p->o.huge == CLEARPAGES_HUGE_REQUIRED)
			err = required_whole(p, m);
		if (!err && p->sys->madvise((void *)m->from, m->to - m->from, advice) &&
		    !p->huge_err)
			p->huge_err = -errno;
	}
	return err;
}

/* ---- what came in small pages ---------------------------------------------------- */

static int collapse_part(void *arg, char *addr, size_t len)
{
	struct populate *p = arg;
	unsigned int again = 0;
	int none = 0, err;

	while (p->sys->madvise(addr, len, MADV_COLLAPSE)) {
		err = -errno;
		if (err == -EINTR || (err == -EAGAIN && again++ < AGAIN_MOST)) {
			sched_yield();
			continue;
		}
		/* Several threads may come here; the first reason is as good as the others. */
		__atomic_compare_exchange_n(&p->huge_err, &none, err, 0, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
		break;
	}
	return 0;
}

/* All is resident; the caller may still say that it is enough. */
static int collapsed(void *arg, uint64_t done, uint64_t total)
{
	struct populate *p = arg;

	(void)done, (void)total;
	return p->o.progress ? p->o.progress(p->o.progress_arg, p->to - p->from, p->to - p->from)
			     : 0;
}

static int collapse(struct populate *p)
{
	const struct workers_with with = { .run = p->o.run, .run_arg = p->o.run_arg };
	size_t i;
	int err = 0;

	for (i = 0; i < p->maps.count && !err; i++) {
		struct workers_job job = {
			.step = 8 * p->pmd, .part = collapse_part, .arg = p, .done = collapsed,
			.done_arg = p,
		};
		uintptr_t from;

		if (p->maps.list[i].hugetlb)
			continue;
		job.len = whole(p, &p->maps.list[i], &from);
		job.addr = (char *)from;
		job.threads = populate_threads(p, job.len / p->pmd);
		if (job.len)
			err = workers_run_with(&job, &with);
	}
	return err;
}

static const char *reason(const struct populate *p, char *text, size_t size)
{
	if (!p->pmd)
		return "this kernel has no transparent huge pages";
	switch (p->huge_err) {
	case 0:
		return "the ends of the range are no whole huge pages";
	case -EINVAL:
		return "the kernel does not make huge pages of a mapping of this kind, or of none "
		       "(see /sys/kernel/mm/transparent_hugepage/enabled and shmem_enabled)";
	case -ENOMEM:
		return "no huge page was free: memory is in pieces (see /proc/sys/vm/compact_memory) "
		       "or a limit of the memory cgroup is in the way";
	default:
		return strerror_r(-p->huge_err, text, size);
	}
}

static int short_of(struct populate *p, uint64_t total)
{
	char text[64];
	int err = 0;

	if (p->o.huge == CLEARPAGES_HUGE_REQUIRED)
		err = p->huge_err == -EINVAL || !p->huge_err ? -EOPNOTSUPP : -ENOMEM;
	return populate_say(p, err, "%llu of %llu bytes are in huge pages: %s",
			    (unsigned long long)p->o.huge_bytes, (unsigned long long)total,
			    reason(p, text, sizeof(text)));
}

int populate_huge_after(struct populate *p)
{
	const uint64_t total = p->to - p->from;
	int err = 0;

	p->o.huge_bytes = mapping_huge(p->from, p->to);
	if (!wanted(p) || p->o.huge_bytes >= total)
		return 0;
	if (p->pmd) {
		/* What MADV_HUGEPAGE was refused may still be collapsed; then that is what counts. */
		p->huge_err = 0;
		err = collapse(p);
		p->o.huge_bytes = mapping_huge(p->from, p->to);
	}
	if (err)
		return populate_say(p, err, "stopped by the progress function");
	return p->o.huge_bytes < total ? short_of(p, total) : 0;
}
