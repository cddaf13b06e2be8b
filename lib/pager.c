/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From untouched to ready, and back. */
#include <errno.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "pager.h"
#include "sigmask.h"

static int plain_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg);
}

int (*pager_ioctl)(int fd, unsigned long request, void *arg) = plain_ioctl;

/* ---- mapping --------------------------------------------------------------------- */

void pager_wake(struct clearpages_pool *p, uintptr_t addr, size_t len)
{
	struct uffdio_range range = { addr, len };

	if (p->pager->uffd >= 0)
		pager_call(p->pager, UFFDIO_WAKE, &range);
}

/*
 * What was mapped is in c.mapped, an error perhaps besides. EEXIST: somebody
 * was faster with the first page of the rest; nobody else will wake those who wait
 * for it. EAGAIN: an mremap() is not finished; `patience` is how often to ask
 * again for one that cannot finish before this thread is done here.
 */
static int map_uffd(struct clearpages_pool *p, size_t first, size_t count, unsigned int patience)
{
	size_t at = 0, len = count * p->page, step = len;
	uintptr_t base = (uintptr_t)page_addr(p, first);

	while (at < len) {
		size_t most = step < len - at ? step : len - at;
		struct uffdio_continue c = { .range = { base + at, most } };
		int err = -pager_call(p->pager, UFFDIO_CONTINUE, &c);

		if (!err || c.mapped > 0)
			at += err ? (size_t)c.mapped : c.range.len;
		if (!err)
			continue;
		if (err == EEXIST) {
			pager_wake(p, base + at, p->page);
			at += p->page;
		} else if (err == ENOENT && step > p->page) {
			step = p->page; /* pager_refuse() leaves several mappings where one was */
		} else if (err != EAGAIN || (c.mapped <= 0 && !patience--)) {
			return -err;
		} else if (c.mapped <= 0) {
			sched_yield();
		}
	}
	return 0;
}

static int map(struct clearpages_pool *p, size_t first, size_t count, unsigned int patience)
{
	if (p->pager->uffd >= 0)
		return map_uffd(p, first, count, patience);
	return mprotect(page_addr(p, first), count * p->page, PROT_READ | PROT_WRITE) ? -errno : 0;
}

int pager_unmap(struct clearpages_pool *p, size_t first, size_t count)
{
	char *addr = page_addr(p, first);
	int err;

	if (p->pager->uffd >= 0)
		err = madvise(addr, count * p->page, MADV_DONTNEED);
	else
		err = mprotect(addr, count * p->page, PROT_NONE);
	return err ? -errno : 0;
}

int pager_lend(struct clearpages_pool *p, size_t first, size_t count)
{
	size_t i = first, from, end = first + count, k;
	int err = 0;

	while (i < end && !err) {
		from = i;
		while (i < end && page_take(p, i, PAGE_LAZY_CLEAN, PAGE_CLAIMED, OWNER_NONE))
			i++;
		if (i == from) {
			i++;
			continue;
		}
		err = map(p, from, i - from, UINT32_MAX);
		for (k = from; k < i; k++)
			page_give(p, k, PAGE_CLAIMED, err ? PAGE_LAZY_CLEAN : PAGE_LENT);
	}
	/* Looked at last: bury() says so first, and looks for untouched pages then. */
	if (!p->pager->signals && p->limits & CLEARPAGES_POOL_BROKEN)
		err = -EIO;
	return err ? -EIO : 0;
}

/* ---- serving --------------------------------------------------------------------- */

/* The page is claimed. What was cleared and can't be mapped stays clean, unseen. */
static int fill(struct clearpages_pool *p, size_t i, bool dirty, size_t touch, enum by by,
		unsigned int owner)
{
	int err;

	if (dirty)
		page_clear(p, i, touch, by, NULL);
	/* Threads that read events must not wait here for one to be read. */
	err = map(p, i, 1, owner == OWNER_NONE ? UINT32_MAX : 0);
	page_give(p, i, PAGE_CLAIMED, err ? PAGE_LAZY_CLEAN : PAGE_LENT);
	if (err && !p->pager->signals)
		pager_wake(p, (uintptr_t)page_addr(p, i), p->page);
	return err;
}

int pager_try(struct clearpages_pool *p, size_t i, size_t touch, enum by by, unsigned int owner)
{
	for (;;) {
		switch (page_state(p, i)) {
		case PAGE_LENT:
			return 0;
		case PAGE_CLAIMED:
			return -EAGAIN;
		case PAGE_LAZY_DIRTY:
			if (page_take(p, i, PAGE_LAZY_DIRTY, PAGE_CLAIMED, owner))
				return fill(p, i, true, touch, by, owner);
			break;
		case PAGE_LAZY_CLEAN:
			if (page_take(p, i, PAGE_LAZY_CLEAN, PAGE_CLAIMED, owner))
				return fill(p, i, false, touch, by, owner);
			break;
		default:
			return -ENOENT;
		}
	}
}

int pager_serve(struct clearpages_pool *p, size_t i, size_t touch, enum by by,
		unsigned int owner)
{
	int err;

	while ((err = pager_try(p, i, touch, by, owner)) == -EAGAIN)
		page_wait(p, i);
	return err ? -EIO : 0;
}

/*
 * While a page is claimed here, a handler of this thread that touches it would wait for
 * its own thread, and so would all others for a thread that a handler stops for a while.
 * For each page: a signal waits for one page then, not for a range.
 */
int pager_touch(struct clearpages_pool *p, size_t i, enum by by)
{
	int err = 0;

	while (page_state(p, i) != PAGE_LENT) {
		uint64_t before = sigmask_hold();

		err = pager_try(p, i, CPG_NO_TOUCH, by, OWNER_NONE);
		sigmask_release(before);
		if (err != -EAGAIN)
			break;
		page_wait(p, i);
		err = 0;
	}
	return err ? -EIO : 0;
}

/* ---- pages that were ready ------------------------------------------------------- */

int pager_again(struct clearpages_pool *p, size_t i, unsigned int owner)
{
	int err;

	/* Claimed, or it could be put and gotten by others before it is mapped, with old bytes. */
	if (!page_take(p, i, PAGE_LENT, PAGE_CLAIMED, owner))
		return -EAGAIN;
	err = map(p, i, 1, owner == OWNER_NONE ? UINT32_MAX : 0);
	page_give(p, i, PAGE_CLAIMED, PAGE_LENT);
	return err;
}

/*
 * Is such an access permitted now? The kernel looks at a word for us, and fails where we
 * would get a signal: to wait until a time that is past reads it, and to "or" nothing into
 * it writes. With PROT_EXEC nothing is ever mapped here.
 */
static bool permitted(uintptr_t addr, enum access access)
{
	const struct timespec past = { 0, 0 };
	uint32_t *word = (uint32_t *)(addr & ~(uintptr_t)3), mine = 0;
	long err;

	if (access == ACCESS_FETCH)
		return false;
	if (access == ACCESS_WRITE)
		err = syscall(SYS_futex, &mine, FUTEX_WAKE_OP_PRIVATE, 0, 0L, word,
			      FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0));
	else
		err = syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, 0, &past, NULL,
			      FUTEX_BITSET_MATCH_ANY);
	return err >= 0 || errno != EFAULT;
}

/*
 * A fault on a page that is ready: another thread made it so just now, or the program has
 * dropped it from its mapping, or protected it, which is not ours to undo.
 */
static int ready_fault(struct clearpages_pool *p, size_t i, uintptr_t addr, enum access access)
{
	int err;

	if (p->pager->uffd < 0)
		return permitted(addr, access) ? 0 : -EACCES;
	err = pager_again(p, i, OWNER_NONE);
	if (err == -EAGAIN)
		page_wait(p, i);
	return err == -EAGAIN ? 0 : err;
}

int pager_fault(struct clearpages_pool *p, uintptr_t addr, enum access access)
{
	size_t i = page_index(p, addr);

	if (!*p->alive)
		return -ENOENT;
	atomic_fetch_add_explicit(&p->faults, 1, memory_order_relaxed);
	if (page_state(p, i) == PAGE_LENT)
		return ready_fault(p, i, addr, access);
	/* Before its own page, so that another cpu is at work meanwhile. */
	ahead_hint(p, i);
	return pager_serve(p, i, addr - (uintptr_t)page_addr(p, i), BY_FAULT, OWNER_NONE);
}

/* ---- refusing -------------------------------------------------------------------- */

static bool in_use(struct clearpages_pool *p, size_t i)
{
	switch (page_state(p, i)) {
	case PAGE_LENT:
	case PAGE_CLAIMED:
	case PAGE_LAZY_CLEAN:
	case PAGE_LAZY_DIRTY:
		return true;
	default:
		return false;
	}
}

/*
 * A thread that waits in the kernel can be sent on only to where there is either
 * a page or no permission. Under the lock: the page must not be handed out
 * between the look and the deed. If that fails too, the thread waits for ever.
 *
 * The first time it is only told to look again: the message may be an old one,
 * of a fault that another thread has answered, on a page that has been put
 * since. The second one of the same thread with no get or put in between is not.
 */
void pager_refuse(struct clearpages_pool *p, struct knock *last, uintptr_t addr, uint32_t tid)
{
	uintptr_t page = addr & ~(uintptr_t)(p->page - 1);
	bool inside = addr - (uintptr_t)p->base < p->bytes, failed = false, again;
	struct knock *k = &last[tid % KNOCKS];

	pthread_mutex_lock(&p->lock);
	again = k->page == page && k->tid == tid && k->generation == p->generation;
	*k = (struct knock){ page, tid, p->generation };
	if (again && (!inside || !in_use(p, page_index(p, addr)))) {
		p->refused |= inside;
		failed = mprotect((void *)page, p->page, PROT_NONE);
	}
	pthread_mutex_unlock(&p->lock);
	if (!failed)
		pager_wake(p, page, p->page);
}

void pager_reopen(struct clearpages_pool *p, size_t first, size_t count)
{
	if (p->pager->uffd >= 0)
		mprotect(page_addr(p, first), count * p->page, PROT_READ | PROT_WRITE);
}
