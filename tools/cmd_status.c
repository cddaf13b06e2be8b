// SPDX-License-Identifier: GPL-2.0-only
/* clearpages status: what zeroes huge pages in this kernel, and what would help. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "status.h"
#include "tool.h"

static const char usage_text[] =
	"Usage: clearpages status [OPTION]...\n"
	"Show how this kernel zeroes huge pages: is clearpages.ko in, with which policy and\n"
	"what has it done; what does the kernel do without it; and what would help here.\n"
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

static int show(const char *root, int (*print)(const struct status *))
{
	struct status *s = calloc(1, sizeof(*s));
	int code;

	if (!s)
		return fail(TOOL_FAILED, "out of memory");
	status_read(root, s);
	status_advise(s);
	code = print(s);
	free(s);
	return code;
}

int cmd_status(int argc, char **argv)
{
	int (*print)(const struct status *) = status_print;
	static char this_machine[] = "";
	char *root = this_machine;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":jh", options, NULL)) != -1) {
		switch (c) {
		case OPT_SYSROOT:
			root = optarg;
			if (check_root(root))
				return TOOL_USAGE;
			break;
		case 'j':
			print = status_json;
			break;
		case 'h':
			fputs(usage_text, stdout);
			return TOOL_OK;
		default:
			return opt_refused("status", c, argv, options);
		}
	}
	if (optind < argc)
		return fail(TOOL_USAGE, "status: '%.48s': expected nothing more", argv[optind]);
	return show(root, print);
}
