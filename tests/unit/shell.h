/* SPDX-License-Identifier: MIT */
/*
 * shell.h -- a compiler or linker that a test needs, run in its directory, and
 * what it reads there.
 */
#ifndef TESTS_UNIT_SHELL_H
#define TESTS_UNIT_SHELL_H

#include <stdbool.h>

/* Run a shell command in DIRECTORY, silently. Whether it succeeded. */
bool shell_in(const char *directory, const char *command);

/* Write TEXT to the file NAME in DIRECTORY. Whether it succeeded. */
bool shell_write(const char *directory, const char *name, const char *text);

/* Remove DIRECTORY and all in it. Returns 0 or -1, for a group's teardown. */
int shell_remove(const char *directory);

#endif
