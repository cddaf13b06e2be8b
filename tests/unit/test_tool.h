/* SPDX-License-Identifier: GPL-2.0-only */
/* For the tests of tools: cpus to run on, and what a function says on stderr. */
#ifndef TEST_TOOL_H
#define TEST_TOOL_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

/* ---- cpus ----------------------------------------------------------------- */

/* `count` cpus that this process may use, over again where it has fewer; how many differ. */
__attribute__((unused))
static unsigned int some_cpus(unsigned int *cpus, unsigned int count)
{
	unsigned int found = 0, cpu, i;
	cpu_set_t set;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	for (cpu = 0; cpu < CPU_SETSIZE && found < count; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[found++] = cpu;
	for (i = found; found && i < count; i++)
		cpus[i] = cpus[i % found];
	return found;
}

/* ---- stderr --------------------------------------------------------------- */

static char heard_text[4096];
static int heard_real = -1, heard_file = -1;

/* From here on stderr goes to a file. */
__attribute__((unused))
static void listen_begin(void)
{
	char path[] = "/tmp/clearpages-test-XXXXXX";

	fflush(stderr);
	heard_real = dup(STDERR_FILENO);
	heard_file = mkstemp(path);
	if (heard_real < 0 || heard_file < 0 || dup2(heard_file, STDERR_FILENO) < 0) {
		printf("Bail out! cannot redirect stderr\n");
		exit(1);
	}
	unlink(path);
}

/* The end of it; what was said. */
__attribute__((unused))
static const char *listen_end(void)
{
	ssize_t n;

	fflush(stderr);
	n = pread(heard_file, heard_text, sizeof(heard_text) - 1, 0);
	heard_text[n > 0 ? n : 0] = '\0';
	dup2(heard_real, STDERR_FILENO);
	close(heard_real);
	close(heard_file);
	return heard_text;
}

/* "clearpages: ...", one line, with that word in it. */
__attribute__((unused))
static bool one_line(const char *text, const char *word)
{
	const char *end = strchr(text, '\n');

	if (end && !end[1] && !strncmp(text, "clearpages: ", 12) && strstr(text, word))
		return true;
	tap_note("expected one line with \"%s\", heard \"%s\"", word, text);
	return false;
}

#endif
