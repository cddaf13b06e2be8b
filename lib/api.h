/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every function of the public header needs. */
#ifndef CLEARPAGES_LIB_API_H
#define CLEARPAGES_LIB_API_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* lib is compiled with hidden visibility; the map says the same once more. */
#define API __attribute__((visibility("default")))

/*
 * For functions that are no cancellation points but read files, join threads or
 * have memory of their own: cancelled in there, a thread would leave that behind.
 */
static inline int api_cancel_off(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void api_cancel_as(int before)
{
	pthread_setcancelstate(before, NULL);
}

/*
 * Structs begin with their size as the caller's header has it, and are read
 * and written as libbpf and the kernel's copy_struct_from_user() do:
 *
 * - at least as long as in the release that introduced them (`first`);
 * - shorter than ours: what the caller does not know reads as 0 and is not
 *   written;
 * - longer than ours: a caller newer than this library. Fine for a struct that
 *   is filled in here (the tail becomes 0); in one that is read, the tail must
 *   be 0, because it may ask for something that this library cannot do.
 *
 * API_SIZE_MAX catches a size that was never set, before it is followed.
 */
#define API_SIZE_MAX 4096

static inline bool api_size_known(size_t size, size_t first)
{
	return size >= first && size <= API_SIZE_MAX;
}

/* Copy *in, a struct of the caller, to *out of `ours` bytes; false: not one we know. */
bool api_struct_in(void *out, size_t ours, size_t first, const void *in);

/* Copy ours to the caller's, size field and all that lies beyond it untouched. */
bool api_struct_out(void *out, size_t ours, size_t first, const void *in);

#endif
