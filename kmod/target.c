// SPDX-License-Identifier: GPL-2.0-only
/*
 * The function of the kernel that is replaced, and what is put in its place.
 *
 * Who calls it, in the kernels that were read (callers.h):
 *
 *	hugetlb_no_page()		fault of hugetlb		all kernels
 *	hugetlbfs_fallocate()		fallocate of hugetlb		all kernels
 *	memfd_alloc_folio()		pinned hugetlb memfd		>= 6.12
 *	__do_huge_pmd_anonymous_page(),
 *	vma_alloc_anon_folio_pmd()	fault of THP			all kernels
 *	alloc_anon_folio()		fault of a smaller THP (mTHP)	>= 6.12
 *
 * Pages of hugetlb are recycled: they hold what the process before wrote, and
 * are always zeroed. The others come straight from vma_alloc_folio(), nothing is
 * written to them in between (only charged to a cgroup), and the allocator, in
 * prep_new_page(), zeroes what it hands out if init_on_alloc is on; with
 * init_on_free every free page is zero, which the allocator itself relies on for
 * __GFP_ZERO. So up to 6.12 such a page is zeroed twice, and in 5.10, 6.1 and 6.12,
 * which were read, the second time is left out here. From 6.13 on the callers do not
 * call at all with init_on_alloc (user_alloc_needs_zeroing()); with init_on_free they
 * do. Where page poisoning is on, neither want_init_on_alloc() nor
 * want_init_on_free() says yes. In a kernel whose callers were not read nothing is
 * left out unless skip_zeroed is set by hand.
 *
 * What the kernel's own function does besides storing zeros, on x86-64: cache
 * flushes and tags, none; KMSAN, refused in compat.h; pages that are marked as
 * hardware-poisoned never leave the allocator, and an error that is first met while
 * zeroing ends like one met in clear_page(). A process that is killed meanwhile has
 * to wait: a gigantic folio cannot be half zeroed, but the thread breathes.
 */
#include "callers.h"
#include "clearpages.h"

#include <linux/hugetlb.h>
#include <linux/ktime.h>
#include <linux/livepatch.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/utsname.h>
#include <asm/msr.h>
#include <asm/tsc.h>

static bool callers_read __ro_after_init;

static bool skip_zeroed, skip_given;

static int set_skip(const char *val, const struct kernel_param *kp)
{
	int err = param_set_bool(val, kp);

	if (!err)
		skip_given = true;
	return err;
}

static const struct kernel_param_ops skip_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = set_skip,
	.get = param_get_bool,
};
module_param_cb(skip_zeroed, &skip_ops, &skip_zeroed, 0644);
MODULE_PARM_DESC(skip_zeroed, "leave alone new pages that the allocator has zeroed; default Y in kernels that were read for it, else N");

static void __init decide_skip(void)
{
	callers_read = clearpages_callers_read(init_utsname()->version);
	if (!skip_given)
		skip_zeroed = callers_read;
}

static bool allocator_zeroes(void)
{
	return want_init_on_alloc(GFP_TRANSHUGE) || want_init_on_free();
}

static bool is_zero_already(bool hugetlb)
{
	return !hugetlb && READ_ONCE(skip_zeroed) && allocator_zeroes();
}

/* That it begins with "yes" is for `clearpages status`. */
const char *clearpages_skip_state(void)
{
	if (!IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE))
		return "no, there are no transparent huge pages";
	if (!allocator_zeroes())
		return "no, the allocator does not zero";
	if (READ_ONCE(skip_zeroed))
		return callers_read ? "yes" : "yes, by skip_zeroed; this kernel was not read for it";
	return callers_read ? "no, skip_zeroed is off" :
		"no, this kernel was not read for it, see skip_zeroed in clearpages_module(7)";
}

/*
 * ktime_get_ns() twice is 120 instructions, of 4500 that a fault of 2 MiB takes;
 * rdtsc is one. 0: the kernel does not trust the time-stamp counter. Asked once,
 * for check_tsc_unstable() is a call, and those are instructions again: a
 * counter that goes wrong later makes wrong times in the statistics, which the
 * state file then says, and nothing else.
 */
static unsigned int khz __ro_after_init;

/* ns a tick, times 2^TICK_SHIFT: a division at each fault would be a call, on 7.3. */
#define TICK_SHIFT 24
static u32 tick __ro_after_init;

static u64 now(void)
{
	return khz ? rdtsc() : ktime_get_ns();
}

static u64 ns_since(u64 start)
{
	s64 d = now() - start;

	if (d < 0)	/* another processor's counter */
		return 0;
	return khz ? mul_u64_u32_shr(d, tick, TICK_SHIFT) : d;
}

const char *clearpages_clock(void)
{
	if (!khz)
		return "ktime";
	return check_tsc_unstable() ? "tsc, found unstable since: times are not to be trusted" : "tsc";
}

/*
 * What others do in a breath is no time of the page's: on a busy machine with
 * preempt=none it would be most of it. So the start is put off by as much.
 */
static bool breathe(void *arg)
{
	struct clearpages_event *e = arg;
	u64 from = now();

	cond_resched();
	e->ns += now() - from;
	return true;
}

static void zero(struct clearpages_event *e)
{
	const struct cpg_breathe b = { breathe, e };
	struct clearpages_live live;

	/* As the kernel's own does before the first page of each folio. */
	cond_resched();
	e->ns = now();	/* the start, until it is done */
	/* The patch is in place only between policy start and stop: there always is one. */
	if (WARN_ON_ONCE(!clearpages_policy_get(&live, cpg_preemptible()))) {
		memset(e->base, 0, e->size);
		return;
	}
	e->skipped = is_zero_already(e->hugetlb);
	if (!e->skipped)
		cpg_clear(e->base, e->size, e->touch, &live.policy, &b, &e->tally);
	e->ns = ns_since(e->ns);
	clearpages_stats_add(e, &live);
}

/*
 * addr_hint is an address in the folio's mapping, exact for a fault; the folio
 * is aligned to its size there. fallocate gives the start, memfd gives 0.
 */
#ifdef HAVE_FOLIO_ZERO_USER
#define TARGET "folio_zero_user"

static void replacement(struct folio *folio, unsigned long addr_hint)
{
	struct clearpages_event e = {
		.base = folio_address(folio),
		.size = folio_size(folio),
		.touch = addr_hint & (folio_size(folio) - 1),
		.node = folio_nid(folio),
		.hugetlb = folio_test_hugetlb(folio),
	};

	zero(&e);
}

#ifdef CLEARPAGES_PLANT_signature
#define SIGNATURE void (*)(struct folio *, unsigned int)
#else
#define SIGNATURE void (*)(struct folio *, unsigned long)
#endif
static_assert(__builtin_types_compatible_p(typeof(&folio_zero_user), SIGNATURE),
	      "clearpages: folio_zero_user() of this kernel has a signature that is not known");
static_assert(__builtin_types_compatible_p(typeof(&folio_zero_user), typeof(&replacement)));
#else
#define TARGET "clear_huge_page"

static void replacement(struct page *page, unsigned long addr_hint, unsigned int pages)
{
	struct clearpages_event e = {
		.base = page_address(page),
		.size = (size_t)pages << PAGE_SHIFT,
		.touch = addr_hint & (((size_t)pages << PAGE_SHIFT) - 1),
		.node = page_to_nid(page),
		.hugetlb = PageHuge(page),
	};

	zero(&e);
}

#ifdef CLEARPAGES_PLANT_signature
#define SIGNATURE void (*)(struct page *, unsigned long, unsigned long)
#else
#define SIGNATURE void (*)(struct page *, unsigned long, unsigned int)
#endif
static_assert(__builtin_types_compatible_p(typeof(&clear_huge_page), SIGNATURE),
	      "clearpages: clear_huge_page() of this kernel has a signature that is not known");
static_assert(__builtin_types_compatible_p(typeof(&clear_huge_page), typeof(&replacement)));
#endif

#ifdef CLEARPAGES_PLANT_target
#undef TARGET
#define TARGET "clearpages_no_such_function"
#endif

const char clearpages_target[] = TARGET;

static struct klp_func funcs[] = {
	{ .old_name = TARGET, .new_func = replacement },
	{ }
};

static struct klp_object objs[] = {
	{ .funcs = funcs },	/* no name: vmlinux */
	{ }
};

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objs,
};

/* Why livepatch said no, by the errors of klp_enable_patch() and below it (read in 6.1 to 7.3). */
static const char *__init refusal(int err)
{
	switch (err) {
	case -EBUSY:
		return "ftrace is off, or another livepatch is in the middle of a transition: set the sysctl kernel.ftrace_enabled to 1, or try again";
	case -ENODEV:
		return "livepatching is not available in this boot: ftrace or livepatch failed to start";
	case -EINVAL:
		return "the function is not in this kernel, is there twice, cannot be traced, or is taken by an incompatible livepatch: see the line of livepatch above";
	case -ENOENT:
		return "kallsyms does not know the function's size: a kernel built without what livepatch needs";
	case -ENOMEM:
		return "out of memory";
	default:
		return "see the lines of livepatch above";
	}
}

int __init clearpages_patch(void)
{
	int err;

	decide_skip();
	khz = check_tsc_unstable() ? 0 : tsc_khz;
	if (khz)
		tick = (1000000ull << TICK_SHIFT) / khz;
	err = klp_enable_patch(&patch);
	if (err)
		pr_err("cannot replace %s() (error %d): %s\n", TARGET, err, refusal(err));
	return err;
}
