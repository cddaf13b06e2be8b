/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CLEARPAGES_BENCH_HELP_H
#define CLEARPAGES_BENCH_HELP_H

/* What --help prints for BENCH_MAIN, BENCH_FAULT or BENCH_CLEAR. */
const char *bench_help(unsigned int command);

#endif
