// SPDX-License-Identifier: GPL-2.0-only
/* Medians, spreads and intervals against values worked out by hand; what counts as noise. */
#include <math.h>
#include <stdint.h>

#include "../../tools/noise.h"
#include "../../tools/stats.h"
#include "test_tool.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

static void test_stats(void)
{
	static const double odd[] = { 5, 1, 9, 3, 2 }, even[] = { 8, 2, 4, 6 };
	static const double classic[] = { 2, 4, 4, 4, 5, 5, 7, 9 }, one[] = { 7 };
	static const double same[] = { 3, 3, 3 };
	struct stats s;

	stats_of(odd, LENGTH(odd), &s);
	tap_ok(s.n == 5 && near(s.median, 3) && near(s.mean, 4) && near(s.min, 1) && near(s.max, 9),
	       "five values, not in order: median 3, mean 4, 1 to 9");
	tap_ok(near(odd[0], 5) && near(odd[4], 2), "the values stay in their order");
	/* Squares of -3 -2 -1 1 5: 40; 40 / 4 = 10. */
	tap_ok(near(s.stddev_percent, 100 * sqrt(10) / 4), "of a sample, in per cent of the mean");

	stats_of(even, LENGTH(even), &s);
	tap_ok(near(s.median, 5), "four values: the median lies between two");

	/* The population's deviation is 2, the sample's sqrt(32 / 7). */
	stats_of(classic, LENGTH(classic), &s);
	tap_ok(near(s.median, 4.5) && near(s.stddev_percent, 100 * sqrt(32.0 / 7) / 5),
	       "eight values: median 4.5, deviation by n - 1");

	stats_of(one, 1, &s);
	tap_ok(s.n == 1 && near(s.median, 7) && near(s.mean, 7) && s.stddev_percent == 0,
	       "one value: no deviation, and no division by nothing");
	stats_of(same, LENGTH(same), &s);
	tap_ok(near(s.median, 3) && s.stddev_percent == 0, "equal values: no deviation");
}

/* 1, 2 .. n in a scrambled order over 1: the order statistics are the numbers themselves. */
static void ranks(unsigned int n, struct ratio *r)
{
	double *a = calloc(n, sizeof(*a)), *b = calloc(n, sizeof(*b));
	unsigned int i;

	if (!a || !b)
		abort();
	for (i = 0; i < n; i++) {
		a[i] = 1 + (i * UINT64_C(7) + 3) % n; /* no n here is a multiple of 7 */
		b[i] = 1;
	}
	ratio_of(a, b, n, r);
	free(a);
	free(b);
}

/*
 * The interval from the k-th smallest to the k-th largest covers the median
 * with 1 - 2 P(Binomial(n, 1/2) < k). With k the largest that gives 95 %:
 * 6: 1 - 2/64 = 0.969. 8: 1 - 2/256, and k = 2 only 0.930. 9: k = 2 gives
 * 1 - 20/512 = 0.961. 10: 1 - 22/1024 = 0.979. 12: k = 3 gives 1 - 158/4096.
 * 100: k = 40 (0.9648), from any table of the sign test.
 */
static void test_interval(void)
{
	static const struct { unsigned int n, k; } table[] = {
		{ 1, 0 }, { 2, 0 }, { 5, 0 }, { 6, 1 }, { 8, 1 }, { 9, 2 }, { 10, 2 }, { 11, 2 },
		{ 12, 3 }, { 15, 4 }, { 20, 6 }, { 25, 8 }, { 50, 18 }, { 100, 40 },
	};
	struct ratio r;
	size_t i;

	for (i = 0; i < LENGTH(table); i++) {
		unsigned int n = table[i].n, k = table[i].k;

		ranks(n, &r);
		if (!k) {
			tap_ok(!r.interval && near(r.median, (n + 1) / 2.0) && !ratio_differs(&r),
			       "%u pairs: no interval, no difference claimed", n);
			continue;
		}
		if (!tap_ok(r.interval && near(r.low, k) && near(r.high, n + 1 - k) &&
			    near(r.median, (n + 1) / 2.0), "%u pairs: from the %u. to the %u.", n, k,
			    n + 1 - k))
			tap_note("%d: %g to %g, median %g", r.interval, r.low, r.high, r.median);
	}
}

/*
 * k by a sum without logarithms or powers of two: the terms of the binomial
 * distribution as multiples of the one in the middle, from there to either side,
 * and all of them together in the place of 2^n. Those that are 0 in a double are
 * too far out to count.
 */
static unsigned int cut_from_the_middle(unsigned int n)
{
	double *term = calloc(n + 1, sizeof(*term)), all = 0, below = 0;
	unsigned int k;

	if (!term)
		abort();
	term[n / 2] = 1;
	for (k = n / 2; k > 0; k--)
		term[k - 1] = term[k] * k / (n - k + 1);
	for (k = n / 2; k < n; k++)
		term[k + 1] = term[k] * (n - k) / (k + 1);
	for (k = 0; k <= n; k++)
		all += term[k];
	for (k = 0; k < n; k++) {
		below += term[k];
		if (2 * below / all > 0.05)
			break;
	}
	free(term);
	return k;
}

/* From 1075 on 0.5^n is 0 in a double; a command line may ask for a million. */
static void test_interval_of_many(void)
{
	static const unsigned int many[] = {
		6, 100, 1000, 1023, 1074, 1075, 1076, 1100, 2000, 16445, 16447, 100000, 1000000,
	};
	struct ratio r;
	size_t i;

	for (i = 0; i < LENGTH(many); i++) {
		unsigned int n = many[i], k = cut_from_the_middle(n);

		ranks(n, &r);
		if (!tap_ok(r.interval && near(r.low, k) && near(r.high, n + 1.0 - k) &&
			    r.low < r.median && r.median < r.high, "%u pairs: from the %u. to the %u.",
			    n, k, n + 1 - k))
			tap_note("%d: %g to %g, median %g", r.interval, r.low, r.high, r.median);
	}
	/* The same by the normal approximation, which is good to a sample or two. */
	ranks(100000, &r);
	tap_ok(fabs(r.low - (50000 - 1.959964 * sqrt(100000) / 2)) < 2, "and as tables have it");
}

/* Samples that are one below and one above 1 in turn show nothing, however many. */
static void test_many_alike(void)
{
	enum { MANY = 1100 };
	static double a[MANY], b[MANY];
	unsigned int i, n;
	bool claimed = false, ordered = true;
	struct ratio r;

	for (i = 0; i < MANY; i++) {
		a[i] = i % 2 ? 0.9 : 1.1;
		b[i] = 1;
	}
	for (n = 1; n <= MANY; n++) {
		ratio_of(a, b, n, &r);
		claimed = claimed || ratio_differs(&r);
		ordered = ordered && r.low <= r.high;
	}
	tap_ok(!claimed, "1 to %d pairs that differ either way: no difference claimed", MANY);
	tap_ok(ordered, "1 to %d pairs: the interval is no inverted one", MANY);
}

static void test_ratio(void)
{
	/* The median of the quotients (0.5 0.5 1 2 2 4) is not that of the medians. */
	static const double a[] = { 1, 2, 3, 8, 6, 8 }, b[] = { 2, 4, 3, 4, 3, 2 };
	static const double slow[] = { 4, 5, 6, 4, 5, 6 }, fast[] = { 5, 6, 7, 8, 9, 9 };
	struct ratio r;

	ratio_of(a, b, 6, &r);
	tap_ok(near(r.median, 1.5) && r.interval && near(r.low, 0.5) && near(r.high, 4),
	       "a ratio is that of pairs: samples of the same round");
	tap_ok(!ratio_differs(&r), "an interval with 1 in it: no difference");
	ratio_of(fast, slow, 6, &r);
	tap_ok(ratio_differs(&r) && r.low > 1, "all faster: a difference");
	ratio_of(slow, fast, 6, &r);
	tap_ok(ratio_differs(&r) && r.high < 1, "all slower: a difference");
	ratio_of(fast, slow, 5, &r);
	tap_ok(!ratio_differs(&r), "five pairs show nothing, however clear");
	ratio_of(slow, slow, 6, &r);
	tap_ok(!ratio_differs(&r) && near(r.median, 1), "the same twice: no difference");
}

#define MS 1000000ull

/* A second of a machine where this process had 900 ms of cpu; then the rest. */
static unsigned int second(uint64_t steal_ms, uint64_t foreign_ms, uint64_t delay_ns)
{
	struct noise_mark from = { .at_ns = 5 * MS, .steal_ns = 70 * MS, .busy_ns = 80 * MS,
				   .ours_ns = 10 * MS };
	struct noise_mark to = { .at_ns = 1005 * MS, .steal_ns = (70 + steal_ms) * MS,
				 .busy_ns = (80 + 900 + foreign_ms) * MS, .ours_ns = 910 * MS };

	return noise_between(&from, &to, 500 * MS, delay_ns);
}

static unsigned int brief(uint64_t steal_ms, uint64_t foreign_ms)
{
	struct noise_mark from = { .at_ns = 0 };
	struct noise_mark to = { .at_ns = 40 * MS, .steal_ns = steal_ms * MS,
				 .busy_ns = foreign_ms * MS };

	return noise_between(&from, &to, 20 * MS, 0);
}

static void test_noise(void)
{
	const unsigned int steal = 1u << NOISE_STEAL, foreign = 1u << NOISE_FOREIGN;
	const unsigned int delay = 1u << NOISE_DELAY;
	struct noise_mark a, b;
	unsigned int i;

	tap_ok(second(0, 0, 0) == 0, "a quiet second");
	tap_ok(second(40, 0, 0) == 0 && second(60, 0, 0) == steal, "steal counts from 5 %%");
	tap_ok(second(0, 40, 0) == 0 && second(0, 60, 0) == foreign, "foreign load counts from 5 %%");
	tap_ok(second(0, 0, 9 * MS) == 0 && second(0, 0, 11 * MS) == delay,
	       "waiting counts from 2 %% of what was timed");
	tap_ok(second(60, 60, 11 * MS) == (steal | foreign | delay), "all three at once");
	tap_ok(brief(10, 10) == 0 && brief(30, 0) == steal && brief(0, 30) == foreign,
	       "in a short span a single tick is no disturbance");
	for (i = 0; i < NOISE_KINDS; i++)
		tap_ok(noise_names[i] && *noise_names[i], "kind %u has a name", i);
	/* Ours may be ahead of what /proc/stat has counted in ticks: never "foreign" for it. */
	a = (struct noise_mark){ .at_ns = 0, .busy_ns = 0, .ours_ns = 0 };
	b = (struct noise_mark){ .at_ns = 100 * MS, .busy_ns = 0, .ours_ns = 9 * MS };
	tap_ok(noise_between(&a, &b, 50 * MS, 0) == 0, "less busy than ours alone: not foreign");
	noise_mark(&a);
	noise_mark(&b);
	tap_ok(a.at_ns && b.at_ns >= a.at_ns && b.ours_ns >= a.ours_ns && b.busy_ns >= a.busy_ns,
	       "marks of this machine go up");
}

int main(void)
{
	test_stats();
	test_interval();
	test_interval_of_many();
	test_many_alike();
	test_ratio();
	test_noise();
	return tap_done();
}
