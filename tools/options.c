// SPDX-License-Identifier: GPL-2.0-only
/* Messages and option values: see tool.h. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clearpages.h"
#include "output.h"
#include "tool.h"

#define A_SIZE "expected a size such as 4096, 64K, 2M or 1.5G"
#define A_PAGE "expected a page size: 4K or a larger power of two, such as 64K, 2M, 1G " \
	       "or hugepages-2048kB"

/* As much of a value as a message quotes. */
#define QUOTE 48

/*
 * A value quoted for a message. What people type by mistake can be a whole
 * file: the part that says what was expected must not be lost behind it.
 */
static const char *quote(const char *text, char buf[QUOTE + 8])
{
	if (strlen(text) <= QUOTE)
		snprintf(buf, QUOTE + 8, "'%s'", text);
	else
		snprintf(buf, QUOTE + 8, "'%.*s...'", QUOTE, text);
	return buf;
}

void text_clean(char *text)
{
	unsigned char *c = (unsigned char *)text;

	for (; *c; c++) {
		if (iscntrl(*c))
			*c = '?';
		else if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
			c[0] = c[1] = '?';
	}
}

/*
 * One line, one write: messages of several processes on one terminal stay
 * whole, and a newline or an escape sequence inside a value does no harm.
 */
static void __attribute__((format(printf, 1, 0))) message(const char *format, va_list args)
{
	static const char prefix[] = "clearpages: ";
	char line[2048];
	size_t start = sizeof(prefix) - 1, length;

	memcpy(line, prefix, sizeof(prefix));
	vsnprintf(line + start, sizeof(line) - start - 1, format, args);
	text_clean(line);
	length = strlen(line);
	line[length] = '\n';
	progress(NULL);
	fwrite(line, 1, length + 1, stderr);
}

int fail(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message(format, args);
	va_end(args);
	return code;
}

void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message(format, args);
	va_end(args);
}

int opt_size(const char *option, const char *text, uint64_t *bytes)
{
	char quoted[QUOTE + 8];
	int err = clearpages_size_parse(text, bytes);

	if (!err && *bytes)
		return 0;
	quote(text, quoted);
	if (!*text)
		return fail(TOOL_USAGE, "%s '': empty, " A_SIZE, option);
	if (!err)
		return fail(TOOL_USAGE, "%s %s: less than a byte, " A_SIZE, option, quoted);
	if (*text == '-')
		return fail(TOOL_USAGE, "%s %s: negative, " A_SIZE, option, quoted);
	if (err == -ERANGE)
		return fail(TOOL_USAGE, "%s %s: too large, expected less than 8388608T", option,
			    quoted);
	return fail(TOOL_USAGE, "%s %s: not a size, " A_SIZE, option, quoted);
}

int opt_count(const char *option, const char *text, uint64_t low, uint64_t high, uint64_t *count)
{
	char quoted[QUOTE + 8], *end;

	/* strtoull() would take blanks, signs and "-1" as a very large number. */
	if (isdigit((unsigned char)*text)) {
		errno = 0;
		*count = strtoull(text, &end, 10);
		if (!errno && !*end && *count >= low && *count <= high)
			return 0;
	}
	quote(text, quoted);
	if (high == UINT64_MAX)
		return fail(TOOL_USAGE, "%s %s: expected a whole number from %" PRIu64 " up",
			    option, quoted, low);
	return fail(TOOL_USAGE, "%s %s: expected a whole number from %" PRIu64 " to %" PRIu64,
		    option, quoted, low, high);
}

int opt_page(const char *option, const char *text, uint64_t *bytes)
{
	static const char sysfs[] = "hugepages-";
	const size_t length = sizeof(sysfs) - 1;
	char quoted[QUOTE + 8];
	const char *number = text;

	if (!strncmp(text, sysfs, length))
		number += length;
	if (!clearpages_size_parse(number, bytes) && *bytes >= 4096 && !(*bytes & (*bytes - 1)))
		return 0;
	return fail(TOOL_USAGE, "%s %s: " A_PAGE, option, quote(text, quoted));
}

int opt_word(const char *option, const char *text, const char *const *words, unsigned int *index)
{
	char quoted[QUOTE + 8], list[512] = "";
	size_t used = 0;
	unsigned int i;

	for (i = 0; words[i]; i++) {
		if (!strcmp(text, words[i])) {
			*index = i;
			return 0;
		}
	}
	for (i = 0; words[i] && used < sizeof(list); i++)
		used += snprintf(list + used, sizeof(list) - used, "%s%s",
				 !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
	return fail(TOOL_USAGE, "%s %s: expected %s", option, quote(text, quoted), list);
}

int opt_sizes(const char *option, const char *text, uint64_t **bytes, unsigned int *count)
{
	char *copy = strdup(text), *rest = copy, *item;
	unsigned int n = 1, i = 0;
	uint64_t *sizes;
	const char *c;
	int ret = 0;

	for (c = text; *c; c++)
		n += *c == ',';
	sizes = calloc(n, sizeof(*sizes));
	if (!copy || !sizes) {
		ret = fail(TOOL_FAILED, "%s: out of memory", option);
		goto out;
	}
	while (!ret && (item = strsep(&rest, ",")))
		ret = opt_size(option, item, &sizes[i++]);
	if (!ret) {
		*bytes = sizes;
		*count = n;
		sizes = NULL;
	}
out:
	free(sizes);
	free(copy);
	return ret;
}

int opt_refused(const char *command, int c, char **argv, const struct option *options)
{
	char quoted[QUOTE + 8];
	const struct option *o = options;

	while (o->name && o->val != optopt)
		o++;
	if (c == ':' && o->name && !strncmp(argv[optind - 1], "--", 2))
		return fail(TOOL_USAGE, "--%s: needs a value, see 'clearpages %s --help'", o->name,
			    command);
	if (c == ':')
		return fail(TOOL_USAGE, "-%c: needs a value, see 'clearpages %s --help'", optopt,
			    command);
	if (optopt && o->name)
		return fail(TOOL_USAGE, "--%s: takes no value, see 'clearpages %s --help'",
			    o->name, command);
	if (optopt)
		snprintf(quoted, sizeof(quoted), "'-%c'", optopt);
	else
		quote(argv[optind - 1], quoted);
	return fail(TOOL_USAGE, "%s: unknown option, see 'clearpages %s --help'", quoted, command);
}

const char *size_text(uint64_t bytes, char *buf, size_t size)
{
	static const char units[] = "BKMGT";
	unsigned int u = 0;
	double value;
	uint64_t unit;

	while (u < 4 && bytes >> (10 * (u + 1)))
		u++;
	unit = UINT64_C(1) << (10 * u);
	value = (double)bytes / (double)unit;
	if (bytes % unit && value >= 1023.5 && u < 4) {
		value = 1;
		u++;
	}
	if (bytes % unit && value < 99.95) {
		snprintf(buf, size, "%.*f", value < 9.995 ? 2 : 1, value);
		while (buf[0] && buf[strlen(buf) - 1] == '0')
			buf[strlen(buf) - 1] = '\0';
		if (buf[0] && buf[strlen(buf) - 1] == '.')
			buf[strlen(buf) - 1] = '\0';
		snprintf(buf + strlen(buf), size - strlen(buf), "%c", units[u]);
	} else {
		snprintf(buf, size, "%.0f%c", value, units[u]);
	}
	return buf;
}

const char *size_exact(uint64_t bytes, char *buf, size_t size)
{
	uint64_t said;

	size_text(bytes, buf, size);
	if (clearpages_size_parse(buf, &said) || said != bytes)
		snprintf(buf, size, "%" PRIu64 "B", bytes);
	return buf;
}
