/* SPDX-License-Identifier: MIT */
/* shell.c -- see shell.h. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "shell.h"

bool
shell_in(const char *directory, const char *command)
{
    char line[1024];
    int status;

    snprintf(line, sizeof(line), "cd %s && { %s; } >/dev/null 2>&1", directory,
             command);
    status = system(line);
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
