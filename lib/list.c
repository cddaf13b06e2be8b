/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "list.h"

/* A number, LIST_MOST if it is larger; false if there is none. */
static bool number(const char **text, unsigned int *n)
{
	const char *s = *text;

	for (*n = 0; *s >= '0' && *s <= '9'; s++) {
		*n = *n * 10 + (unsigned int)(*s - '0');
		if (*n > LIST_MOST)
			*n = LIST_MOST;
	}
	if (s == *text)
		return false;
	*text = s;
	return true;
}

bool list_has(const struct list *l, unsigned int n)
{
	return n < LIST_MOST && (l->bits[n / LIST_WORD] >> n % LIST_WORD & 1);
}

void list_add(struct list *l, const char *text)
{
	unsigned int first, last;

	while (number(&text, &first)) {
		last = first;
		if (*text == '-') {
			text++;
			if (!number(&text, &last))
				return;
		}
		for (; first <= last && first < LIST_MOST; first++) {
			if (list_has(l, first))
				continue;
			l->bits[first / LIST_WORD] |= 1ul << first % LIST_WORD;
			l->count++;
		}
		if (*text != ',')
			return;
		text++;
	}
}
