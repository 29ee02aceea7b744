/* SPDX-License-Identifier: MIT */
/* numbers.h -- parses numbers in the arguments of commands. strtoul(3) and
 * strtod(3) alone would accept blanks, signs and words. */
#ifndef CLI_NUMBERS_H
#define CLI_NUMBERS_H

#include <stdint.h>
#include <sys/types.h>

/* Take -n TEXT, a number of rows, into *ROWS; 0 means all. Another text is
 * reported in the name of COMMAND. Returns STATUS_DONE or STATUS_USAGE. */
int numbers_take_rows(const char *command, const char *text, uint32_t *rows);

/* The same for --depth TEXT: the largest number of levels of a tree, 0 for all.
 */
int numbers_take_depth(const char *command, const char *text, uint32_t *depth);

/* Parse a percentage from 0 to 1000000, fractions allowed, with or without "%".
 * Returns 0, or -1. */
int numbers_percent(const char *text, double *percent);

/* Parse a pid, which is digits alone. Returns 0, or -1. */
int numbers_pid(const char *text, pid_t *pid);

/* Parse a time from 0.1 to 86400 seconds, fractions allowed, into *TIME, in ns.
 * Returns 0, or -1. */
int numbers_seconds(const char *text, uint64_t *time);

#endif
