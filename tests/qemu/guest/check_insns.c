// SPDX-License-Identifier: GPL-2.0-only
/* Faults between marks for the plugin in insns/, which counts the kernel's instructions. */
#include "module.h"

#define MARK(n) __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0xc1, 0xea, 0x4a, " n ::: "memory")
#define FAULTS 41

/* The pages of one pool again and again: each touch but the first finds warm tables. */
static void marked_faults(void)
{
	volatile unsigned char *p;
	unsigned int i;

	/* By now 7.3 still tests its own cryptography in the background, on the only processor. */
	sleep_ms(5000);
	need_pool(&hugetlb_2m, 4);
	for (i = 0; i < FAULTS; i++) {
		p = map_pages(&hugetlb_2m, 4);
		if (!p)
			fail("no page to fault");
		p[0] = TOUCHED;
		MARK("0x01");
		p[2 * MIB] = TOUCHED;
		MARK("0x02");
		unmap_pages(&hugetlb_2m, (unsigned char *)p, 4);
	}
}

void check_insns_kernel(void)
{
	unload();
	marked_faults();
}

void check_insns_module(void)
{
	load("policy=extent budget_us=0");
	marked_faults();
	unload();
}
