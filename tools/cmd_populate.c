// SPDX-License-Identifier: GPL-2.0-only
/* clearpages populate: files that are memory, made resident, and zeroed if asked. */
#include <errno.h>
#include <getopt.h>
#include <numa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/limits.h"
#include "clearpages.h"
#include "commands.h"
#include "memfile.h"
#include "memory.h"
#include "output.h"
#include "random.h"
#include "tool.h"

static const char usage_text[] =
	"Usage: clearpages populate [OPTION]... FILE...\n"
	"Make all pages of files resident that are memory: of hugetlbfs, tmpfs, memfds\n"
	"(/proc/PID/fd/N) and DAX. What is in them stays, unless --clear is given.\n"
	"\n"
	"Options:\n"
	"      --clear        overwrite the whole file with zeros\n"
	"      --policy TEXT  with --clear: how, see `clearpages list policies`\n"
	"                       (the environment's CLEARPAGES_POLICY, else auto)\n"
	" -t, --threads N     at most N threads (one for each cpu that this process may use)\n"
	"      --node LIST    new pages from these nodes only, threads on their cpus\n"
	" -n, --dry-run       say what there is to be done, and do nothing\n"
	" -j, --json          as JSON, with the units in the keys\n"
	" -h, --help          this text\n"
	"\n"
	"Exit: 0 ok, 1 a file failed (each is named), 2 usage, 77 a policy that this processor lacks.\n"
	"See clearpages-populate(1).\n";

enum { OPT_CLEAR = 256, OPT_POLICY, OPT_NODE };

static const struct option options[] = {
	{ "clear", no_argument, NULL, OPT_CLEAR },
	{ "policy", required_argument, NULL, OPT_POLICY },
	{ "threads", required_argument, NULL, 't' },
	{ "node", required_argument, NULL, OPT_NODE },
	{ "dry-run", no_argument, NULL, 'n' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct job {
	bool clear, dry_run, json;
	unsigned int threads;
	int node;		/* the one of --node, or LIMITS_ANY_NODE */
	const char *policy_text, *nodes;
	struct clearpages_policy *policy;
};

struct result {
	struct memfile file;	/* closed: what it was */
	uint64_t filled, cleared;
	double seconds;
	const char *word;	/* of the table and JSON */
	char why[1024];		/* "" unless it failed */
};

/* ---- one file -------------------------------------------------------------------------- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct shown {
	const char *path, *what;
	double last;
};

/* Ten times a second; non-zero, and with that the end, once pages have vanished. */
static int show(void *arg, uint64_t done, uint64_t total)
{
	struct shown *s = arg;
	char some[32], all[32];
	double at = now();

	if (at - s->last >= 0.1) {
		s->last = at;
		progress("%.80s: %s, %s of %s", s->path, s->what,
			 size_text(done, some, sizeof(some)), size_text(total, all, sizeof(all)));
	}
	return memfile_lost();
}

static int lost(struct result *r)
{
	snprintf(r->why, sizeof(r->why), "pages vanished meanwhile: the file was truncated, or the "
		 "memory has an error");
	return TOOL_FAILED;
}

static int fill(const struct job *j, struct result *r)
{
	struct shown s = { .path = r->file.path, .what = "filling" };
	struct clearpages_populate_opts o = {
		.size = sizeof(o), .threads = j->threads, .progress = show, .progress_arg = &s,
		.why = r->why, .why_size = sizeof(r->why),
	};
	int err = clearpages_populate(r->file.base, r->file.mapped, &o);

	if (err && !*r->why)
		snprintf(r->why, sizeof(r->why), "%s", strerror(-err));
	return err ? TOOL_FAILED : TOOL_OK;
}

/*
 * A word in every 2 MiB, each time another one, and the last: who finds one that
 * is not zero has found somebody who still uses the file.
 */
static int verify(struct result *r)
{
	uint64_t seed = (uint64_t)time(NULL);
	const size_t part = (size_t)2 << 20;
	size_t from, at;

	for (from = 0; from < r->file.mapped; from += part) {
		size_t len = r->file.mapped - from < part ? r->file.mapped - from : part;

		at = from + (size_t)random_below(&seed, len / 8) * 8;
		if (from + len == r->file.mapped)
			at = r->file.mapped - 8;
		if (*(volatile const uint64_t *)(const void *)(r->file.base + at)) {
			snprintf(r->why, sizeof(r->why), "byte %zu is not zero after --clear: "
				 "somebody else writes to the file", at);
			return TOOL_FAILED;
		}
	}
	return TOOL_OK;
}

static int clear(const struct job *j, struct result *r)
{
	struct shown s = { .path = r->file.path, .what = "zeroing" };
	struct clearpages_parallel_opts o = {
		.size = sizeof(o), .threads = j->threads, .progress = show, .progress_arg = &s,
	};
	int err = TOOL_OK;

	/* Of a file that had nothing in it the kernel has just zeroed all pages. */
	if (r->file.resident && clearpages_zero_parallel(r->file.base, r->file.mapped, j->policy, &o))
		err = lost(r);
	else if (r->file.resident)
		r->cleared = r->file.mapped;
	return err ? err : verify(r);
}

/*
 * Before it is mapped, for that reserves what is missing, and a reservation
 * stays with the file. Only what is certainly in the way: the file may have
 * reservations already.
 */
static int foresee(const struct job *j, struct result *r)
{
	const struct memfile *f = &r->file;
	struct limits_fault need = { .page_bytes = f->page, .node = j->node };

	r->filled = f->resident < f->mapped ? f->mapped - f->resident : 0;
	need.perhaps = r->filled / f->page;
	if (f->kind == MEMFILE_HUGETLB && limits_check_fault("", &need, r->why, sizeof(r->why)))
		return TOOL_FAILED;
	/* What fallocate() has put there has yet to be filled, but needs no memory any more. */
	if ((f->kind == MEMFILE_TMPFS || f->kind == MEMFILE_MEMFD) && f->allocated < f->mapped)
		return memory_check("", f->mapped - f->allocated, r->why, sizeof(r->why));
	return TOOL_OK;
}

/* Of hugetlb the look before cannot tell where pages are: what the file has got since. */
static void count_again(struct result *r)
{
	struct memfile after = r->file;

	if (after.kind != MEMFILE_HUGETLB)
		return;
	memfile_count(&after);
	r->filled = after.allocated > r->file.allocated ? after.allocated - r->file.allocated : 0;
}

static int fill_and_clear(const struct job *j, struct result *r)
{
	int err = memfile_map(&r->file, r->why, sizeof(r->why));

	if (err)
		return err;
	memfile_guard(&r->file);
	err = fill(j, r);
	if (!err)
		count_again(r);
	if (!err && j->clear)
		err = clear(j, r);
	if (memfile_lost())
		err = lost(r);
	memfile_unguard();
	return err;
}

static int do_file(const struct job *j, const char *path, struct result *r)
{
	double begin = now();
	int err;

	*r = (struct result){ .word = j->clear ? "zeroed" : "resident" };
	err = memfile_open(path, j->clear, &r->file, r->why, sizeof(r->why));
	if (!err && !r->file.bytes) {
		r->word = "empty: nothing to do";
	} else if (!err) {
		err = foresee(j, r);
		if (!err && j->dry_run)
			r->word = j->clear ? "to be zeroed" :
				  r->filled ? "to be filled" : "resident already";
		else if (!err)
			err = fill_and_clear(j, r);
		r->seconds = now() - begin;
	}
	progress(NULL);
	memfile_close(&r->file);
	if (err) {
		r->filled = r->cleared = 0; /* or in part */
		r->word = "failed";
		fail(err, "%.256s: %s", path, r->why);
	}
	return err;
}

/* ---- reports --------------------------------------------------------------------------- */

static void print_table(const struct result *r, unsigned int count)
{
	static const char *const columns[] = { "FILE", "KIND", ">SIZE", ">PAGE", ">FILLED",
					       ">CLEARED", ">SECONDS", "RESULT" };
	struct table *t = table_new(columns, 8);
	unsigned int i;

	for (i = 0; i < count; i++) {
		const struct memfile *f = &r[i].file;
		char size[32] = "", page[32] = "", filled[32] = "", cleared[32] = "", s[32] = "";

		if (f->page) {
			size_text(f->bytes, size, sizeof(size));
			size_text(f->page, page, sizeof(page));
			size_text(r[i].filled, filled, sizeof(filled));
			size_text(r[i].cleared, cleared, sizeof(cleared));
			snprintf(s, sizeof(s), "%.3f", r[i].seconds);
		}
		table_row(t, (const char *[]){ f->path, f->page ? memfile_kinds[f->kind] : NULL,
					       size, page, filled, cleared, s, r[i].word });
	}
	table_print(t);
}

/* Names are bytes, JSON is UTF-8: what is none becomes '?'. */
static json_t *json_name(const char *name)
{
	json_t *text = json_string(name);
	char *copy, *c;

	if (text || !name)
		return text;
	copy = strdup(name);
	for (c = copy; c && *c; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = '?';
	if (copy)
		text = json_string(copy);
	free(copy);
	return text;
}

static int print_json(const struct job *j, const struct result *r, unsigned int count)
{
	json_t *files = json_array();
	unsigned int i;

	for (i = 0; files && i < count; i++) {
		const struct memfile *f = &r[i].file;
		const bool known = f->page != 0;
		json_t *one = json_pack("{s:o, s:s?, s:I, s:I, s:I, s:I, s:f, s:s, s:o}",
			"file", json_name(f->path),
			"kind", known ? memfile_kinds[f->kind] : NULL,
			"size_bytes", json_count(f->bytes), "page_bytes", json_count(f->page),
			"filled_bytes", json_count(r[i].filled),
			"cleared_bytes", json_count(r[i].cleared), "seconds", r[i].seconds,
			"result", r[i].word,
			"error", *r[i].why ? json_name(r[i].why) : json_null());

		json_array_append_new(files, one);
	}
	return json_print(json_pack("{s:s, s:b, s:o}", "version", clearpages_version(), "dry_run",
				    j->dry_run, "files", files));
}

/* ---- the command line --------------------------------------------------------------------- */

/* By threads on those nodes, if there are cpus for them: some nodes have memory only. */
static int place(const char *text, int *only)
{
	struct bitmask *nodes;
	int err = opt_nodes(text, &nodes, only);

	if (err)
		return err;
	numa_run_on_node_mask(nodes);
	numa_bitmask_free(nodes);
	return TOOL_OK;
}

static int finish_options(struct job *j, int files)
{
	char why[512];
	int err;

	if (!files)
		return fail(TOOL_USAGE, "populate: expected a file, see 'clearpages populate --help'");
	if (j->policy_text && !j->clear)
		return fail(TOOL_USAGE, "--policy: of what? expected --clear with it");
	if (j->policy_text) {
		err = clearpages_policy_new(j->policy_text, &j->policy, why, sizeof(why));
		if (err)
			return fail(err == -EOPNOTSUPP ? TOOL_UNSUPPORTED : TOOL_USAGE,
				    "--policy: %s", why);
	}
	return j->nodes ? place(j->nodes, &j->node) : TOOL_OK;
}

/* TOOL_OK, or an exit code with the error line printed; -1: --help was answered. */
static int parse(int argc, char **argv, struct job *j)
{
	uint64_t number;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":t:njh", options, NULL)) != -1) {
		switch (c) {
		case 't':
			if (opt_count("-t", optarg, 1, 1000000, &number))
				return TOOL_USAGE;
			j->threads = (unsigned int)number;
			break;
		case 'h':
			fputs(usage_text, stdout);
			return -1;
		case ':':
		case '?':
			return opt_refused("populate", c, argv, options);
		default:
			j->clear |= c == OPT_CLEAR;
			j->dry_run |= c == 'n';
			j->json |= c == 'j';
			if (c == OPT_POLICY)
				j->policy_text = optarg;
			if (c == OPT_NODE)
				j->nodes = optarg;
		}
	}
	return finish_options(j, argc - optind);
}

int cmd_populate(int argc, char **argv)
{
	struct job j = { .node = LIMITS_ANY_NODE };
	struct result *results = NULL;
	int i, count, err = parse(argc, argv, &j), failed = TOOL_OK;

	if (err)
		goto out;
	count = argc - optind;
	results = calloc((size_t)count, sizeof(*results));
	if (!results) {
		err = fail(TOOL_FAILED, "out of memory");
		goto out;
	}
	for (i = 0; i < count; i++)
		if (do_file(&j, argv[optind + i], &results[i]))
			failed = TOOL_FAILED;
	if (j.json)
		err = print_json(&j, results, (unsigned int)count);
	else
		print_table(results, (unsigned int)count);
out:
	free(results);
	clearpages_policy_free(j.policy);
	return err < 0 ? TOOL_OK : err ? err : failed;
}
