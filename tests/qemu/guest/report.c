// SPDX-License-Identifier: GPL-2.0-only
/* Checks, each in a process of its own, and their lines on the second serial port. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

#define WHY_SIZE 400
#define EXIT_SKIPPED 77

static char *why;	/* shared with the process of the check */
static const char *running;
static unsigned int lines, failures, seed;

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

/* The first reason stays: a check's processes may fail one after the other. */
static void set_why(const char *format, va_list args)
{
	if (!why[0])
		vsnprintf(why, WHY_SIZE, format, args);
}

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_why(format, args);
	va_end(args);
	_exit(1);
}

const char *failure(void)
{
	return why;
}

void forget_failure(void)
{
	why[0] = 0;
}

const char *check_name(void)
{
	return running;
}

unsigned int boot_seed(void)
{
	return seed;
}

void skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_why(format, args);
	va_end(args);
	_exit(EXIT_SKIPPED);
}

static void verdict(const char *format, ...)
{
	static int port = -1;
	char line[WHY_SIZE + 100];
	va_list args;
	int len;

	if (port < 0)
		port = open("/dev/ttyS1", O_WRONLY | O_NOCTTY | O_CLOEXEC);
	va_start(args, format);
	len = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	say("guest: %s", line);
	line[len++] = '\n';
	if (port < 0 || write(port, line, (size_t)len) != len)
		say("guest: no second serial port: %s", strerror(errno));
	else
		tcdrain(port);
}

static void one_check(const struct check *check)
{
	uint64_t start = now_ms(), ms;
	int status;
	pid_t pid;

	say("guest: %s ...", check->name);
	running = check->name;
	why[0] = 0;
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		random_seed(seed);
		check->run();
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	kill(-pid, SIGKILL);	/* whom it left behind */
	while (waitpid(-pid, NULL, 0) > 0 || errno == EINTR)
		;
	ms = now_ms() - start;
	lines++;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED) {
		verdict("skip %s %llu %s", check->name, (unsigned long long)ms, why);
	} else if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		verdict("ok %s %llu", check->name, (unsigned long long)ms);
	} else {
		failures++;
		if (WIFSIGNALED(status) && !why[0])
			snprintf(why, WHY_SIZE, "died of signal %d", WTERMSIG(status));
		verdict("not ok %s %llu %s", check->name, (unsigned long long)ms, why);
	}
}

void run_checks(const struct check *checks)
{
	if (!why)
		why = mmap(NULL, WHY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);
	if (!seed) {
		seed = setting("seed", (unsigned int)time(NULL) % 1000000 + 1);
		say("guest: seed %u", seed);
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (; checks->name; checks++)
		one_check(checks);
}

int end_checks(void)
{
	verdict("end %u", lines);
	return failures ? 1 : 0;
}
