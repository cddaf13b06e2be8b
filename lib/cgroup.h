/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The cgroups that this process is in, for everything that looks for their limits. */
#ifndef CLEARPAGES_LIB_CGROUP_H
#define CLEARPAGES_LIB_CGROUP_H

/*
 * Call each() with every directory (a path below root, without root) that may
 * hold limits of `controller` for this process: its own cgroup first, then up
 * the tree as far as it is mounted here; the version 1 hierarchy that has the
 * controller, then version 2. A hierarchy that is not mounted, or of which
 * only a part that this process is not in, is left out. Directories need not
 * exist, nor need they have files of the controller.
 *
 * Stops at the first non-zero result and returns that; else 0.
 */
int cgroup_walk(const char *root, const char *controller,
		int (*each)(void *arg, const char *dir, int version), void *arg);

#endif
