/* SPDX-License-Identifier: GPL-2.0-only */
/* The subcommands: argv[0] is the subcommand's name; they return an exit code. */
#ifndef CLEARPAGES_COMMANDS_H
#define CLEARPAGES_COMMANDS_H

int cmd_list(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_module(int argc, char **argv);
int cmd_populate(int argc, char **argv);
int cmd_status(int argc, char **argv);

#endif
