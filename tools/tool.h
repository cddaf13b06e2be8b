/* SPDX-License-Identifier: GPL-2.0-only */
/* What every part of the command needs: exit codes, the one error line, option values. */
#ifndef CLEARPAGES_TOOL_H
#define CLEARPAGES_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TOOL_OK = 0,
	TOOL_FAILED = 1,	/* the run failed or is partial */
	TOOL_USAGE = 2,
	TOOL_UNSUPPORTED = 77,	/* not on this machine */
};

/*
 * Print "clearpages: ..." on stderr, one line, and return the code, so that a
 * caller can write `return fail(TOOL_USAGE, ...)`.
 */
int fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A remark on stderr that is no failure. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * For text from outside (a file's name, say) that goes to a terminal: control
 * characters become '?', also those that UTF-8 has from U+0080 to U+009F, which
 * some terminals obey as they do ESC.
 */
void text_clean(char *text);

/*
 * Option values. Each prints its error line and returns TOOL_USAGE, or 0.
 * option: as the user wrote it ("-s", "--node"), for the message.
 */
int opt_size(const char *option, const char *text, uint64_t *bytes);
int opt_count(const char *option, const char *text, uint64_t low, uint64_t high,
	      uint64_t *count);

/* 4K 64K 2M 2MB 2Mi 1G hugepages-2048kB: a power of two, 4K at least. */
int opt_page(const char *option, const char *text, uint64_t *bytes);

/* One of a list of words, whole; *index says which. words ends with NULL. */
int opt_word(const char *option, const char *text, const char *const *words, unsigned int *index);

/* A comma-separated list of sizes; *bytes is allocated. */
int opt_sizes(const char *option, const char *text, uint64_t **bytes, unsigned int *count);

/*
 * --node: from here on memory comes from these nodes only, also that of threads to
 * be made. *nodes is the caller's to free, or NULL; *only becomes the node if it is one.
 */
struct bitmask;
int opt_nodes(const char *text, struct bitmask **nodes, int *only);

/*
 * The error line for what getopt_long() refused; returns TOOL_USAGE. c: what it returned.
 * For that opterr is 0, the short options begin with ':' (after a '+', if any), and
 * long options without a letter have values from 256 up.
 */
struct option;
int opt_refused(const char *command, int c, char **argv, const struct option *options);

/* "64K", "2M", "1.5G", exact or rounded to three digits. Returns buf. */
const char *size_text(uint64_t bytes, char *buf, size_t size);

/* The same, but all bytes where that would be rounded: for values that are to be typed. */
const char *size_exact(uint64_t bytes, char *buf, size_t size);

#endif
