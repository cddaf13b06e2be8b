/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libclearpages: zero memory at the speed of the memory.
 *
 * Every function returns 0 or a negative errno value unless it says otherwise,
 * may be called by any number of threads at once, and neither prints, exits
 * nor aborts. Handles are opaque. A struct that the caller fills in begins
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
 * cache and smaller, memset() is the right call, twice as fast and more.
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
 *	to 32 MiB, with the bytes zeroed so far; non-zero stops the work, and it
 *	is not called again. Other threads finish the step they are in.
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

/* ---- making mappings resident ------------------------------------------------ */

/* What to do about transparent huge pages. Pages of hugetlb are huge whatever is said here. */
enum clearpages_huge {
	CLEARPAGES_HUGE_AS_IS,	/* nothing: as the mapping and the system have it */
	CLEARPAGES_HUGE_OFF,	/* none: MADV_NOHUGEPAGE */
	/* MADV_HUGEPAGE, and MADV_COLLAPSE where small pages came all the same. */
	CLEARPAGES_HUGE_PREFER,
	/* The same; an error if one huge page is missing. The range has to be whole ones. */
	CLEARPAGES_HUGE_REQUIRED,
};

/*
 * threads, progress, progress_arg: as in struct clearpages_parallel_opts; done
 *	and total are bytes that are resident.
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
 * -EINVAL: addr or len is no whole number of pages of the mappings there;
 *	opts->size or opts->huge is none that we know; memory of a device that
 *	cannot be populated.
 * -EFAULT: not mapped, in part or as a whole, or beyond the end of the file.
 * -EACCES: not writable.
 * -ENOMEM: no memory, too few huge pages, or a limit; not all huge
 *	(CLEARPAGES_HUGE_REQUIRED).
 * -EOPNOTSUPP: CLEARPAGES_HUGE_REQUIRED where there can be no huge pages.
 * -EHWPOISON: a page of the range has a memory error.
 * -ECANCELED: progress said so.
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
