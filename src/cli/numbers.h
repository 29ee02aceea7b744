/* SPDX-License-Identifier: MIT */
/* numbers.h -- numbers in the arguments of commands. strtoul and strtod alone
 * would take blanks, signs and words. */
#ifndef CLI_NUMBERS_H
#define CLI_NUMBERS_H

#include <stdint.h>
#include <sys/types.h>

/* Take -n TEXT, a number of rows, 0 for all, into *ROWS; complain about another
 * text in the name of COMMAND. Returns STATUS_DONE or STATUS_USAGE. */
int numbers_take_rows(const char *command, const char *text, uint32_t *rows);

/* The same for --depth TEXT, the most levels of a tree, 0 for all. */
int numbers_take_depth(const char *command, const char *text, uint32_t *depth);

/* A percentage from 0 to 1000000, fractions allowed, with or without "%".
 * Returns 0, or -1. */
int numbers_percent(const char *text, double *percent);

/* The number of a process, digits alone. Returns 0, or -1. */
int numbers_pid(const char *text, pid_t *pid);

/* A time from 0.1 to 86400 seconds, fractions allowed, in ns. Returns 0, or -1.
 */
int numbers_seconds(const char *text, uint64_t *time);

#endif
