/* SPDX-License-Identifier: GPL-2.0-only */
/* Who else ran while a sample was taken, and what a sample is thrown away for. */
#ifndef CLEARPAGES_NOISE_H
#define CLEARPAGES_NOISE_H

#include <stdint.h>

enum noise {
	NOISE_STEAL,	/* the hypervisor took a cpu away */
	NOISE_FOREIGN,	/* other processes kept cpus busy */
	NOISE_DELAY,	/* a thread of ours waited for its cpu */
	NOISE_KINDS,
};

extern const char *const noise_names[NOISE_KINDS];
extern const char *const noise_keys[NOISE_KINDS]; /* for JSON */

struct noise_mark {
	uint64_t at_ns;
	uint64_t steal_ns;	/* on all cpus */
	uint64_t busy_ns;	/* on all cpus, ours included */
	uint64_t ours_ns;	/* of this process */
};

void noise_mark(struct noise_mark *m);

/*
 * The bits (1 << NOISE_...) that speak against what ran between from and to,
 * timed_ns of it timed, delay_ns of that spent waiting for a cpu. /proc/stat
 * counts in ticks of 10 ms, so that steal and foreign load are looked for in
 * the whole span; they count from two ticks and 5 % of it on. Waiting is known
 * to the ns and counts from 2 % of the timed part on.
 */
unsigned int noise_between(const struct noise_mark *from, const struct noise_mark *to,
			   uint64_t timed_ns, uint64_t delay_ns);

#endif
