// SPDX-License-Identifier: GPL-2.0-only
/* clearpages list: what this machine, or the dump of another one, has and can do. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../lib/limits.h"
#include "../lib/policy.h"
#include "clearpages.h"
#include "commands.h"
#include "host.h"
#include "output.h"
#include "tool.h"

static const char usage_text[] =
	"Usage: clearpages list [OPTION]... [machine|variants|policies]\n"
	"Show what this machine has, by which variants it can zero memory, and what the\n"
	"named policies are on it. With a word: that part only.\n"
	"\n"
	"Options:\n"
	"      --sysroot DIR  read /proc, /sys and /boot below DIR, a dump of another machine\n"
	"  -j, --json         as JSON, with the units in the keys; null for what is not known\n"
	"  -h, --help         this text\n";

enum { OPT_SYSROOT = 256 };

static const struct option options[] = {
	{ "sysroot", required_argument, NULL, OPT_SYSROOT },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const char *const parts[] = { "machine", "variants", "policies", NULL };
enum { MACHINE = 1, VARIANTS = 2, POLICIES = 4 };

/* ---- for people ---------------------------------------------------------- */

static void print_caches(const struct machine *m)
{
	static const char *const columns[] = { "CACHE", "TYPE", ">SIZE", ">CPUS" };
	struct table *t;
	unsigned int i;

	if (!m->caches) {
		printf("\nCaches: none seen\n");
		return;
	}
	printf("\n");
	t = table_new(columns, 4);
	for (i = 0; i < m->caches; i++) {
		const struct machine_cache *c = &m->cache[i];
		char level[16], size[16], cpus[16];
		const char *cells[] = { level, "data and instructions", size, cpus };

		snprintf(level, sizeof(level), "L%u", c->level);
		snprintf(cpus, sizeof(cpus), "%u", c->shared);
		size_text(c->bytes, size, sizeof(size));
		if (c->type != 'u')
			cells[1] = c->type == 'd' ? "data" : "instructions";
		table_row(t, cells);
	}
	table_print(t);
}

static void print_thp(const struct machine *m)
{
	char size[16];
	unsigned int i;

	if (!m->thps)
		return;
	printf("\nTransparent huge pages:");
	for (i = 0; i < m->thps; i++)
		printf(" %s", size_text(m->thp[i], size, sizeof(size)));
	printf("\n");
}

static void print_pools(const char *root, const struct machine *m)
{
	static const char *const columns[] = { "HUGETLB", ">TOTAL", ">FREE", ">RESERVED" };
	struct table *t;
	unsigned int i;

	if (!m->pools) {
		printf("\nHugetlb pages: none seen\n");
		return;
	}
	printf("\n");
	t = table_new(columns, 4);
	for (i = 0; i < m->pools; i++) {
		char size[16], total[24], unused[24], reserved[24];
		const char *const cells[] = { size, total, unused, reserved };
		struct limits_pool pool;

		if (limits_pool(root, m->pool[i], LIMITS_ANY_NODE, &pool))
			continue;
		size_text(m->pool[i], size, sizeof(size));
		snprintf(total, sizeof(total), "%" PRIu64, pool.total);
		snprintf(unused, sizeof(unused), "%" PRIu64, pool.free);
		snprintf(reserved, sizeof(reserved), "%" PRIu64, pool.reserved);
		table_row(t, cells);
	}
	table_print(t);
}

static void print_variants(const struct machine *m)
{
	static const char *const columns[] = { "VARIANT", "KIND", "USABLE", "WHAT" };
	struct clearpages_variant v = { .size = sizeof(v) };
	struct table *t = table_new(columns, 4);
	unsigned int i;

	for (i = 0; !variant_get_for(m, i, &v); i++) {
		char usable[64] = "yes";
		const char *const cells[] = {
			v.name, v.streaming ? "streaming" : "cached", usable, v.what,
		};

		if (v.lacks)
			snprintf(usable, sizeof(usable), "no: needs %s", v.lacks);
		table_row(t, cells);
	}
	table_print(t);
}

/* A named policy in full on that machine, or why it cannot be had. */
static const char *policy_in_full(const struct machine *m, const char *name, char *text,
				  size_t size)
{
	struct clearpages_policy *policy = NULL;

	if (!policy_new_for(m, name, &policy, text, size))
		clearpages_policy_text(policy, text, size);
	clearpages_policy_free(policy);
	return text;
}

/* Two lines each: in one they would be wider than most terminals. */
static void print_policies(const struct machine *m)
{
	static const char *const columns[] = { "POLICY", "WHAT, AND IN FULL HERE" };
	struct table *t = table_new(columns, 2);
	char text[CLEARPAGES_POLICY_TEXT];
	const char *name, *what;
	unsigned int i;

	for (i = 0; (name = clearpages_policy_name(i, &what)); i++) {
		const char *const first[] = { name, what };
		const char *const second[] = {
			NULL, policy_in_full(m, name, text, sizeof(text)),
		};

		table_row(t, first);
		table_row(t, second);
	}
	table_print(t);
}

static int print_text(const char *root, const struct host *h, int wanted)
{
	const struct machine *m = &h->machine;

	if (wanted & MACHINE) {
		host_print(h);
		print_caches(m);
		print_pools(root, m);
		print_thp(m);
	}
	if (wanted & VARIANTS) {
		printf("%s", wanted & MACHINE ? "\n" : "");
		print_variants(m);
	}
	if (wanted & POLICIES) {
		printf("%s", wanted & MACHINE ? "\n" : "");
		print_policies(m);
	}
	return TOOL_OK;
}

/* ---- for programs -------------------------------------------------------- */

static json_t *json_pools(const char *root, const struct machine *m)
{
	json_t *array = json_array();
	struct limits_pool pool;
	unsigned int i;

	for (i = 0; array && i < m->pools; i++)
		if (!limits_pool(root, m->pool[i], LIMITS_ANY_NODE, &pool))
			json_array_append_new(array, json_pack("{s:I, s:I, s:I, s:I}",
				"page_bytes", json_count(m->pool[i]),
				"total_pages", json_count(pool.total),
				"free_pages", json_count(pool.free),
				"reserved_pages", json_count(pool.reserved)));
	return array;
}

static json_t *json_variants(const struct machine *m)
{
	struct clearpages_variant v = { .size = sizeof(v) };
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; array && !variant_get_for(m, i, &v); i++)
		json_array_append_new(array, json_pack("{s:s, s:s, s:b, s:s?, s:s}",
			"name", v.name,
			"kind", v.streaming ? "streaming" : "cached",
			"usable", !v.lacks,
			"lacks", v.lacks,
			"what", v.what));
	return array;
}

static json_t *json_policies(const struct machine *m)
{
	char text[CLEARPAGES_POLICY_TEXT];
	json_t *array = json_array();
	const char *name, *what;
	unsigned int i;

	for (i = 0; array && (name = clearpages_policy_name(i, &what)); i++)
		json_array_append_new(array, json_pack("{s:s, s:s, s:s}",
			"name", name,
			"policy", policy_in_full(m, name, text, sizeof(text)),
			"what", what));
	return array;
}

static int print_json(const char *root, const struct host *h, int wanted)
{
	const struct machine *m = &h->machine;
	json_t *all = json_pack("{s:s, s:o}", "version", clearpages_version(),
				"host", host_json(h));

	if (all && wanted & MACHINE)
		json_object_set_new(all, "hugetlb", json_pools(root, m));
	if (all && wanted & VARIANTS)
		json_object_set_new(all, "variants", json_variants(m));
	if (all && wanted & POLICIES)
		json_object_set_new(all, "policies", json_policies(m));
	return json_print(all);
}

/* ---- the command line ------------------------------------------------------ */

/* The root without slashes at its end; "/" is this machine. */
static int check_root(char *root)
{
	size_t length = strlen(root);
	struct stat st;

	if (stat(root, &st))
		return fail(TOOL_USAGE, "--sysroot '%.256s': %s, expected a directory", root,
			    strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return fail(TOOL_USAGE, "--sysroot '%.256s': not a directory", root);
	while (length && root[length - 1] == '/')
		root[--length] = '\0';
	return 0;
}

int cmd_list(int argc, char **argv)
{
	int (*print)(const char *, const struct host *, int) = print_text;
	int wanted = MACHINE | VARIANTS | POLICIES, c;
	static char this_machine[] = "";
	char *root = this_machine;
	struct host host;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":jh", options, NULL)) != -1) {
		switch (c) {
		case OPT_SYSROOT:
			root = optarg;
			if (check_root(root))
				return TOOL_USAGE;
			break;
		case 'j':
			print = print_json;
			break;
		case 'h':
			fputs(usage_text, stdout);
			return TOOL_OK;
		default:
			return opt_refused("list", c, argv, options);
		}
	}
	if (optind < argc) {
		unsigned int part;

		if (opt_word("list", argv[optind], parts, &part))
			return TOOL_USAGE;
		wanted = 1 << part;
	}
	if (optind + 1 < argc)
		return fail(TOOL_USAGE, "list: '%.48s': one word only, expected nothing more",
			    argv[optind + 1]);
	host_read(root, &host);
	return print(root, &host, wanted);
}
