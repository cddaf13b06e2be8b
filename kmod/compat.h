/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between kernels, as HAVE_ words; nothing else in kmod/ tests a
 * version or a configuration. Kbuild probes the headers for HAVE_FOLIO_ZERO_USER,
 * HAVE_CLEAR_HUGE_PAGE and HAVE_PREEMPT_MODEL. What the module cannot do right is
 * refused here, with the reason.
 */
#ifndef CLEARPAGES_COMPAT_H
#define CLEARPAGES_COMPAT_H

#include <linux/kconfig.h>
#include <linux/version.h>

#if !IS_ENABLED(CONFIG_LIVEPATCH)
#error "clearpages: this kernel has no CONFIG_LIVEPATCH: it cannot replace a function"
#endif

#if !IS_ENABLED(CONFIG_X86_64)
#error "clearpages: there are variants for x86-64 only"
#endif

/*
 * A folio has to be one run of the direct map. It is not where pages can lie
 * outside of it; no 64-bit kernel has such pages.
 */
#if IS_ENABLED(CONFIG_HIGHMEM)
#error "clearpages: CONFIG_HIGHMEM: huge pages have no address in the kernel"
#endif

/*
 * clear_page() tells KMSAN that the page is defined now (arch/x86 page_64.h);
 * variants are assembly that it does not see, and every user page would be
 * reported. With tags KASAN colours pages, and what runs here is not tried.
 * Generic KASAN is fine: it does not instrument assembly, and the kernel's own
 * clear_page() tells it nothing either.
 */
#if IS_ENABLED(CONFIG_KMSAN)
#error "clearpages: CONFIG_KMSAN: zeroing behind its back makes it report every page"
#endif
#if IS_ENABLED(CONFIG_KASAN_SW_TAGS) || IS_ENABLED(CONFIG_KASAN_HW_TAGS)
#error "clearpages: KASAN with tags is not supported, generic KASAN is"
#endif

/* Neither, or both of which one may be a wrapper: which to replace is not known. */
#if !defined(HAVE_FOLIO_ZERO_USER) == !defined(HAVE_CLEAR_HUGE_PAGE)
#error "clearpages: expected either folio_zero_user() or clear_huge_page() in <linux/mm.h>"
#endif

/* cpuid_count() came with <asm/processor.h> up to 7.1. */
#if __has_include(<asm/cpuid/api.h>)
#include <asm/cpuid/api.h>
#endif

#include <linux/preempt.h>
#include <linux/sched.h>

/*
 * Can a thread that zeroes be preempted? Asked at each call: with
 * CONFIG_PREEMPT_DYNAMIC the answer changes at run time. Kernels from 5.12 to
 * 5.17 have that and no way to ask: no is the answer that is never wrong, it
 * costs some cond_resched().
 */
static inline bool cpg_preemptible(void)
{
#ifdef HAVE_PREEMPT_MODEL
	return preempt_model_preemptible();
#elif IS_ENABLED(CONFIG_PREEMPT_DYNAMIC)
	return false;
#else
	return IS_ENABLED(CONFIG_PREEMPTION);
#endif
}

#endif
