/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is there so much memory to be had at all? Who fills a file of tmpfs beyond that
 * gets no error: the OOM killer comes, and it need not choose the one who filled.
 */
#ifndef CLEARPAGES_MEMORY_H
#define CLEARPAGES_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A field of /proc/meminfo below root ("" for this machine), such as "MemTotal", in
 * bytes. False, and 0, if it is not there.
 */
bool memory_field(const char *root, const char *field, uint64_t *bytes);

/*
 * Can so many bytes more of pages that may be swapped out be had, of this machine
 * and of the memory cgroups of this process? TOOL_OK, or TOOL_FAILED with the reason
 * in why, not printed: what was needed and what there is. Only what is certainly too
 * much fails: of a cgroup's limit what is in use may be given up for the new pages.
 */
int memory_check(const char *root, uint64_t bytes, char *why, size_t why_size);

#endif
