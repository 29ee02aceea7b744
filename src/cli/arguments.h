/* SPDX-License-Identifier: MIT */
/*
 * arguments.h -- takes arguments: all functions except the last three are a
 * command_option.take for a field of one type. strtoul(3) and strtod(3) alone
 * would accept blanks, signs and words.
 */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include <stdint.h>
#include <sys/types.h>

#include "command.h"

/* bool: becomes true. */
int arguments_flag(const struct command_option *option, void *field,
                   const char *unused);

/* bool: becomes false. */
int arguments_clear(const struct command_option *option, void *field,
                    const char *unused);

/* An enum: becomes the option's number. */
int arguments_enum(const struct command_option *option, void *field,
                   const char *unused);

/* An enum: becomes the index of VALUE in the option's words ("a|b|c"). */
int arguments_word(const struct command_option *option, void *field,
                   const char *value);

/* const char *: becomes VALUE. */
int arguments_text(const struct command_option *option, void *field,
                   const char *value);

/* uint32_t: a number of rows or levels. 0 means all. */
int arguments_count(const struct command_option *option, void *field,
                    const char *value);

/* double: a percentage from 0 to 1000000, with or without "%". */
int arguments_percent(const struct command_option *option, void *field,
                      const char *value);

/* These functions, with what they expect. */
#define ARGUMENTS_COUNT arguments_count, .words = "a number, 0 for all"
#define ARGUMENTS_PERCENT arguments_percent, .words = "percent"

/* uint64_t: 0.1 to 86400 seconds, in ns. */
int arguments_seconds(const struct command_option *option, void *field,
                      const char *value);

/* Report that OPTION cannot have VALUE, and what it expects (its words).
 * Returns STATUS_USAGE. */
int arguments_refuse(const struct command_option *option, const char *value);

/* Parse digits with at most one point, up to MOST. Returns the text after
 * them, or NULL if TEXT does not begin so. */
const char *arguments_fraction(const char *text, double most, double *number);

/* Parse a pid, which is digits alone. Returns 0, or -1. */
int arguments_pid(const char *text, pid_t *pid);

#endif
