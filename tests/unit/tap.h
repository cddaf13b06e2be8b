/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Test Anything Protocol for test programs, in one header.
 *
 *	int main(void)
 *	{
 *		tap_ok(2 + 2 == 4, "sum of %d and %d", 2, 2);
 *		return tap_done();
 *	}
 *
 * One program, one translation unit: the counters are static. Not for several
 * threads at once: gather the result, then report it.
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static unsigned int tap_count, tap_failed;

/* One line, whatever is in the text: a newline would forge a result. */
__attribute__((unused, format(printf, 2, 0)))
static void tap_line(const char *head, const char *fmt, va_list ap)
{
	char text[512];

	vsnprintf(text, sizeof(text), fmt, ap);
	for (char *c = text; *c; c++)
		if (*c == '\n' || *c == '\r' || *c == '#')
			*c = *c == '#' ? '~' : ' ';
	printf("%s%s", head, text);
}

/* A diagnostic; lines before a "not ok" are shown with it. */
__attribute__((unused, format(printf, 1, 2)))
static void tap_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_line("# ", fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

/* A result. Says what it was given, so that a test can stop: if (!tap_ok(...)) */
#define tap_ok(cond, ...) tap_result((cond), __FILE__, __LINE__, __VA_ARGS__)

__attribute__((unused, format(printf, 4, 5)))
static bool tap_result(bool ok, const char *file, int line, const char *fmt, ...)
{
	char head[32];
	va_list ap;

	snprintf(head, sizeof(head), "%s %u - ", ok ? "ok" : "not ok", ++tap_count);
	va_start(ap, fmt);
	tap_line(head, fmt, ap);
	va_end(ap);
	putchar('\n');
	if (!ok) {
		tap_failed++;
		printf("# at %s:%d\n", file, line);
	}
	/* What a program that dies has found so far is not to be lost. */
	fflush(stdout);
	return ok;
}

/* A test that cannot run here: never counted as one that did. */
__attribute__((unused))
static void tap_skip(const char *name, const char *why)
{
	printf("ok %u - %s # SKIP %s\n", ++tap_count, name, why);
	fflush(stdout);
}

/* The plan; what main returns. A program that tested nothing has failed. */
__attribute__((unused))
static int tap_done(void)
{
	printf("1..%u\n", tap_count);
	fflush(stdout);
	return tap_failed || !tap_count ? 1 : 0;
}

#endif
