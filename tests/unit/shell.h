/* SPDX-License-Identifier: MIT */
/*
 * shell.h -- a compiler or linker that a test needs, run in its directory.
 */
#ifndef TESTS_UNIT_SHELL_H
#define TESTS_UNIT_SHELL_H

#include <stdbool.h>

/* Run a shell command in DIRECTORY, silently. Whether it succeeded. */
bool shell_in(const char *directory, const char *command);

#endif
