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

bool
shell_write(const char *directory, const char *name, const char *text)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return false;
    bool is_written = fputs(text, file) >= 0;
    return fclose(file) == 0 && is_written;
}

int
shell_remove(const char *directory)
{
    char command[512];
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return shell_in("/", command) ? 0 : -1;
}
