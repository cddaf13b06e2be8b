/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The only file of core/ that knows whether it is compiled into a program or
 * into a kernel module. Everything else in core/ includes this and nothing
 * from outside (tests/unit/arrows.sh holds it to that).
 *
 * What core/ may use from here: fixed-width integers, size_t, bool, the errno
 * values, strlen/strncmp/memcmp/memcpy/memset on small records, and the CPG_*
 * words below.
 */
#ifndef CPG_PORT_H
#define CPG_PORT_H

#ifdef __KERNEL__

#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/types.h>

#define INT64_MAX S64_MAX	/* the kernel has this word only */

#else

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * User space has two things a module does not: vector registers that nobody
 * has to save first, and a libc to compare with.
 */
#define CPG_HAVE_VECTOR 1
#define CPG_HAVE_LIBC 1

#endif

#define CPG_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
