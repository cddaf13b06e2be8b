/* SPDX-License-Identifier: GPL-2.0-only */
/* How the benchmarks show what they measured. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define GIB (1024.0 * 1024 * 1024)

static bool any_ratio(const struct trial *t, const struct trial *base)
{
	return base && base != t;
}

static double cycles_per_byte(const struct measure *m, const struct trial *t)
{
	uint64_t cycles = 0, bytes = 0;
	unsigned int i;

	for (i = 0; i < m->rounds; i++) {
		cycles += t->samples[i].cycles;
		bytes += t->samples[i].bytes;
	}
	return (double)cycles / (double)bytes;
}

void bench_row(const struct measure *m, const struct trial *t, const struct trial *base,
	       uint64_t unit, struct bench_row *row)
{
	double *rates = measure_rates(m, t);

	*row = (struct bench_row){ .ratio = { 0 } };
	stats_of(rates, m->rounds, &row->rate);
	row->ns_per_unit = (double)unit * 1e9 / row->rate.mean;
	snprintf(row->gib, CELL, "%.2f", row->rate.median / GIB);
	snprintf(row->spread, CELL, "%.1f", row->rate.stddev_percent);
	snprintf(row->us, CELL, "%.*f", row->ns_per_unit < 1e5 ? 2 : 0, row->ns_per_unit / 1000);
	snprintf(row->cycles, CELL, "%.0f", cycles_per_byte(m, t) * (double)unit);
	if (any_ratio(t, base)) {
		double *others = measure_rates(m, base);

		ratio_of(rates, others, m->rounds, &row->ratio);
		free(others);
		snprintf(row->times, CELL, "%.2f", row->ratio.median);
		if (!row->ratio.interval)
			snprintf(row->interval, CELL, "needs -l 6");
		else if (ratio_differs(&row->ratio))
			snprintf(row->interval, CELL, "%.3f to %.3f", row->ratio.low,
				 row->ratio.high);
		else
			snprintf(row->interval, CELL, "no difference");
	}
	free(rates);
}

json_t *bench_result_json(const struct measure *m, const struct trial *t, const struct trial *base)
{
	struct bench_row row;
	json_t *result;

	bench_row(m, t, base, t->bytes, &row);
	result = json_pack("{s:{s:f, s:f, s:f, s:f, s:f}, s:o}", "bytes_per_second", "median",
			   row.rate.median, "mean", row.rate.mean, "min", row.rate.min, "max",
			   row.rate.max, "stddev_percent", row.rate.stddev_percent, "samples",
			   measure_samples_json(m, t));
	if (any_ratio(t, base)) {
		json_t *ratio = json_pack("{s:f}", "median", row.ratio.median);

		if (row.ratio.interval) {
			json_object_set_new(ratio, "low_95", json_real(row.ratio.low));
			json_object_set_new(ratio, "high_95", json_real(row.ratio.high));
		}
		json_object_set_new(result, "ratio_to_first", ratio);
	}
	return result;
}

void bench_policy_json(json_t *result, const struct bench_policy *p)
{
	char full[CLEARPAGES_POLICY_TEXT];

	if (!p)
		return;
	clearpages_policy_text(p->policy, full, sizeof(full));
	json_object_set_new(result, "policy", json_string(p->name));
	json_object_set_new(result, "policy_in_full", json_string(full));
}

int bench_print_json(const char *command, json_t *runs)
{
	struct host h;

	host_read("", &h);
	return json_print(json_pack("{s:s, s:s, s:o, s:o}", "version", clearpages_version(),
				    "command", command, "host", host_json(&h), "runs", runs));
}

void bench_memory_text(const struct bench *b, char *text, size_t size)
{
	static const char *const kinds[] = {
		[REGION_SMALL] = "small", [REGION_THP] = "transparent huge",
		[REGION_HUGETLB] = "hugetlb",
	};
	char each[32], all[32];

	snprintf(text, size, "%s in %s pages of %s, %u thread%s", size_text(b->size, all, sizeof(all)),
		 kinds[b->kind], size_text(b->page, each, sizeof(each)), b->threads,
		 b->threads > 1 ? "s" : "");
}
