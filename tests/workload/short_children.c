/* SPDX-License-Identifier: MIT */
/*
 * short_children.c -- children that live for a millisecond: some end as they
 * are, others execute a program. It prints how much CPU time the kernel counted
 * for them, in microseconds.
 *
 * Arguments: how many of each, and the program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static uint64_t
run(const char *program)
{
    struct rusage usage;
    int status;
    pid_t child = fork();

    if (child == 0) {
        if (program != NULL)
            execl(program, program, (char *)NULL);
        _exit(program != NULL);
    }
    if (wait4(child, &status, 0, &usage) != child || status != 0)
        work_fail("a child");
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int
main(int argc, char **argv)
{
    unsigned count = work_argument(argc, argv, 1, 20);
    uint64_t used = 0;

    for (unsigned i = 0; i < count; i++) {
        used += run(NULL);
        used += run(argc > 2 ? argv[2] : "/bin/true");
    }
    printf("children %llu us\nok\n", (unsigned long long)used);
    return 0;
}
