// SPDX-License-Identifier: GPL-2.0-only
/* `clearpages status` for people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../lib/limits.h"
#include "clearpages.h"
#include "output.h"
#include "status.h"
#include "tool.h"

#define WIDTH 80

/* "Label:     text", the text wrapped at blanks in a column of its own. */
static void say(const char *label, int column, const char *text)
{
	const int room = WIDTH - column;

	printf("%-*s", column, label);
	while ((int)strlen(text) > room) {
		int end = room;

		while (end && text[end] != ' ')
			end--;
		if (!end)
			end = (int)strcspn(text, " ");
		if (!text[end])
			break;
		printf("%.*s\n%*s", end, text, column, "");
		text += end + 1;
	}
	printf("%s\n", text);
}

static void line(const char *label, const char *text)
{
	say(label, 13, text);
}

static const char *or_unknown(const char *text)
{
	return *text ? text : "unknown";
}

/* ---- the module ----------------------------------------------------------------------- */

static void print_transition(const struct status *s)
{
	char who[512], text[640];

	if (!s->module.transition)
		return;
	snprintf(text, sizeof(text), "on its way %s, held up by %s", s->module.enabled ? "in" : "out",
		 module_holders_text(&s->holders, who, sizeof(who)));
	line("Transition:", text);
}

static void print_module(const struct status *s)
{
	const struct module_state *m = &s->module;
	char text[MODULE_TEXT + 64], value[MODULE_TEXT];

	if (!m->loaded) {
		line("Module:", "not loaded");
		return;
	}
	snprintf(text, sizeof(text), "clearpages %s, %s", or_unknown(m->version),
		 m->transition ? "neither in nor out of force" :
		 m->livepatch && m->enabled ? "in force" : "loaded, but switched off");
	line("Module:", text);
	print_transition(s);
	line("Policy:", or_unknown(m->policy));
	if (status_field(s->state, "in_force", value, sizeof(value)))
		line("In full:", value);
	snprintf(text, sizeof(text), "%s us between two breathing points, where the kernel cannot preempt",
		 or_unknown(m->budget_us));
	line("Budget:", text);
	if (status_field(s->state, "skip_zeroed", value, sizeof(value))) {
		snprintf(text, sizeof(text), "pages that the allocator has zeroed: %s", value);
		line("Left alone:", text);
	}
}

/* ---- its statistics ------------------------------------------------------------------- */

/* By the clock, which a preemptible kernel does not stop for others. */
static const char *rate_is(const struct status *s)
{
	char preemptible[8];

	status_field(s->state, "preemptible", preemptible, sizeof(preemptible));
	return !strcmp(preemptible, "yes") ? "by the clock, preemption included" : "while at it";
}

static void print_sums(const struct status *s)
{
	uint64_t bytes = status_count(s->stats, "bytes"), ns = status_count(s->stats, "ns");
	char text[160], size[16];
	int used;

	used = snprintf(text, sizeof(text), "%" PRIu64 " pages, %s, %" PRIu64 " breathing points",
			status_count(s->stats, "folios"), size_text(bytes, size, sizeof(size)),
			status_count(s->stats, "breaths"));
	if (bytes && ns)
		snprintf(text + used, sizeof(text) - (size_t)used, "; %.3g GiB/s %s",
			 (double)bytes / (double)ns * 1e9 / (double)(1 << 30), rate_is(s));
	line("Zeroed:", text);
}

static void count_cell(uint64_t n, char *cell, size_t size)
{
	snprintf(cell, size, "%" PRIu64, n);
}

static void print_sizes(const struct status *s)
{
	static const char *const columns[] = { "PAGES", ">ZEROED", ">LEFT ALONE" };
	struct table *t = table_new(columns, 3);
	char size[16], key[32], zeroed[24], skipped[24];
	const char *const cells[] = { size, zeroed, skipped };
	const char *at = s->stats;
	uint64_t n;

	while (status_next(&at, "folios_", "", size, sizeof(size), &n)) {
		count_cell(n, zeroed, sizeof(zeroed));
		snprintf(key, sizeof(key), "skipped_%s", size);
		count_cell(status_count(s->stats, key), skipped, sizeof(skipped));
		table_row(t, cells);
	}
	table_print(t);
}

/* MiB/s as the module has it, to GiB/s; "" where it was not measured. */
static void rate_cell(const struct status *s, const char *name, const char *at, char *cell,
		      size_t size)
{
	char key[48];
	uint64_t rate;

	snprintf(key, sizeof(key), "rate_%s_%s", name, at);
	rate = status_count(s->state, key);
	cell[0] = '\0';
	if (rate)
		snprintf(cell, size, "%.3g", (double)rate * 1e6 / (double)(1 << 30));
}

static void sum_cells(const struct status *s, const char *which, const char *name, char *calls,
		      char *bytes, size_t size)
{
	char key[48];

	snprintf(key, sizeof(key), "%s_calls_%s", which, name);
	count_cell(status_count(s->stats, key), calls, size);
	snprintf(key, sizeof(key), "%s_bytes_%s", which, name);
	size_text(status_count(s->stats, key), bytes, size);
}

static void print_variants(const struct status *s)
{
	static const char *const columns[] = {
		"VARIANT", ">64K GiB/s", ">2M GiB/s", ">FAR CALLS", ">FAR", ">NEAR CALLS", ">NEAR",
	};
	struct table *t = table_new(columns, 7);
	char name[16], small[24], large[24], far[24], far_bytes[24], near[24], near_bytes[24];
	const char *const cells[] = { name, small, large, far, far_bytes, near, near_bytes };
	const char *at = s->stats;
	uint64_t n;

	while (status_next(&at, "far_calls_", "", name, sizeof(name), &n)) {
		rate_cell(s, name, "64K", small, sizeof(small));
		rate_cell(s, name, "2M", large, sizeof(large));
		sum_cells(s, "far", name, far, far_bytes, sizeof(far));
		sum_cells(s, "near", name, near, near_bytes, sizeof(near));
		table_row(t, cells);
	}
	table_print(t);
}

static void print_times(const struct status *s)
{
	static const char *const columns[] = { "PAGES", ">FROM US", ">ZEROED" };
	struct table *t = table_new(columns, 3);
	struct status_time time;
	char pages[24];
	const char *const cells[] = { time.size, time.from_us, pages };
	const char *at = s->stats;

	while (status_next_time(&at, &time)) {
		count_cell(time.pages, pages, sizeof(pages));
		table_row(t, cells);
	}
	table_print(t);
}

static void print_nodes(const struct status *s)
{
	static const char *const columns[] = { ">NODE", ">PAGES", ">BYTES" };
	struct table *t = table_new(columns, 3);
	char node[16], key[32], pages[24], bytes[24];
	const char *const cells[] = { node, pages, bytes };
	const char *at = s->stats;
	uint64_t n;

	while (status_next(&at, "node", "_folios", node, sizeof(node), &n)) {
		count_cell(n, pages, sizeof(pages));
		snprintf(key, sizeof(key), "node%s_bytes", node);
		size_text(status_count(s->stats, key), bytes, sizeof(bytes));
		table_row(t, cells);
	}
	table_print(t);
}

static void print_stats(const struct status *s)
{
	if (!s->module.loaded)
		return;
	if (*s->no_stats) {
		line("Statistics:", s->no_stats);
		return;
	}
	print_sums(s);
	printf("\n");
	if (status_count(s->stats, "folios") || status_count(s->stats, "skipped")) {
		print_sizes(s);
		printf("\n");
	}
	print_variants(s);
	if (status_count(s->stats, "folios")) {
		printf("\n");
		print_nodes(s);
		printf("\n");
		print_times(s);
	}
}

/* ---- the rest ----------------------------------------------------------------------------- */

static void pool_row(void *arg, uint64_t page_bytes, int node, const struct limits_pool *pool)
{
	char size[16] = "", where[16] = "all", total[24], unused[24], reserved[24] = "-";
	const char *const cells[] = { size, where, total, unused, reserved };

	count_cell(pool->total, total, sizeof(total));
	count_cell(pool->free, unused, sizeof(unused));
	if (node == LIMITS_ANY_NODE) {
		size_text(page_bytes, size, sizeof(size));
		count_cell(pool->reserved, reserved, sizeof(reserved));
	} else {
		snprintf(where, sizeof(where), "%d", node);
	}
	table_row(arg, cells);
}

static void print_pools(const struct status *s)
{
	static const char *const columns[] = { "HUGETLB", ">NODE", ">TOTAL", ">FREE", ">RESERVED" };
	struct table *t;

	if (!s->host.machine.pools) {
		printf("\nHugetlb pages: none seen\n");
		return;
	}
	printf("\n");
	t = table_new(columns, 5);
	status_pools(s, pool_row, t);
	table_print(t);
}

static void print_kernel(const struct status *s)
{
	char text[320];

	line("Kernel:", or_unknown(s->host.kernel));
	line("Preemption:", or_unknown(s->host.preemption));
	snprintf(text, sizeof(text), "%s%s%s%s", s->function ? s->function : "",
		 s->function ? "(), " : "", s->by_itself, s->function ?
		 " (by its release; a vendor's kernel may differ)" : "");
	line("By itself:", text);
	snprintf(text, sizeof(text), "init_on_alloc %s", s->host.init_on_alloc);
	line("Allocator:", text);
	snprintf(text, sizeof(text), "%s; %s", *s->host.thp ? s->host.thp : "none seen", s->thp);
	line("THP:", text);
}

int status_print(const struct status *s)
{
	unsigned int i;

	print_kernel(s);
	print_module(s);
	print_stats(s);
	print_pools(s);
	printf("\nWhat would help here:\n");
	for (i = 0; i < s->helps; i++) {
		char label[32];

		snprintf(label, sizeof(label), "  %s", s->help[i].what);
		say(label, 19, s->help[i].text);
	}
	return TOOL_OK;
}
