/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernels in which every caller of the replaced function was read, for what
 * target.c says of pages that are zero already. A program can include it:
 * tests/unit/test_kmod.c does.
 */
#ifndef CLEARPAGES_CALLERS_H
#define CLEARPAGES_CALLERS_H

#ifdef __KERNEL__
#include <linux/kernel.h>
#else
#include <stdio.h>
#endif

#include "../core/cpg_port.h"

/* Debian's sources; tools/status_advice.c has the same list. */
static const struct {
	unsigned int version, series, sublevel;
} clearpages_read[] = {
	{ 5, 10, 262 }, { 6, 1, 192 }, { 6, 12, 117 }, { 6, 18, 15 }, { 6, 19, 14 },
	{ 7, 1, 13 }, { 7, 2, 12 }, { 7, 3, 4 },
};

/*
 * version: as uname -v has it, "#1 SMP PREEMPT_DYNAMIC Debian 6.12.117-1 (2026-11-12)".
 * LINUX_VERSION_CODE does not do: it knows no sublevel above 255, and no vendor.
 *
 * An older update of a series counts, for a stable series takes callers out
 * as seldom as in, and the newer was read. A newer one does not: a page left
 * alone that was not zero shows a program what another wrote, and that is worse
 * than zeroing it twice until somebody has read the new one. So is the kernel of a vendor
 * who may have taken in code of a later series, whatever number it goes by.
 */
static inline bool clearpages_callers_read(const char *version)
{
	unsigned int v, series, sublevel, i;
	const char *source = strstr(version, " Debian ");

	/* "6.19~rc4-1" is none of them. */
	if (!source || sscanf(source, " Debian %3u.%3u.%9u-", &v, &series, &sublevel) != 3)
		return false;
	for (i = 0; i < CPG_ARRAY_LEN(clearpages_read); i++)
		if (clearpages_read[i].version == v && clearpages_read[i].series == series)
			return sublevel <= clearpages_read[i].sublevel;
	return false;
}

#endif
