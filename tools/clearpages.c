// SPDX-License-Identifier: GPL-2.0-only
/* The command: finds the subcommand, and answers for standard output at the end. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clearpages.h"
#include "commands.h"
#include "output.h"
#include "tool.h"

/* One row per subcommand; its own --help has the rest. */
static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} commands[] = {
	{ "bench", cmd_bench, "measure how fast this machine makes huge pages ready" },
	{ "list", cmd_list, "show what this machine has: processor, caches, variants, policies" },
	{ "module", cmd_module, "put clearpages.ko into the kernel, take it out, set its policy" },
	{ "populate", cmd_populate, "give files in memory all their pages, and zero them if asked" },
	{ "status", cmd_status, "show what zeroes huge pages in this kernel, and what would help" },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int usage(FILE *to)
{
	size_t i;

	fputs("Usage: clearpages COMMAND [OPTION]...\n"
	      "Zero huge pages at the speed of the memory: measure, choose, show.\n"
	      "\n"
	      "Commands:\n", to);
	for (i = 0; i < COMMANDS; i++)
		fprintf(to, "  %-14s %s\n", commands[i].name, commands[i].what);
	fputs("\n"
	      "Options:\n"
	      "  -h, --help     this text; `clearpages help COMMAND` has a command's options\n"
	      "  -V, --version  the release\n"
	      "\n"
	      "Environment:\n"
	      "  CLEARPAGES_POLICY  the library's default policy, such as `ranges,batch=8M`\n"
	      "\n"
	      "Exit codes:\n"
	      "  0 done, 1 failed or done in part, 2 wrong usage, 77 not possible on this machine\n",
	      to);
	return TOOL_OK;
}

/*
 * With 0, 1 or 2 closed the next open() would take that number, and messages
 * would go into whatever that was. A descriptor that refuses them takes it.
 */
static void fill_standard_descriptors(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static int unknown(const char *name)
{
	char list[256] = "";
	size_t used = 0, i;

	for (i = 0; i < COMMANDS && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
					 !i ? "" : i + 1 < COMMANDS ? ", " : " or ",
					 commands[i].name);
	return fail(TOOL_USAGE, "'%.48s%s': no such %s, expected %s, or --help", name,
		    strlen(name) > 48 ? "..." : "", *name == '-' ? "option" : "command", list);
}

static int run(int argc, char **argv)
{
	const struct command *c = commands;
	char why[512];
	int err;

	while (c < commands + COMMANDS && strcmp(c->name, argv[1]))
		c++;
	if (c == commands + COMMANDS)
		return unknown(argv[1]);
	/* The library goes on with `auto`; a measurement of what was not asked for is worse. */
	err = clearpages_policy_default(why, sizeof(why));
	if (err)
		return fail(err == -EOPNOTSUPP ? TOOL_UNSUPPORTED : TOOL_USAGE,
			    "environment variable %s", why);
	return c->run(argc - 1, argv + 1);
}

static bool is_one_of(const char *word, const char *const *words)
{
	while (*words && strcmp(word, *words))
		words++;
	return *words != NULL;
}

static int start(int argc, char **argv)
{
	static const char *const help[] = { "help", "-h", "--help", NULL };
	static const char *const version[] = { "-V", "--version", NULL };
	int words;

	if (argc < 2) {
		usage(stderr);
		return TOOL_USAGE;
	}
	if (!is_one_of(argv[1], help) && !is_one_of(argv[1], version))
		return run(argc, argv);
	words = strcmp(argv[1], help[0]) ? 2 : 3;
	if (argc > words)
		return fail(TOOL_USAGE, "'%.48s': expected nothing after %.48s", argv[words],
			    argv[words - 1]);
	if (argc == 3)
		return run(3, (char *[]){ argv[0], argv[2], (char[]){ "--help" }, NULL });
	if (is_one_of(argv[1], help))
		return usage(stdout);
	printf("clearpages %s\n", clearpages_version());
	return TOOL_OK;
}

int main(int argc, char **argv)
{
	fill_standard_descriptors();
	/* Numbers keep their point, and messages their language: programs read both. */
	setlocale(LC_CTYPE, "");
	/* A reader that has gone is an error like a full disk, with its line and exit code. */
	signal(SIGPIPE, SIG_IGN);
	return output_close(start(argc, argv));
}
