/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libclearpages: zero memory at the speed of the memory.
 *
 * Every function returns 0 or a negative errno value unless it says otherwise,
 * may be called by any number of threads at once, and neither prints, exits
 * nor aborts; but while clearpages_policy_free() or clearpages_pool_destroy()
 * runs, and after it, nobody else may use what it is given. Functions work in
 * a child of fork() too, pools of the parent do not. dlclose() does not unload
 * the library. Handles are opaque. A struct that the caller fills in begins
 * with its size, so that later releases can add to it: fields that a caller
 * does not know are taken as 0, fields that the library does not know have to
 * be 0.
 *
 * When NOT to use it: on a buffer that is in the cache and about to be used
 * from there, memset() is the right call. CLEARPAGES_COLD_BYTES says from
 * which size on that was no longer so where it was measured (bench/README.md
 * has the table, `make bench-peers` makes it for your machine).
 */
#ifndef CLEARPAGES_H
#define CLEARPAGES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The release of the library that is loaded, such as "0.1.0". */
const char *clearpages_version(void);

/* ---- variants and policies ------------------------------------------------ */

/*
 * One way to zero a run of bytes, as far as this processor is concerned.
 * lacks: the processor feature whose absence makes it unusable (a word of the
 * flags line of /proc/cpuinfo), NULL if it is usable. The strings are static.
 */
struct clearpages_variant {
	size_t size; /* sizeof(struct clearpages_variant), set by the caller */
	const char *name;
	const char *what;
	const char *lacks;
	int streaming; /* past the cache (1) or through it (0) */
};

/* Variant i, from 0; -ENOENT after the last. -EINVAL: size is not a size we know. */
int clearpages_variant_get(unsigned int i, struct clearpages_variant *variant);

/* The name of named policy i, NULL after the last; *what (or NULL): one line on it. */
const char *clearpages_policy_name(unsigned int i, const char **what);

/*
 * How memory is zeroed: by which variants, in which order and steps. Made from
 * text, the same on the command line, in the environment and here:
 *
 *	auto
 *	ranges,batch=8M
 *	far=clzero,near=stosb,window=16K,far_min=64K,batch=32M,unit=0,order=forward
 *
 * A name (clearpages_policy_name()) or changes to one; changes without a name
 * are made to `auto`. clearpages(7) explains names and keys.
 */
struct clearpages_policy;

/*
 * Make a policy. -EINVAL: the text is wrong on any machine; -EOPNOTSUPP: it
 * names a variant that this processor lacks; -ENOMEM. On failure *policy is
 * NULL, and why (if not NULL) says in one line of up to why_size bytes what
 * was wrong and what was expected.
 */
int clearpages_policy_new(const char *text, struct clearpages_policy **policy, char *why,
			  size_t why_size);

/* NULL is fine. */
void clearpages_policy_free(struct clearpages_policy *policy);

/*
 * A policy as text with every key; making a policy of that gives the same one.
 * policy NULL: the default. Returns the length, the NUL not counted; -ERANGE
 * if size is too small (CLEARPAGES_POLICY_TEXT is always enough).
 */
#define CLEARPAGES_POLICY_TEXT 160
int clearpages_policy_text(const struct clearpages_policy *policy, char *text, size_t size);

/*
 * The default policy, which NULL stands for everywhere: the environment's
 * CLEARPAGES_POLICY as it was at the first call (not in a set-user-ID program,
 * and not if it is empty), else `auto`. -EINVAL or -EOPNOTSUPP, and why as above: the environment's
 * policy cannot be used, and `auto` is used in its place.
 */
int clearpages_policy_default(char *why, size_t why_size);

/* ---- zeroing ---------------------------------------------------------------- */

/*
 * The size from which a streaming policy was not slower than memset() even for
 * a buffer that is written and zeroed again and again: the last-level cache,
 * 8 MiB, where it was measured (bench/README.md). For a buffer that is in the
 * cache and smaller, memset() is the right call: 1.4 times as fast as `auto` at
 * 4 KiB, 2 to 2.7 times from 64 KiB to 4 MiB.
 */
#define CLEARPAGES_COLD_BYTES ((size_t)8 << 20)

/*
 * Zero [addr, addr + len): any address, any length, 0 included. The memory has
 * to be writable; pages that are not there yet are faulted in. On return the
 * zeros are visible to all processors before any later store of this thread,
 * whatever the policy. policy NULL: the default. Async-signal-safe with a policy
 * of the caller's; with NULL once clearpages_policy_default(), or any function
 * that was given NULL for a policy, has returned in this process.
 *
 * -EINVAL: addr + len wraps.
 */
int clearpages_zero(void *addr, size_t len, const struct clearpages_policy *policy);

/*
 * The same, with the bytes around addr + touch zeroed last and left in the
 * cache, as far as the policy has a window. touch >= len: as clearpages_zero().
 */
int clearpages_zero_at(void *addr, size_t len, size_t touch,
		       const struct clearpages_policy *policy);

/*
 * threads: at most this many, the caller among them, whatever cpus there are;
 *	0: as many as the affinity mask and the cgroups' cpu quota allow.
 * progress: called by one thread at a time (any of them), after each step of up
 *	to 32 MiB or several that others did while it ran, with the bytes zeroed so
 *	far; non-zero stops the work, and it is not called again. Others go on
 *	while it runs, no lock is held, and finish the step they are in.
 */
struct clearpages_parallel_opts {
	size_t size; /* sizeof(struct clearpages_parallel_opts), set by the caller */
	unsigned int threads;
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
};

/*
 * The same, by several threads: each takes parts that lie on its own NUMA node
 * first. Threads are made for the call, block all signals but those of a fault
 * (SIGBUS, SIGSEGV, ...), and are gone when it returns; where none can be made
 * the caller does the work alone. Not a cancellation point. Ranges
 * too short to gain from a second thread (under 32 MiB a thread) get fewer.
 * opts NULL: all defaults.
 *
 * -EINVAL: as above, or opts->size is not a size we know. -ECANCELED: progress
 * said so; parts of the range are zeroed.
 */
int clearpages_zero_parallel(void *addr, size_t len, const struct clearpages_policy *policy,
			     const struct clearpages_parallel_opts *opts);

/* ---- pool ----------------------------------------------------------------------- */

/*
 * Huge pages that a process keeps, hands out zeroed and takes back dirty:
 * zeroing them here beats the kernel's own on every measured machine, and
 * zeroing them before they are asked for beats everything.
 *
 * A pool is one trust domain: its memory is that of this process alone, and
 * whoever can write to one part of the process can write to all of it. The
 * bytes of one user are never shown to the next through the memory that
 * clearpages_pool_get() returned; they are there, until they are cleared, for
 * code that looks for them elsewhere in the process. libclearpages_pool(3) has
 * the whole list.
 *
 * None of the functions is a cancellation point.
 *
 * A child of fork() does not have the memory: it gets SIGSEGV there, and
 * -ECHILD of get, put, touch and stats; destroy frees its copy of the
 * bookkeeping and leaves the parent's pool alone.
 */
struct clearpages_pool;

/* What the pages are made of. */
enum {
	CLEARPAGES_BACKING_AUTO,	/* hugetlb if enough are free; else thp, if eager */
	CLEARPAGES_BACKING_THP,		/* private memory, huge if the kernel can; eager only */
	CLEARPAGES_BACKING_HUGETLB,	/* a memfd of the hugetlb pool */
	CLEARPAGES_BACKING_PATH,	/* an unnamed file in opts->path, a hugetlbfs directory */
};

/* When a page that is not clean is cleared. */
enum {
	CLEARPAGES_EAGER,	/* in clearpages_pool_get(), by several threads */
	CLEARPAGES_LAZY,	/* at its first touch, by the pager */
};

/* How a lazy pool learns of the first touch. */
enum {
	/*
	 * userfaultfd; the thread that touches gets SIGBUS and clears its page
	 * in a handler. The fastest, but a system call that is given untouched
	 * memory fails with EFAULT: see clearpages_pool_touch(). SIGBUS must not
	 * be blocked where memory of the pool is touched. The handler that was
	 * there before the first such pool gets every SIGBUS that is not ours.
	 */
	CLEARPAGES_PAGER_SIGNAL,
	/* userfaultfd with threads that clear; system calls work too. */
	CLEARPAGES_PAGER_THREAD,
	/*
	 * Without userfaultfd, where that is forbidden: mprotect() and SIGSEGV,
	 * otherwise as SIGNAL. Costs a mapping for each border between touched
	 * and untouched pages (vm.max_map_count). Does not hold against
	 * /proc/self/mem and debuggers, which do not mind protection, nor against
	 * mprotect() of the program's own on untouched memory: old bytes can be
	 * read then, and what is written there is zeroed later.
	 */
	CLEARPAGES_PAGER_PROTECT,
};

#define CLEARPAGES_NONE UINT32_MAX	/* for a count whose 0 means the default */

#define CLEARPAGES_POOL_NODE 1u		/* flags: memory of opts->node only */

/*
 * bytes: of all pages together, rounded up to whole pages; not 0.
 * page_bytes: a power of two from 4096 up; what is handed out is a multiple of it.
 *	0: 2 MiB (the processor's huge page), or that of the hugetlbfs directory.
 * node: of no effect without CLEARPAGES_POOL_NODE.
 * cleaners: idle-priority threads that clear what was put back, on each node
 *	that has memory of the pool, up to 1024; 0: one. CLEARPAGES_NONE: get
 *	clears everything.
 * threads: the most that one get or touch clears with; 0: as many as the
 *	affinity mask and the cgroups' cpu quota allow.
 * clean_low, clean_high: the cleaners begin when there are fewer clean bytes
 *	than clean_low, and stop at clean_high. Both 0: they clear everything.
 * handlers: lazy only, up to 1024. PAGER_THREAD: threads that answer faults; 0:
 *	one. Else: threads that clear ahead of a program that goes forward; 0: none.
 * ahead: lazy only: the most pages that are cleared ahead of such a program;
 *	0: 64 MiB, at least a page. CLEARPAGES_NONE: none. The window is as long as
 *	the run of ready pages before the touched one: it doubles with each step, up
 *	to this.
 * policy: NULL: the default. Copied.
 * why: if not NULL, gets one line of up to why_size bytes: after an error what
 *	is in the way and what to type, after success "" or what is less
 *	than was asked for.
 */
struct clearpages_pool_opts {
	size_t size; /* sizeof(struct clearpages_pool_opts), set by the caller */
	uint64_t bytes;
	uint64_t page_bytes;
	uint32_t backing;	/* CLEARPAGES_BACKING_... */
	uint32_t mode;		/* CLEARPAGES_EAGER or _LAZY */
	uint32_t pager;		/* CLEARPAGES_PAGER_... */
	uint32_t flags;		/* CLEARPAGES_POOL_... */
	int32_t node;
	uint32_t cleaners;
	uint32_t threads;
	uint32_t handlers;
	uint32_t ahead;
	uint32_t reserved;	/* 0 */
	uint64_t clean_low, clean_high;
	const char *path;
	const struct clearpages_policy *policy;
	char *why;
	size_t why_size;
};

/*
 * Make a pool; all its memory is taken, and resident, when this returns.
 *
 * -EINVAL: options that are unknown or contradict each other (why says which). -ENOMEM: the
 * pages cannot be had, why says what is in the way: a pool of the kernel, a
 * limit of a cgroup. -EPERM: userfaultfd is not permitted to this process, why
 * says what to change. -EOPNOTSUPP: this kernel has no such thing. Other errors
 * of the system as they are. On failure *pool is NULL.
 */
int clearpages_pool_create(struct clearpages_pool **pool, const struct clearpages_pool_opts *opts);

/* -EBUSY: some memory was not put back, and nothing is done. NULL is fine. */
int clearpages_pool_destroy(struct clearpages_pool *pool);

#define CLEARPAGES_GET_READY 1u	/* flags: of a lazy pool, as if it were an eager one */

/*
 * timeout_ns: how long to wait for others to put memory back; 0: not at all.
 *	UINT64_MAX: for ever. Waiting is not first come, first served. It also limits
 *	the wait for a cleaner that is working on a needed page: it is told to let go,
 *	and does in some 0.1 ms on a cpu that has time for it. With 0 that wait is at
 *	most 0.1 s: the memory is free.
 */
struct clearpages_get_opts {
	size_t size; /* sizeof(struct clearpages_get_opts), set by the caller */
	uint64_t timeout_ns;
	uint32_t flags;
	uint32_t reserved;	/* 0 */
};

/*
 * At *addr, zeroed memory of `bytes`, rounded up to whole pages, in one piece,
 * aligned to page_bytes.
 * Clean pages are taken first. opts NULL: all defaults. Zero bytes: success,
 * and *addr is NULL. On failure *addr is NULL.
 *
 * -ENOMEM: there is no piece of that size, or the pool is smaller. -ETIMEDOUT:
 * nor was there within the timeout. -EINVAL: opts->size or a flag is none that we
 * know. -EIO: of a lazy pool whose pager cannot map pages any more
 * (CLEARPAGES_POOL_BROKEN, or the program has unmapped them).
 */
int clearpages_pool_get(struct clearpages_pool *pool, size_t bytes,
			const struct clearpages_get_opts *opts, void **addr);

/*
 * Give back what one get returned, whole: addr as it was, and as many bytes. No
 * thread, device or request under way may use it any more. All its pages are
 * dirty then, touched or not. Zero bytes: success, nothing done.
 *
 * -EINVAL: it is not that (not in use, half, twice, another pool's), and nothing
 * has changed.
 */
int clearpages_pool_put(struct clearpages_pool *pool, void *addr, size_t bytes);

/*
 * Make [addr, addr + len), all of it in use, ready now, as a touch of each page
 * would: what system calls, KVM or devices are to read or write in a lazy pool of
 * pager SIGNAL or PROTECT has to go through here first. Nothing to do in an eager pool.
 *
 * -EINVAL: some of it is not in use. -EIO: the pager cannot map a page (it is lost, or
 * the program has moved or unmapped it).
 */
int clearpages_pool_touch(struct clearpages_pool *pool, void *addr, size_t len);

#define CLEARPAGES_POOL_USER_ONLY 1u	/* limits: PAGER_THREAD: system calls get EFAULT too */
#define CLEARPAGES_POOL_BROKEN 2u	/* a thread of the pager died; untouched pages were lost */

/*
 * clean + dirty + used + lost = total but for pages that are changing hands just
 * now. Sums since the pool was made: bytes cleared by whom; gets; hits and
 * misses, the bytes that were clean and were not when get took them; waits, gets
 * that had to wait; faults, first touches that reached the pager.
 */
struct clearpages_pool_stats {
	size_t size; /* sizeof(struct clearpages_pool_stats), set by the caller */
	uint64_t page_bytes;
	uint64_t total_bytes;
	uint64_t clean_bytes;
	uint64_t dirty_bytes;
	uint64_t used_bytes;
	uint64_t untouched_bytes;	/* of those used, by a lazy pool: not mapped yet */
	uint64_t lost_bytes;		/* taken out of service */
	uint64_t get_cleared_bytes;
	uint64_t cleaner_cleared_bytes;
	uint64_t fault_cleared_bytes;
	uint64_t ahead_cleared_bytes;
	uint64_t touch_cleared_bytes;
	uint64_t gets, hit_bytes, miss_bytes, waits, faults;
	uint32_t backing, mode, pager;	/* what AUTO became */
	uint32_t limits;		/* CLEARPAGES_POOL_USER_ONLY, _BROKEN */
};

int clearpages_pool_stats(struct clearpages_pool *pool, struct clearpages_pool_stats *stats);

/* ---- making mappings resident ------------------------------------------------ */

/* What to do about transparent huge pages. Pages of hugetlb are huge whatever is said here. */
enum clearpages_huge {
	CLEARPAGES_HUGE_AS_IS,	/* nothing: as the mapping and the system have it */
	CLEARPAGES_HUGE_OFF,	/* no new ones: MADV_NOHUGEPAGE */
	/* MADV_HUGEPAGE, and MADV_COLLAPSE where small pages came all the same. */
	CLEARPAGES_HUGE_PREFER,
	/* The same; an error if one huge page is missing. The range has to be whole ones. */
	CLEARPAGES_HUGE_REQUIRED,
};

/*
 * threads, progress, progress_arg: as in struct clearpages_parallel_opts; done
 *	and total are bytes that are resident. A step is a page at least. With
 *	PREFER and REQUIRED it is called again at done == total while pages collapse.
 * huge: enum clearpages_huge. The advice stays with the mapping.
 * run: NULL, or threads of the caller's to be used in place of new ones: it has
 *	to call work(work_arg) in up to `threads` threads, its own perhaps among
 *	them, and to return when all these calls have returned. Each of them
 *	works until nothing is left; what remains after run() is done by the
 *	thread that called clearpages_populate(). New pages come from where the
 *	memory policies of those threads say.
 * why: NULL, or room of why_size bytes for one line: on failure what is in the
 *	way, on success with CLEARPAGES_HUGE_PREFER what came in small pages and
 *	for what reason, else "".
 * huge_bytes: filled in, also after most failures: the bytes of the range that
 *	are mapped in huge pages now, of hugetlb or of the size that
 *	/sys/kernel/mm/transparent_hugepage/hpage_pmd_size says.
 */
struct clearpages_populate_opts {
	size_t size; /* sizeof(struct clearpages_populate_opts), set by the caller */
	unsigned int threads;
	unsigned int huge;
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
	void (*run)(void *run_arg, void (*work)(void *work_arg), void *work_arg,
		    unsigned int threads);
	void *run_arg;
	char *why;
	size_t why_size;
	uint64_t huge_bytes;
};

/*
 * Make [addr, addr + len) resident and writable without a further fault, by
 * several threads: mappings of any page size, private or shared, several of
 * them side by side. What is there already stays; contents are preserved,
 * whatever other threads do with them meanwhile. New pages come from the nodes
 * that the memory policy of the mapping (or of the calling thread, if it has none)
 * says, filled by threads on those nodes; without a policy, from the node of
 * the calling thread. len 0: nothing to do.
 *
 * It looks before it begins: at the pool of huge pages and the hugetlb limits
 * of the cgroups, less what the mappings have reserved and what is resident;
 * and where that look was too early, a page that cannot be had is an error
 * here, not a SIGBUS. Pages that were made resident before an error stay.
 * Needs /proc. Not async-signal-safe, not a cancellation point. opts NULL: all defaults.
 *
 * -EINVAL: addr or len is no whole number of pages of the mappings there, or of
 *	huge pages (CLEARPAGES_HUGE_REQUIRED); opts->size or opts->huge is none
 *	that we know; memory of a device that cannot be populated.
 * -EFAULT: not mapped, in part or as a whole, or beyond the end of the file.
 * -EACCES: not writable.
 * -ENOMEM: no memory, too few huge pages, or a limit; not all huge
 *	(CLEARPAGES_HUGE_REQUIRED).
 * -EOPNOTSUPP: CLEARPAGES_HUGE_REQUIRED where there can be no huge pages.
 * -EHWPOISON: a page of the range has a memory error.
 * -ECANCELED: progress said so.
 * -EAGAIN: the kernel could not free memory, 1000 times in a row.
 * Errors of opening /proc/self/smaps as they are.
 */
int clearpages_populate(void *addr, size_t len, struct clearpages_populate_opts *opts);

/* ---- sizes ------------------------------------------------------------------- */

/*
 * A size as people write it: 4096, 64K, 2MB, 1.5GiB; K M G T with B, i or iB
 * behind it, any case, powers of 1024; fractions are rounded down to a byte.
 * -EINVAL: not a size. -ERANGE: above 2^63 - 1.
 */
int clearpages_size_parse(const char *text, uint64_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
