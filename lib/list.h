/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sets of cpus or nodes as the kernel writes them: "0-3,8,10-11". */
#ifndef CLEARPAGES_LIB_LIST_H
#define CLEARPAGES_LIB_LIST_H

#include <limits.h>
#include <stdbool.h>

#define LIST_MOST 8192	/* the most cpus that x86 kernels can be built for */
#define LIST_WORD (sizeof(unsigned long) * CHAR_BIT)

/* Begins as all zeros, the empty set. */
struct list {
	unsigned int count;
	unsigned long bits[LIST_MOST / LIST_WORD];
};

/* Add what text names, as far as it is a list; numbers from LIST_MOST on are left out. */
void list_add(struct list *l, const char *text);

bool list_has(const struct list *l, unsigned int number);

#endif
