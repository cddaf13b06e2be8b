/* SPDX-License-Identifier: GPL-2.0-only */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A sorted copy; the handful of samples never fails to fit, so no error path. */
static double *sorted(const double *values, unsigned int n)
{
	double *copy = malloc(n * sizeof(*copy));

	if (!copy)
		abort();
	memcpy(copy, values, n * sizeof(*copy));
	qsort(copy, n, sizeof(*copy), compare);
	return copy;
}

static double middle(const double *s, unsigned int n)
{
	return n % 2 ? s[n / 2] : (s[n / 2 - 1] + s[n / 2]) / 2;
}

void stats_of(const double *values, unsigned int n, struct stats *s)
{
	double *v = sorted(values, n), sum = 0, square = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		sum += v[i];
	*s = (struct stats){
		.n = n, .median = middle(v, n), .mean = sum / n, .min = v[0], .max = v[n - 1],
	};
	for (i = 0; i < n; i++)
		square += (v[i] - s->mean) * (v[i] - s->mean);
	if (n > 1 && s->mean > 0)
		s->stddev_percent = 100 * sqrt(square / (n - 1)) / s->mean;
	free(v);
}

/*
 * How many samples may be cut off at either end so that what is between them
 * still covers the median with 95 %: the largest k with
 * 2 * P(Binomial(n, 1/2) < k) <= 0.05. 0 if not even the extremes do.
 *
 * Each term from its logarithm: the first one, 0.5^n, is 0 in a double from
 * n = 1075 on, and so is all that is multiplied from it. With a million samples,
 * the most there can be, the sum is right to 1e-9, and steps by 1e-4 where it ends.
 */
static unsigned int cut(unsigned int n)
{
	const double all = lgamma(n + 1.0) - n * log(2);
	double below = 0;
	unsigned int k;

	for (k = 0; k < n / 2; k++) {
		below += exp(all - lgamma(k + 1.0) - lgamma(n - k + 1.0));
		if (2 * below > 0.05)
			break;
	}
	return k;
}

void ratio_of(const double *a, const double *b, unsigned int n, struct ratio *r)
{
	double *quotient = calloc(n, sizeof(*quotient)), *s;
	unsigned int i, k = cut(n);

	if (!quotient)
		abort();
	for (i = 0; i < n; i++)
		quotient[i] = a[i] / b[i];
	s = sorted(quotient, n);
	*r = (struct ratio){ .median = middle(s, n), .interval = k > 0 };
	r->low = s[k ? k - 1 : 0];
	r->high = s[k ? n - k : n - 1];
	free(s);
	free(quotient);
}

bool ratio_differs(const struct ratio *r)
{
	return r->interval && (r->low > 1 || r->high < 1);
}
