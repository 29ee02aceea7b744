/* SPDX-License-Identifier: MIT */
/*
 * title_over_environment.c -- wipes the memory of its arguments and of its
 * environment, where servers put their title, moves the environment away first
 * as they do, and forks. Both processes then work.
 *
 * Argument: milliseconds of CPU time each, 500.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

extern char **environ;

/* Replace each variable by a copy and zero what the kernel put there. */
static void
write_title(void)
{
    for (char **variable = environ; *variable != NULL; variable++) {
        char *original = *variable;
        *variable = strdup(original);
        if (*variable == NULL)
            work_fail("strdup");
        memset(original, 0, strlen(original));
    }
}

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 500);
    int status;

    write_title();
    pid_t child = fork();
    work_burn(ms);
    if (child == 0)
        _exit(3);
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3)
        work_fail("waitpid");
    puts("ok");
    return 0;
}
