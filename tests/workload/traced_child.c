/* SPDX-License-Identifier: MIT */
/*
 * traced_child.c -- tries ptrace(2) out as strace does when it begins: a child
 * asks to be traced and stops, and its parent kills it at once. The child has
 * computed for some ms before, or not at all.
 *
 * Arguments: ms of CPU time of the child.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 0);
    int status;
    pid_t child = fork();

    if (child == 0) {
        if (ms > 0)
            work_burn(ms);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(1);
        raise(SIGSTOP);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        work_fail("see the child stop");
    kill(child, SIGKILL);
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
        work_fail("see the child end");
    printf("child %ld\n", (long)child);
    work_burn(100);
    puts("ok");
    return 0;
}
