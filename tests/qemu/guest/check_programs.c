// SPDX-License-Identifier: GPL-2.0-only
/* Programs that need this guest and not the module: each file in /tests is a check. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"

#define FOLDER "/tests"

/* Its output goes on to the console; TAP, so a line for each of its cases. */
static void read_output(FILE *output, unsigned int *ok, unsigned int *not_ok)
{
	char line[1024];

	while (fgets(line, sizeof(line), output)) {
		line[strcspn(line, "\n")] = 0;
		say("%s: %s", check_name(), line);
		*ok += !strncmp(line, "ok ", 3);
		*not_ok += !strncmp(line, "not ok", 6);
	}
}

static void run_program(void)
{
	unsigned int ok = 0, not_ok = 0;
	int ends[2], status;
	char path[300];
	FILE *output;
	pid_t pid;

	snprintf(path, sizeof(path), FOLDER "/%s", check_name());
	if (pipe(ends))
		fail("pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		close(ends[0]);
		close(ends[1]);
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	output = fdopen(ends[0], "r");
	if (pid > 0 && output)
		read_output(output, &ok, &not_ok);
	else
		fail("%s cannot be started: %s", path, strerror(errno));
	status = wait_for(pid, check_name());
	if (status || not_ok || !ok)
		fail("exit status %d, %u times ok, %u times not ok; see the console", status, ok,
		     not_ok);
}

size_t add_programs(struct check *checks)
{
	DIR *dir = opendir(FOLDER);
	struct dirent *d;
	size_t n = 0;

	while (dir && n < PROGRAMS && (d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		checks[n].name = strdup(d->d_name);
		checks[n++].run = run_program;
	}
	if (dir)
		closedir(dir);
	return n;
}

/* In the plan only as long as there are none. */
void check_programs(void)
{
	fail("no program in " FOLDER);
}
