/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sizes as people write them. No floating point: a kernel has none. */
#include "cpg.h"

#define MOST_FRACTION 1000000000u	/* nine digits: 2^64 / 2^30 still holds them */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The power of two that a suffix stands for, or -1. */
static int suffix_shift(const char *s, size_t len)
{
	static const char letters[] = "kmgt";
	int shift = 0;
	size_t i = 0;

	if (i < len) {
		unsigned int k;

		for (k = 0; letters[k]; k++) {
			if (lower(s[0]) == letters[k]) {
				shift = 10 * (int)(k + 1);
				i++;
				break;
			}
		}
	}
	if (shift && i < len && lower(s[i]) == 'i')
		i++;
	if (i < len && lower(s[i]) == 'b')
		i++;
	return i == len ? shift : -1;
}

int cpg_size_parse(const char *text, size_t len, uint64_t *bytes)
{
	uint64_t whole = 0, part = 0, scale = 1;
	size_t i = 0, digits = 0;
	bool over = false;
	int shift;

	for (; i < len && digit(text[i]); i++, digits++) {
		if (whole > INT64_MAX / 10)
			over = true;
		else
			whole = whole * 10 + (uint64_t)(text[i] - '0');
	}
	if (!digits)
		return -EINVAL;
	if (i < len && text[i] == '.') {
		for (i++, digits = 0; i < len && digit(text[i]); i++, digits++) {
			if (scale < MOST_FRACTION) {
				part = part * 10 + (uint64_t)(text[i] - '0');
				scale *= 10;
			}
		}
		if (!digits)
			return -EINVAL;
	}
	shift = suffix_shift(text + i, len - i);
	if (shift < 0)
		return -EINVAL;
	if (over || whole > (uint64_t)INT64_MAX >> shift)
		return -ERANGE;
	whole <<= shift;
	/* part < 10^9, so only the T suffix could overflow: shift in two steps. */
	if (shift > 30)
		part = ((part << 30) / scale << (shift - 30)) +
		       ((((part << 30) % scale) << (shift - 30)) / scale);
	else
		part = (part << shift) / scale;
	/* whole is a multiple of 2^shift and part is below that: no carry past INT64_MAX. */
	*bytes = whole + part;
	return 0;
}
