/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contract of core/: ways to zero memory (variants), in what order and by
 * which of them a zone is zeroed (policies), and the engine that does it.
 *
 * Nothing here allocates, sleeps, measures, prints or keeps state; every
 * function may be called from any context in which the memory it is given may
 * be written, by any number of threads at once. Sizes are bytes. Functions
 * return 0 or a negative errno value unless they say otherwise.
 */
#ifndef CPG_H
#define CPG_H

#include "cpg_port.h"

/* The page size of the processor: windows, units and batches are multiples. */
#define CPG_GRANULE ((size_t)4096)

/* ---- facts about the processor ---------------------------------------- */

enum cpg_vendor {
	CPG_VENDOR_OTHER,
	CPG_VENDOR_AMD,
	CPG_VENDOR_HYGON,
	CPG_VENDOR_INTEL,
};

/* Features that a variant may need, or that the choice of a policy looks at. */
#define CPG_F_REP_GOOD	(1u << 0) /* rep stosq is fast */
#define CPG_F_ERMS	(1u << 1) /* rep stosb is fast */
#define CPG_F_FSRM	(1u << 2) /* and short ones too */
#define CPG_F_AVX2	(1u << 3)
#define CPG_F_AVX512F	(1u << 4)
#define CPG_F_CLZERO	(1u << 5)
#define CPG_F_HYPERVISOR (1u << 6)

/*
 * What is known of the processor. Whoever calls core fills it in (from
 * /proc/cpuinfo and sysfs, or from the kernel's own tables) and says 0 for
 * what it does not know. Family and model as cpuid gives them, extended.
 * llc_bytes: the last-level cache that one cpu can fill.
 */
struct cpg_facts {
	enum cpg_vendor vendor;
	unsigned int family;
	unsigned int model;
	uint32_t features;
	uint64_t llc_bytes;
};

/* A usable last-level cache size, whatever the machine claims: 1 MiB..1 GiB. */
uint64_t cpg_facts_llc(const struct cpg_facts *facts);

/* The name of the lowest feature bit set in features, as /proc/cpuinfo has it. */
const char *cpg_feature_name(uint32_t features);

/* The feature bit for a word of the flags line of /proc/cpuinfo, 0 if none. */
uint32_t cpg_feature_bit(const char *word, size_t len);

/* ---- variants ---------------------------------------------------------- */

enum cpg_kind {
	CPG_CACHED,	/* the zeros are left in the cache */
	CPG_STREAMING,	/* they go past it, weakly ordered */
};

#define CPG_NEEDS_SIMD	(1u << 0) /* the caller owns the vector registers */

/*
 * One way to zero a run of bytes.
 *
 * zero: addr and len are multiples of align, len > 0. May leave its stores
 *	unordered if fence is set.
 * fence: makes them globally visible before any later store of this cpu;
 *	NULL where zero needs none. One call serves any number of zero calls
 *	before it. A thread may be moved to another cpu between the two: an
 *	interrupt and a locked instruction both drain the write-combining
 *	buffers (Intel SDM 12.3.1, AMD APM 2 7.4.2), and no switch goes without.
 * features: all of them must be there, else zero faults.
 */
struct cpg_variant {
	const char *name;
	const char *what;
	enum cpg_kind kind;
	unsigned int needs;
	unsigned int align;
	uint32_t features;
	void (*zero)(void *addr, size_t len);
	void (*fence)(void);
};

/* Variant i of the table, or NULL after the last. */
const struct cpg_variant *cpg_variant_at(unsigned int i);
const struct cpg_variant *cpg_variant_find(const char *name, size_t len);
bool cpg_variant_usable(const struct cpg_variant *v, const struct cpg_facts *facts);

/*
 * The cached variant that stock kernels choose for this processor: rep stosb
 * with ERMS, else rep stosq with REP_GOOD, else plain stores.
 */
const struct cpg_variant *cpg_variant_cached(const struct cpg_facts *facts);

/* The best streaming variant by processor facts alone; never NULL. */
const struct cpg_variant *cpg_variant_streaming(const struct cpg_facts *facts);

/* ---- policies ----------------------------------------------------------- */

enum cpg_order {
	CPG_FORWARD,	/* left of the window, right of it, both upwards */
	CPG_RIGHT_FIRST, /* right of the window, left of it, both upwards */
	CPG_REVERSE,	/* right of the window, left of it, both downwards */
	CPG_NARROW,	/* units from both ends toward the touch, as kernels <= 6.19 */
};

/*
 * How a zone is zeroed.
 *
 * far:	variant for all of the zone but the window.
 * near: variant for the window, and for the whole of a zone under far_min.
 * window: bytes around the touch that are zeroed last, to be hot: the touched
 *	page, and as many on both sides as fit (the odd one after it), cut off
 *	at the ends of the zone. 0: no window.
 * far_min: the smallest zone that far is used for.
 * batch: at most this many bytes between two breathing points; 0: no limit.
 * unit: at most this many bytes to one call of a variant; 0: no limit.
 * order: see above. CPG_NARROW with unit 0 takes CPG_GRANULE, and goes
 *	forward in zones over CPG_NARROW_MAX. It narrows in units, the window's
 *	included: near takes those that lie in the window as a whole. Without a
 *	touch it narrows as if the first byte had been touched.
 *
 * window, batch and unit are multiples of CPG_GRANULE, none of the sizes is
 * above CPG_POLICY_SIZE_MAX.
 */
struct cpg_policy {
	const struct cpg_variant *far;
	const struct cpg_variant *near;
	size_t window;
	size_t far_min;
	size_t batch;
	size_t unit;
	enum cpg_order order;
};

#define CPG_POLICY_SIZE_MAX ((size_t)1 << 40)

/* Room for any policy as text, its final NUL included. */
#define CPG_POLICY_TEXT 160

/*
 * The largest folio that kernels <= 6.19 narrow in: MAX_ORDER_NR_PAGES pages,
 * 4 MiB on x86. Larger ones they zero forward (clear_gigantic_page()).
 */
#define CPG_NARROW_MAX ((size_t)4 << 20)

/* Named policy i, or NULL after the last; *what (if not NULL) one line on it. */
const char *cpg_policy_name_at(unsigned int i, const char **what);

/* The policy of that name for this processor; -ENOENT if there is none. */
int cpg_policy_named(const char *name, size_t len, const struct cpg_facts *facts,
		     struct cpg_policy *policy);

enum cpg_text_fault {
	CPG_TEXT_OK,
	CPG_TEXT_EMPTY,		/* nothing between two commas, or at all */
	CPG_TEXT_NAME,		/* no policy of that name */
	CPG_TEXT_KEY,		/* no such key */
	CPG_TEXT_TWICE,		/* a key for the second time */
	CPG_TEXT_ORDER,		/* not an order */
	CPG_TEXT_VARIANT,	/* no such variant */
	CPG_TEXT_UNUSABLE,	/* a variant this processor cannot run */
	CPG_TEXT_SIZE,		/* not a size */
	CPG_TEXT_RANGE,		/* a size that does not fit this key */
	CPG_TEXT_LATE_NAME,	/* a name that is not the first word */
};

/* What is wrong with a policy text, and where: text[pos .. pos + len). */
struct cpg_text_error {
	enum cpg_text_fault fault;
	size_t pos;
	size_t len;
};

/* What the fault is, and what was expected, in one phrase each. */
const char *cpg_text_fault(enum cpg_text_fault fault);

/*
 * Text to policy, for this processor. The grammar:
 *
 *	policy = name *("," change) / change *("," change)
 *	change = "far=" variant / "near=" variant / "window=" size /
 *		 "far_min=" size / "batch=" size / "unit=" size / "order=" order
 *
 * Without a name the changes are made to `auto`. Every key once, no blanks.
 * -EINVAL for a text that is wrong on any machine, -EOPNOTSUPP for a variant
 * that this processor lacks; *error (if not NULL) then says where. The first
 * thing wrong decides. *policy is written on success only.
 */
int cpg_policy_parse(const char *text, const struct cpg_facts *facts,
		     struct cpg_policy *policy, struct cpg_text_error *error);

/*
 * Policy to text, all keys in one order; parsing it gives the same policy.
 * Returns its length, the NUL not counted. -ERANGE if size is too small, and
 * then *text is the empty string.
 */
int cpg_policy_format(const struct cpg_policy *policy, char *text, size_t size);

/*
 * A size as people write it: digits, perhaps a fraction, perhaps one of
 * K M G T with B, i or iB behind it (or B alone), any case, powers of 1024. Of
 * a fraction nine digits count, and the result is rounded down to a byte.
 * -EINVAL if it is not a size, -ERANGE above 2^63 - 1.
 */
int cpg_size_parse(const char *text, size_t len, uint64_t *bytes);

/* ---- the engine --------------------------------------------------------- */

#define CPG_NO_TOUCH SIZE_MAX

/*
 * Called between two extents, never before the first or after the last. Zeros
 * of extents before it may not be visible to other cpus yet. False cancels.
 */
struct cpg_breathe {
	bool (*fn)(void *arg);
	void *arg;
};

/* What the engine did: calls of variants and bytes by either, and breaths. */
struct cpg_tally {
	uint64_t far_calls;
	uint64_t far_bytes;
	uint64_t near_calls;
	uint64_t near_bytes;
	uint64_t breaths;
};

/*
 * Zero [base, base + size), any address and any size, by the policy; touch is
 * an offset into it (one that is not counts as CPG_NO_TOUCH). On return the
 * zeros are visible to all cpus before any later store of this one. Bytes
 * outside are neither read nor written. tally and breathe may be NULL; tally
 * is added to. Edges that a variant's alignment leaves over are zeroed with plain
 * stores, counted as bytes and not as calls.
 *
 * -ECANCELED if breathe said so: some of the zone is zeroed, all of it fenced.
 */
int cpg_clear(void *base, size_t size, size_t touch, const struct cpg_policy *policy,
	      const struct cpg_breathe *breathe, struct cpg_tally *tally);

#endif
