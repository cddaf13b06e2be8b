/* SPDX-License-Identifier: GPL-2.0-only */
/* The command lines of bench, bench fault and bench clear. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_check.h"
#include "bench_help.h"

const char *const path_names[] = {
	[PATH_DEMAND] = "demand", [PATH_POPULATE] = "populate", [PATH_MADVISE] = "madvise",
	[PATH_TOUCH_THREADS] = "touch-threads", [PATH_PARALLEL] = "populate-parallel",
	[PATH_PAGER_SIGNAL] = "pager-signal", [PATH_PAGER_AHEAD] = "pager-ahead",
	[PATH_PAGER_THREAD] = "pager-thread", [PATH_POOL_EAGER] = "pool-eager",
	[PATH_POOL_CLEAN] = "pool-clean", NULL,
};

const char *const touch_names[] = {
	[TOUCH_FIRST] = "first",   [TOUCH_MIDDLE] = "middle", [TOUCH_LAST] = "last",
	[TOUCH_RANDOM] = "random", [TOUCH_NONE] = "none",     NULL,
};

const char *const walk_names[] = {
	[WALK_FORWARD] = "forward", [WALK_REVERSE] = "reverse", [WALK_RANDOM] = "random", NULL,
};

const char *const use_names[] = {
	[USE_NONE] = "none",   [USE_FIRST] = "first16K", [USE_RANDOM] = "random",
	[USE_WRITE] = "write", [USE_READ] = "read",      NULL,
};

enum { LONG_ONLY = 256, POLICY, ORDER, UNIT, TOUCH, THP, SHARED, NODE, CPUS, RESERVE,
       NO_RESERVE, MIN_TIME, USE, WALK };

#define BOTH (BENCH_FAULT | BENCH_CLEAR)
#define ALL (BOTH | BENCH_MAIN)

static const struct {
	struct option option;
	unsigned int commands;
} options[] = {
	{ { "size", required_argument, NULL, 's' }, BOTH },
	{ { "page", required_argument, NULL, 'p' }, BOTH },
	{ { "chunk", required_argument, NULL, 'k' }, BENCH_CLEAR },
	{ { "function", required_argument, NULL, 'f' }, BOTH },
	{ { "path", required_argument, NULL, 'f' }, BENCH_FAULT },
	{ { "loops", required_argument, NULL, 'l' }, ALL },
	{ { "threads", required_argument, NULL, 't' }, BOTH },
	{ { "seed", required_argument, NULL, 'r' }, ALL },
	{ { "cycles", no_argument, NULL, 'c' }, BOTH },
	{ { "policy", required_argument, NULL, POLICY }, BOTH },
	{ { "order", required_argument, NULL, ORDER }, BENCH_CLEAR },
	{ { "unit", required_argument, NULL, UNIT }, BENCH_CLEAR },
	{ { "use", required_argument, NULL, USE }, BENCH_FAULT },
	{ { "touch", required_argument, NULL, TOUCH }, BOTH },
	{ { "walk", required_argument, NULL, WALK }, BENCH_FAULT },
	{ { "thp", no_argument, NULL, THP }, BOTH },
	{ { "shared", no_argument, NULL, SHARED }, BENCH_FAULT },
	{ { "node", required_argument, NULL, NODE }, ALL },
	{ { "cpus", required_argument, NULL, CPUS }, ALL },
	{ { "json", no_argument, NULL, 'j' }, ALL },
	{ { "reserve", no_argument, NULL, RESERVE }, ALL },
	{ { "no-reserve", no_argument, NULL, NO_RESERVE }, ALL },
	{ { "min-time", required_argument, NULL, MIN_TIME }, ALL },
	{ { "help", no_argument, NULL, 'h' }, ALL },
};

#define OPTIONS (sizeof(options) / sizeof(options[0]))

static const char *command_name(unsigned int command)
{
	return command == BENCH_FAULT ? "bench fault" :
	       command == BENCH_CLEAR ? "bench clear" : "bench";
}

/* The options of one command, as getopt_long() wants them. */
static void allow(unsigned int command, struct option *allowed, char *letters)
{
	unsigned int i;

	*letters++ = ':';
	for (i = 0; i < OPTIONS; i++) {
		if (!(options[i].commands & command))
			continue;
		*allowed++ = options[i].option;
		if (options[i].option.val >= LONG_ONLY)
			continue;
		*letters++ = (char)options[i].option.val;
		if (options[i].option.has_arg)
			*letters++ = ':';
	}
	*letters = '\0';
	*allowed = (struct option){ 0 };
}

/* A list of words, each of which switches something on; nothing else is on then. */
static int parse_words(const char *option, const char *list, const char *const *names, bool *on,
		       unsigned int count)
{
	char *copy = strdup(list), *rest = copy, *word;
	int err = copy ? TOOL_OK : fail(TOOL_FAILED, "out of memory");
	unsigned int i;

	memset(on, 0, count * sizeof(*on));
	while (!err && (word = strsep(&rest, ","))) {
		/* "kernel": what the kernel does by itself, beside the library's ways. */
		if (names == path_names && !strcmp(word, "kernel"))
			word = (char *)path_names[PATH_DEMAND];
		err = opt_word(option, word, names, &i);
		if (!err)
			on[i] = true;
	}
	free(copy);
	return err;
}

static int keep(char **where, const char *text)
{
	free(*where);
	*where = strdup(text);
	return *where ? TOOL_OK : fail(TOOL_FAILED, "out of memory");
}

struct texts {
	const char *cpus, *nodes;
	bool touch, seed;
};

static int one_option(struct bench *b, int c, struct texts *t)
{
	uint64_t number = 0;
	unsigned int word = 0;
	int err = TOOL_OK;

	switch (c) {
	case 's':
		return opt_size("-s", optarg, &b->size);
	case 'p':
		return opt_page("-p", optarg, &b->page);
	case 'k':
		free(b->chunks);
		b->chunks = NULL;
		return opt_sizes("-k", optarg, &b->chunks, &b->chunk_count);
	case UNIT:
		free(b->units);
		b->units = NULL;
		return opt_sizes("--unit", optarg, &b->units, &b->unit_count);
	case 'f':
		return b->command == BENCH_FAULT ?
		       parse_words("-f", optarg, path_names, b->path, PATHS) :
		       keep(&b->functions, optarg);
	case USE:
		return parse_words("--use", optarg, use_names, b->use, USES);
	case ORDER:
		return keep(&b->orders, optarg);
	case POLICY:
		return bench_add_policies(b, optarg);
	case 'l':
		err = opt_count("-l", optarg, 1, 1000000, &number);
		b->rounds = (unsigned int)number;
		return err;
	case 't':
		err = opt_count("-t", optarg, 1, 1000000, &number);
		b->threads = (unsigned int)number;
		return err;
	case 'r':
		t->seed = true;
		return opt_count("-r", optarg, 0, INT64_MAX, &b->seed);
	case MIN_TIME:
		err = opt_count("--min-time", optarg, 1, 60000, &number);
		b->min_ns = number * 1000000;
		return err;
	case TOUCH:
		err = opt_word("--touch", optarg, touch_names, &word);
		b->touch = (enum touch)word;
		t->touch = true;
		return err;
	case WALK:
		err = opt_word("--walk", optarg, walk_names, &word);
		b->walk = (enum walk)word;
		return err;
	default:
		break;
	}
	b->thp |= c == THP;
	b->shared |= c == SHARED;
	b->json |= c == 'j';
	b->cycles |= c == 'c';
	if (c == NODE)
		t->nodes = optarg;
	if (c == CPUS)
		t->cpus = optarg;
	if (c == RESERVE)
		b->reserve = RESERVE_ASKED;
	if (c == NO_RESERVE)
		b->reserve = RESERVE_NEVER;
	return TOOL_OK;
}

static int parse(int argc, char **argv, struct bench *b, struct texts *t)
{
	struct option allowed[OPTIONS + 1];
	char letters[2 * OPTIONS + 2];
	const char *name = command_name(b->command);
	int c, err = TOOL_OK;

	allow(b->command, allowed, letters);
	optind = 0;
	opterr = 0;
	while (!err && (c = getopt_long(argc, argv, letters, allowed, NULL)) != -1) {
		if (c == 'h') {
			fputs(bench_help(b->command), stdout);
			return -1;
		}
		if (c == '?' || c == ':')
			return opt_refused(name, c, argv, allowed);
		err = one_option(b, c, t);
	}
	if (!err && optind < argc)
		return fail(TOOL_USAGE, "%s: '%s' is one word too many: see 'clearpages %s --help'",
			    name, argv[optind], name);
	return err;
}

int bench_parse(int argc, char **argv, unsigned int command, struct bench *b)
{
	struct texts t = { 0 };
	int err;

	*b = (struct bench){
		.command = command, .page = 2 << 20, .threads = 1, .rounds = 10,
		.min_ns = 20000000, .seed = 1, .path = { [PATH_DEMAND] = true },
		.use = { [USE_NONE] = true },
	};
	err = parse(argc, argv, b, &t);
	if (!err && t.seed && !t.touch && command == BENCH_FAULT)
		b->touch = TOUCH_RANDOM; /* as perf bench has it */
	if (!err && b->cycles)
		err = crew_can_count();
	if (!err)
		err = bench_place(b, t.cpus, t.nodes);
	return err || command == BENCH_MAIN ? err : bench_check(b);
}

void bench_free(struct bench *b)
{
	unsigned int i;

	for (i = 0; i < b->policy_count; i++) {
		free(b->policies[i].name);
		clearpages_policy_free(b->policies[i].policy);
	}
	free(b->policies);
	free(b->chunks);
	free(b->units);
	free(b->functions);
	free(b->orders);
	free(b->cpus);
}
