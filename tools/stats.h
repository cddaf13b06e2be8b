/* SPDX-License-Identifier: GPL-2.0-only */
/* What is said of a handful of samples. */
#ifndef CLEARPAGES_STATS_H
#define CLEARPAGES_STATS_H

#include <stdbool.h>

struct stats {
	unsigned int n;
	double median, mean, min, max;
	double stddev_percent;	/* of the mean; 0 for one sample */
};

/* n >= 1, finite values. */
void stats_of(const double *values, unsigned int n, struct stats *s);

/*
 * The median of a[i] / b[i], samples of the same round, and the interval that
 * covers the true median ratio with at least 95 %: order statistics by the
 * sign test, which asks nothing of the distribution. It needs six pairs;
 * interval is false below that.
 */
struct ratio {
	double median, low, high;
	bool interval;
};

void ratio_of(const double *a, const double *b, unsigned int n, struct ratio *r);

/* Is a difference shown: is there an interval, and is 1 outside? */
bool ratio_differs(const struct ratio *r);

#endif
