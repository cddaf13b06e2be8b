/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables for people, JSON for programs; and the end of standard output. */
#ifndef CLEARPAGES_OUTPUT_H
#define CLEARPAGES_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A table by libsmartcols. Columns are given as names; one that begins with
 * '>' is set flush right (and shown without it). Cells are copied; NULL or ""
 * is an empty cell. Out of memory ends the program by fail(): nothing is half
 * printed.
 */
struct table;

struct table *table_new(const char *const *columns, unsigned int count);
void table_row(struct table *t, const char *const *cells);

/* Print on stdout and free. */
void table_print(struct table *t);

/*
 * Print one JSON value and a newline on stdout, in ASCII: no string in it is an order
 * to the terminal. Steals the reference. Returns
 * TOOL_OK, or TOOL_FAILED with the error line printed.
 */
int json_print(json_t *value);

/* A count for json_pack()'s I; what jansson cannot hold becomes the most that it can. */
json_int_t json_count(uint64_t n);

/*
 * Flush stdout; a device that is full or a stdout that is closed is TOOL_FAILED with its
 * error line, else code. To be called once, last, by main.
 */
int output_close(int code);

/*
 * A progress line on stderr, only if that is a terminal; made harmless by text_clean().
 * NULL wipes it.
 */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
