/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "bench.h"
#include "commands.h"

int cmd_bench(int argc, char **argv)
{
	static const struct {
		const char *name;
		unsigned int command;
		int (*run)(const struct bench *b);
	} kinds[] = {
		{ "fault", BENCH_FAULT, bench_fault },
		{ "clear", BENCH_CLEAR, bench_clear },
	};
	unsigned int command = BENCH_MAIN, i;
	int (*run)(const struct bench *b) = bench_headline;
	struct bench b;
	int err;

	for (i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(argv[1], kinds[i].name)) {
			command = kinds[i].command;
			run = kinds[i].run;
		}
	}
	if (command != BENCH_MAIN) {
		argc--;
		argv++;
	}
	err = bench_parse(argc, argv, command, &b);
	if (!err)
		err = run(&b);
	reserve_release();
	bench_free(&b);
	return err < 0 ? TOOL_OK : err;
}
