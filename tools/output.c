// SPDX-License-Identifier: GPL-2.0-only
/* Tables, JSON, progress and the end of standard output: see output.h. */
#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "tool.h"

struct table {
	struct libscols_table *scols;
	unsigned int columns;
};

/* The first error on stdout: when main comes to close it, errno is long gone. */
static int stdout_error;

static void out_of_memory(void)
{
	exit(fail(TOOL_FAILED, "out of memory"));
}

/* Write at once, with all that has gathered before: an error still has its reason then. */
static void put(const char *text)
{
	errno = 0;
	if ((fputs(text, stdout) < 0 || fflush(stdout)) && !stdout_error)
		stdout_error = errno;
}

struct table *table_new(const char *const *columns, unsigned int count)
{
	struct table *t = calloc(1, sizeof(*t));
	unsigned int i;

	if (!t)
		out_of_memory();
	t->columns = count;
	t->scols = scols_new_table();
	if (!t->scols)
		out_of_memory();
	for (i = 0; i < count; i++) {
		const bool right = columns[i][0] == '>';

		if (!scols_table_new_column(t->scols, columns[i] + right, 0,
					    right ? SCOLS_FL_RIGHT : 0))
			out_of_memory();
	}
	return t;
}

void table_row(struct table *t, const char *const *cells)
{
	struct libscols_line *line = scols_table_new_line(t->scols, NULL);
	unsigned int i;

	if (!line)
		out_of_memory();
	for (i = 0; i < t->columns; i++)
		if (cells[i] && cells[i][0] && scols_line_set_data(line, i, cells[i]))
			out_of_memory();
}

void table_print(struct table *t)
{
	char *text = NULL;

	/* To a string first: on a full device libsmartcols would not say why. */
	if (scols_print_table_to_string(t->scols, &text))
		out_of_memory();
	if (text) {
		put(text);
		put("\n");
	}
	free(text);
	scols_unref_table(t->scols);
	free(t);
}

int json_print(json_t *value)
{
	char *text = value ? json_dumps(value, JSON_INDENT(2) | JSON_PRESERVE_ORDER |
					JSON_ENCODE_ANY | JSON_ENSURE_ASCII |
					JSON_REAL_PRECISION(12)) : NULL;

	json_decref(value);
	if (!text)
		return fail(TOOL_FAILED, "JSON: out of memory, or a string that is not UTF-8");
	put(text);
	put("\n");
	free(text);
	return stdout_error ? TOOL_FAILED : TOOL_OK;
}

json_int_t json_count(uint64_t n)
{
	return n > INT64_MAX ? INT64_MAX : (json_int_t)n;
}

/*
 * As gnulib's close_stdout(): a stdout that was closed from the start matters
 * only if something was to be written there.
 */
int output_close(int code)
{
	const bool pending = __fpending(stdout) != 0;
	const bool failed = ferror(stdout) != 0;

	progress(NULL);
	if (fclose(stdout) && !stdout_error && (failed || pending || errno != EBADF))
		stdout_error = errno;
	if (!failed && !stdout_error)
		return code;
	return fail(TOOL_FAILED, "standard output: %s: the output is incomplete",
		    stdout_error ? strerror(stdout_error) : "write error");
}

void progress(const char *format, ...)
{
	static bool shown;
	char line[256];
	va_list args;

	if (!format) {
		if (shown)
			fputs("\r\033[K", stderr);
		shown = false;
		return;
	}
	if (!isatty(STDERR_FILENO))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	text_clean(line);
	fprintf(stderr, "\r\033[K%s", line);
	fflush(stderr);
	shown = true;
}
