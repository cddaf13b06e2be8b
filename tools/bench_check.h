/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CLEARPAGES_BENCH_CHECK_H
#define CLEARPAGES_BENCH_CHECK_H

struct bench;

/*
 * The options of bench fault or bench clear, each of them parsed: do they go
 * together? Fills in those that were not given. Returns an exit code, with the
 * error line printed.
 */
int bench_check(struct bench *b);

#endif
