/* SPDX-License-Identifier: MIT */
/*
 * many_children.c -- forked children that only wait, and some that wait for
 * longer than a process may without being sampled, and then compute. All end at
 * the same moment. It prints how long the forks and the ends took.
 *
 * Arguments: children, 100; how many of these, the last, compute, 4;
 * milliseconds of CPU time, 60; the end: close (of a pipe, which they see) or
 * term (SIGTERM); milliseconds before those compute, 500.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static volatile uint64_t sink;
static int go[2], done[2], end[2];

FRAME static void
child_computes(unsigned ms)
{
    sink += work_burn(ms);
    KEEP_FRAME();
}

_Noreturn static void
be_child(unsigned ms)
{
    char byte = 0;
    close(go[1]);
    close(end[1]);
    if (ms > 0) {
        while (read(go[0], &byte, 1) != 0)
            continue;
        child_computes(ms);
    }
    if (write(done[1], &byte, 1) != 1)
        _exit(2);
    while (read(end[0], &byte, 1) != 0)
        continue;
    _exit(1);
}

int
main(int argc, char **argv)
{
    unsigned count = work_argument(argc, argv, 1, 100);
    unsigned busy = work_argument(argc, argv, 2, 4);
    unsigned ms = work_argument(argc, argv, 3, 60);
    int by_signal = argc > 4 && strcmp(argv[4], "term") == 0;
    pid_t *children = calloc(count, sizeof(*children));
    char byte;

    if (children == NULL || pipe(go) != 0 || pipe(done) != 0 || pipe(end) != 0)
        work_fail("pipe");
    uint64_t start = work_now_ns();
    for (unsigned i = 0; i < count; i++) {
        children[i] = fork();
        if (children[i] < 0)
            work_fail("fork");
        if (children[i] == 0)
            be_child(i + busy >= count ? ms : 0);
    }
    uint64_t forked = work_now_ns();
    work_sleep(work_argument(argc, argv, 5, 500));
    close(go[1]);
    for (unsigned i = 0; i < count; i++)
        if (read(done[0], &byte, 1) != 1)
            work_fail("read");
    uint64_t ending = work_now_ns();
    for (unsigned i = 0; by_signal && i < count; i++)
        kill(children[i], SIGTERM);
    close(end[1]);
    for (unsigned i = 0; i < count; i++) {
        int status, expected = by_signal ? SIGTERM : 1 << 8;
        if (waitpid(children[i], &status, 0) != children[i] ||
            status != expected)
            work_fail("a child's status");
    }
    printf("fork %.3f ms end %.3f ms\nok\n", (double)(forked - start) / 1e6,
           (double)(work_now_ns() - ending) / 1e6);
    return 0;
}
