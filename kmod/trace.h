/* SPDX-License-Identifier: GPL-2.0-only */
/* The tracepoint clearpages:clear_folio: one event for each folio that the kernel handed over. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM clearpages

#if !defined(CLEARPAGES_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define CLEARPAGES_TRACE_H

#include <linux/io.h>
#include <linux/mm.h>
#include <linux/tracepoint.h>

#include "clearpages.h"

TRACE_EVENT(clear_folio,
	TP_PROTO(const struct clearpages_event *e, const struct clearpages_live *live),
	TP_ARGS(e, live),
	TP_STRUCT__entry(
		__field(unsigned long, pfn)
		__field(unsigned long, size)
		__field(unsigned long, touch)
		__field(int, node)
		__field(bool, hugetlb)
		__field(bool, skipped)
		__array(char, far, 8)
		__array(char, near, 8)
		__field(u64, far_calls)
		__field(u64, near_calls)
		__field(u64, breaths)
		__field(u64, ns)
	),
	TP_fast_assign(
		__entry->pfn = virt_to_phys(e->base) >> PAGE_SHIFT;
		__entry->size = e->size;
		__entry->touch = e->touch;
		__entry->node = e->node;
		__entry->hugetlb = e->hugetlb;
		__entry->skipped = e->skipped;
		strscpy(__entry->far, live->policy.far->name, 8);
		strscpy(__entry->near, live->policy.near->name, 8);
		__entry->far_calls = e->tally.far_calls;
		__entry->near_calls = e->tally.near_calls;
		__entry->breaths = e->tally.breaths;
		__entry->ns = e->ns;
	),
	TP_printk("pfn=%#lx size=%lu touch=%lu node=%d hugetlb=%d skipped=%d far=%s:%llu near=%s:%llu breaths=%llu ns=%llu",
		  __entry->pfn, __entry->size, __entry->touch, __entry->node, __entry->hugetlb,
		  __entry->skipped, __entry->far, __entry->far_calls, __entry->near,
		  __entry->near_calls, __entry->breaths, __entry->ns)
);

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
