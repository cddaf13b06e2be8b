/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Structs that begin with their size, in and out. */
#include <string.h>

#include "../include/clearpages.h"
#include "api.h"

API const char *clearpages_version(void)
{
	return CLEARPAGES_VERSION;
}

static size_t size_of(const void *s)
{
	size_t size;

	memcpy(&size, s, sizeof(size));
	return size;
}

bool api_struct_in(void *out, size_t ours, size_t first, const void *in)
{
	size_t size = size_of(in), i;

	if (!api_size_known(size, first))
		return false;
	for (i = ours; i < size; i++)
		if (((const unsigned char *)in)[i])
			return false;
	memset(out, 0, ours);
	memcpy(out, in, size < ours ? size : ours);
	return true;
}

bool api_struct_out(void *out, size_t ours, size_t first, const void *in)
{
	size_t size = size_of(out), known = size < ours ? size : ours;

	if (!api_size_known(size, first))
		return false;
	memcpy((char *)out + sizeof(size), (const char *)in + sizeof(size), known - sizeof(size));
	memset((char *)out + known, 0, size - known);
	return true;
}
