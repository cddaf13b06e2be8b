// SPDX-License-Identifier: GPL-2.0-only
/* `clearpages status --json`. What is not known is null. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/limits.h"
#include "clearpages.h"
#include "output.h"
#include "status.h"
#include "tool.h"

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

static json_t *json_number_text(const char *text)
{
	return isdigit((unsigned char)*text) ? json_integer(json_count(strtoull(text, NULL, 10))) :
	       json_null();
}

static json_t *json_yes(const char *text)
{
	if (!*text)
		return json_null();
	return json_boolean(*text == 'Y' || *text == 'y' || *text == '1');
}

/* A field of a file of debugfs. */
static json_t *json_field(const char *text, const char *name)
{
	char value[MODULE_TEXT];

	return status_field(text, name, value, sizeof(value)) ? json_string(value) : json_null();
}

static json_t *json_sum(const char *text, const char *format, const char *name)
{
	char key[64];

	snprintf(key, sizeof(key), format, name);
	return json_integer(json_count(status_count(text, key)));
}

/* ---- the module ----------------------------------------------------------------------- */

static json_t *json_holders(const struct module_holders *h)
{
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; array && i < h->shown; i++)
		json_array_append_new(array, json_pack("{s:I, s:s}",
			"tid", json_count(h->task[i].tid),
			"comm", h->task[i].comm));
	return array;
}

static json_t *json_module(const struct status *s)
{
	const struct module_state *m = &s->module;
	char preemptible[8];

	status_field(s->state, "preemptible", preemptible, sizeof(preemptible));
	return json_pack("{s:b, s:b, s:s?, s:s?, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:s?}",
		"loaded", m->loaded,
		"in_force", m->livepatch && m->enabled && !m->transition,
		"transition", !m->transition ? NULL : m->enabled ? "in" : "out",
		"version", or_null(m->version),
		"policy", or_null(m->policy),
		"budget_us", json_number_text(m->budget_us),
		"skip_zeroed", json_yes(m->skip_zeroed),
		"replaces", json_field(s->state, "target"),
		"policy_in_full", json_field(s->state, "in_force"),
		"preemptible", json_yes(preemptible),
		"left_alone", json_field(s->state, "skip_zeroed"),
		"held_up_by_tasks", json_count(s->holders.total),
		"held_up_by", json_holders(&s->holders),
		"cannot_load_because", or_null(s->blocked));
}

/* ---- its statistics ------------------------------------------------------------------- */

static json_t *json_sizes(const struct status *s)
{
	json_t *array = json_array();
	const char *at = s->stats;
	char size[16];
	uint64_t n, bytes;

	while (array && status_next(&at, "folios_", "", size, sizeof(size), &n))
		if (!clearpages_size_parse(size, &bytes))
			json_array_append_new(array, json_pack("{s:I, s:I, s:o}",
				"page_bytes", json_count(bytes),
				"zeroed_pages", json_count(n),
				"left_alone_pages", json_sum(s->stats, "skipped_%s", size)));
	return array;
}

/* Bytes per microsecond there. */
static json_t *json_rate(const struct status *s, const char *format, const char *name)
{
	char key[48];
	uint64_t rate;

	snprintf(key, sizeof(key), format, name);
	rate = status_count(s->state, key);
	if (!rate || rate > UINT32_MAX)
		return json_null();
	return json_integer((json_int_t)rate * 1000000);
}

static json_t *json_variants(const struct status *s)
{
	json_t *array = json_array();
	const char *at = s->stats;
	char name[16];
	uint64_t n;

	while (array && status_next(&at, "far_calls_", "", name, sizeof(name), &n))
		json_array_append_new(array, json_pack("{s:s, s:o, s:o, s:I, s:o, s:o, s:o}",
			"name", name,
			"at_64k_bytes_per_second", json_rate(s, "rate_%s_64K", name),
			"at_2m_bytes_per_second", json_rate(s, "rate_%s_2M", name),
			"far_calls", json_count(n),
			"far_bytes", json_sum(s->stats, "far_bytes_%s", name),
			"near_calls", json_sum(s->stats, "near_calls_%s", name),
			"near_bytes", json_sum(s->stats, "near_bytes_%s", name)));
	return array;
}

static json_t *json_nodes(const struct status *s)
{
	json_t *array = json_array();
	const char *at = s->stats;
	char node[16];
	uint64_t n;

	while (array && status_next(&at, "node", "_folios", node, sizeof(node), &n))
		json_array_append_new(array, json_pack("{s:o, s:I, s:o}",
			"node", json_number_text(node),
			"zeroed_pages", json_count(n),
			"zeroed_bytes", json_sum(s->stats, "node%s_bytes", node)));
	return array;
}

static json_t *json_times(const struct status *s)
{
	json_t *array = json_array();
	const char *at = s->stats;
	struct status_time t;
	uint64_t bytes;

	while (array && status_next_time(&at, &t))
		if (!clearpages_size_parse(t.size, &bytes))
			json_array_append_new(array, json_pack("{s:I, s:o, s:I}",
				"page_bytes", json_count(bytes),
				"from_us", json_number_text(t.from_us),
				"pages", json_count(t.pages)));
	return array;
}

static json_t *json_stats(const struct status *s)
{
	const char *t = s->stats;

	if (!s->module.loaded || *s->no_stats)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"zeroed_pages", json_sum(t, "%s", "folios"),
		"zeroed_bytes", json_sum(t, "%s", "bytes"),
		"time_ns", json_sum(t, "%s", "ns"),
		"left_alone_pages", json_sum(t, "%s", "skipped"),
		"left_alone_bytes", json_sum(t, "%s", "skipped_bytes"),
		"breaths", json_sum(t, "%s", "breaths"),
		"sizes", json_sizes(s),
		"variants", json_variants(s),
		"nodes", json_nodes(s),
		"times", json_times(s));
}

/* ---- the rest ----------------------------------------------------------------------------- */

static void add_pool(void *arg, uint64_t page_bytes, int node, const struct limits_pool *pool)
{
	const bool all = node == LIMITS_ANY_NODE;

	/* Those of all nodes have no node, those of a node no reserved pages. */
	json_array_append_new(arg, json_pack("{s:I, s:o, s:I, s:I, s:o}",
		"page_bytes", json_count(page_bytes),
		"node", all ? json_null() : json_integer(node),
		"total_pages", json_count(pool->total),
		"free_pages", json_count(pool->free),
		"reserved_pages", all ? json_integer(json_count(pool->reserved)) : json_null()));
}

static json_t *json_pools(const struct status *s)
{
	json_t *array = json_array();

	if (array)
		status_pools(s, add_pool, array);
	return array;
}

static json_t *json_help(const struct status *s)
{
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; array && i < s->helps; i++)
		json_array_append_new(array, json_pack("{s:s, s:s}",
			"what", s->help[i].what,
			"text", s->help[i].text));
	return array;
}

int status_json(const struct status *s)
{
	return json_print(json_pack(
		"{s:s, s:{s:s?, s:s?, s:s?, s:s, s:s, s:s?, s:s}, s:o, s:o, s:s?, s:o, s:o}",
		"version", clearpages_version(),
		"kernel",
		"release", or_null(s->host.kernel),
		"preemption", or_null(s->host.preemption),
		"function", s->function,
		"by_itself", s->by_itself,
		"init_on_alloc", s->host.init_on_alloc,
		"thp", or_null(s->host.thp),
		"thp_zeroing", s->thp,
		"module", json_module(s),
		"statistics", json_stats(s),
		"no_statistics_because", or_null(s->no_stats),
		"hugetlb", json_pools(s),
		"help", json_help(s)));
}
