/* SPDX-License-Identifier: MIT */
/*
 * command.h -- what main.c knows of a command, and what commands share. A
 * command gets its own arguments and returns the exit status. Its argv[0] is
 * "sprofile NAME", for messages.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

/* The exit statuses of all commands. */
enum {
    STATUS_DONE = 0,
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
    STATUS_SLOWER = 3, /* `sprofile diff --fail-above` found a regression */
};

/* The commands. Each is in a file of its name (or of its first word), with its
 * help page and its options. */
int cmd_control_dump(int argc, char **argv);
int cmd_control_start(int argc, char **argv);
int cmd_control_stop(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_stacks(int argc, char **argv);
int cmd_top(int argc, char **argv);

/* Print a message about wrong arguments of COMMAND (argv[0]), and where help
 * is. If FORMAT is NULL, only the hint is printed. Returns STATUS_USAGE. */
__attribute__((format(printf, 2, 3))) int
command_usage(const char *command, const char *format, ...);

#endif
