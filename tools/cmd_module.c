// SPDX-License-Identifier: GPL-2.0-only
/* clearpages module: clearpages.ko into the kernel and out again, and its policy. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "module.h"
#include "tool.h"

static const char usage_text[] =
	"Usage: clearpages module load [OPTION]... [FILE] [NAME=VALUE]...\n"
	"       clearpages module unload [OPTION]...\n"
	"       clearpages module policy [TEXT]\n"
	"Put clearpages.ko under the huge-page faults of the kernel that runs, take it out\n"
	"again, or show or change its policy. load and unload take root, and return when\n"
	"no task uses the old code any more; what does not get there in time is taken back.\n"
	"\n"
	"  FILE           the module; without it, the one that modprobe finds\n"
	"  NAME=VALUE     policy=, budget_us=, skip_zeroed= or selftest_all=, see\n"
	"                 clearpages_module(7)\n"
	"  TEXT           a policy such as `auto` or `ranges,batch=8M`, see clearpages(7)\n"
	"\n"
	"Options:\n"
	"      --timeout SECONDS  how long to wait for tasks (30)\n"
	"  -h, --help             this text\n";

enum { OPT_TIMEOUT = 256 };

static const struct option options[] = {
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

#define PARAMS_MAX 16

struct request {
	const struct module_calls *calls;
	char *const *words;		/* behind load, unload or policy */
	unsigned int count;
	unsigned int timeout_ms;
};

/* Names of the module's parameters, as in `policy=`: is that one of them, or a file's? */
static bool is_parameter(const char *word)
{
	size_t name = strspn(word, "abcdefghijklmnopqrstuvwxyz_");

	return name && word[name] == '=';
}

/* The kernel would only remark on a name that it does not know, and load the module. */
static int check_parameter(const char *word)
{
	static const char *const names[] = {
		"policy=", "budget_us=", "skip_zeroed=", "selftest_all=", NULL,
	};
	unsigned int i = 0;

	while (names[i] && strncmp(word, names[i], strlen(names[i])))
		i++;
	if (!names[i])
		return fail(TOOL_USAGE, "module load '%.48s': no such parameter, expected policy=, "
			    "budget_us=, skip_zeroed= or selftest_all=", word);
	/* Blanks end a parameter there, and quotes begin another kind of one. */
	if (!word[strlen(names[i])] || strpbrk(word, " \t\n\"'"))
		return fail(TOOL_USAGE, "module load '%.48s': expected a value without blanks or quotes",
			    word);
	return 0;
}

static int run_load(const struct request *r)
{
	const char *params[PARAMS_MAX], *file = NULL;
	unsigned int count = 0, i;

	for (i = 0; i < r->count; i++) {
		const char *word = r->words[i];

		if (!is_parameter(word)) {
			if (file)
				return fail(TOOL_USAGE, "module load '%.48s': one file only, and "
					    "NAME=VALUE", word);
			file = word;
			continue;
		}
		if (check_parameter(word))
			return TOOL_USAGE;
		if (count == PARAMS_MAX)
			return fail(TOOL_USAGE, "module load: more than %d parameters", PARAMS_MAX);
		params[count++] = word;
	}
	return module_load(r->calls, file, params, count, r->timeout_ms);
}

static int run_unload(const struct request *r)
{
	if (r->count)
		return fail(TOOL_USAGE, "module unload '%.48s': expected nothing more", r->words[0]);
	return module_unload(r->calls, r->timeout_ms);
}

static int run_policy(const struct request *r)
{
	struct module_state s;

	if (r->count > 1)
		return fail(TOOL_USAGE, "module policy '%.48s': one policy only, in one word",
			    r->words[1]);
	/* The kernel is not even told of a write of nothing. */
	if (r->count && !r->words[0][0])
		return fail(TOOL_USAGE, "module policy '': empty, expected a policy such as auto");
	if (r->count)
		return module_policy_set(r->calls, r->words[0]);
	module_state_read(r->calls->root, &s);
	if (!s.loaded)
		return fail(TOOL_FAILED, "module policy: the module is not loaded: "
			    "'clearpages module load'");
	printf("%s\n", s.policy);
	return TOOL_OK;
}

static int run(const struct request *r, const char *word)
{
	static const char *const words[] = { "load", "unload", "policy", NULL };
	static int (*const runs[])(const struct request *) = { run_load, run_unload, run_policy };
	unsigned int which;

	if (opt_word("module", word, words, &which))
		return TOOL_USAGE;
	return runs[which](r);
}

int cmd_module(int argc, char **argv)
{
	struct request r = { .calls = &module_kernel, .timeout_ms = MODULE_TIMEOUT_MS };
	uint64_t timeout_s;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case OPT_TIMEOUT:
			if (opt_count("--timeout", optarg, 1, 3600, &timeout_s))
				return TOOL_USAGE;
			r.timeout_ms = (unsigned int)timeout_s * 1000;
			break;
		case 'h':
			fputs(usage_text, stdout);
			return TOOL_OK;
		default:
			return opt_refused("module", c, argv, options);
		}
	}
	if (optind == argc)
		return fail(TOOL_USAGE, "module: expected load, unload or policy, see "
			    "'clearpages module --help'");
	r.words = argv + optind + 1;
	r.count = (unsigned int)(argc - optind - 1);
	return run(&r, argv[optind]);
}
