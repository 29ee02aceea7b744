/* SPDX-License-Identifier: MIT */
/* shell.h -- a compiler or linker that a test needs, run in its directory. */
#ifndef TESTS_UNIT_SHELL_H
#define TESTS_UNIT_SHELL_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Run a shell command in DIRECTORY, silently. Whether it succeeded. */
static inline bool
shell_in(const char *directory, const char *command)
{
    char line[1024];
    int status;

    snprintf(line, sizeof(line), "cd %s && { %s; } >/dev/null 2>&1", directory,
             command);
    status = system(line);
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#endif
