/* SPDX-License-Identifier: GPL-2.0-only */
/* The host sheet: what a number has to travel with. */
#ifndef CLEARPAGES_HOST_H
#define CLEARPAGES_HOST_H

#include <jansson.h>

#include "../lib/machine.h"

struct host {
	struct machine machine;
	char kernel[96];	/* release */
	char preemption[64];	/* full, lazy, voluntary, none, or what can be told of it */
	char thp[32];		/* always, madvise, never; "" if not built in */
	char init_on_alloc[48];	/* on, off, unknown, and how that is known */
	char governor[32];
	char hypervisor[32];	/* "" on bare metal as far as can be told */
	char policy[160];	/* the default policy in full */
	unsigned long long memory_bytes;
};

/* root: "" for this machine. Never fails; what cannot be read is "" or 0. */
void host_read(const char *root, struct host *h);

/* A few lines on stdout. */
void host_print(const struct host *h);

/* The same as an object, units in the keys; a new reference. */
json_t *host_json(const struct host *h);

#endif
