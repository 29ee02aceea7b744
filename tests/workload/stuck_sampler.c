/* SPDX-License-Identifier: MIT */
/*
 * stuck_sampler.c -- a child stops one thread of this process for good, the one
 * that the library has made, as a disk would that never answers. Then the
 * process ends by exit(3). Without the library no thread is stopped.
 *
 * Argument: milliseconds of CPU time before that, 60.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static volatile uint64_t sink;

/* The highest thread of PROCESS that is not its first. */
static pid_t
find_other(pid_t process)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
    DIR *directory = opendir(path);
    const struct dirent *entry;
    pid_t found = 0;
    while (directory != NULL && (entry = readdir(directory)) != NULL)
        if (atoi(entry->d_name) > process)
            found = atoi(entry->d_name);
    return found;
}

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 60);
    int ready[2], status;
    char byte = 0;

    sink += work_burn(ms);
    if (pipe(ready) != 0)
        work_fail("pipe");
    /* Only Yama knows this call (prctl(2)). */
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        pid_t other = find_other(parent);
        if (other != 0 && (ptrace(PTRACE_SEIZE, other, NULL, NULL) != 0 ||
                           ptrace(PTRACE_INTERRUPT, other, NULL, NULL) != 0 ||
                           waitpid(other, &status, __WALL) != other))
            byte = 1;
        /* The kernel keeps a traced thread that has ended until then. */
        if (write(ready[1], &byte, 1) == 1 && other != 0)
            while (waitpid(other, &status, __WALL) == other &&
                   WIFSTOPPED(status))
                continue;
        _exit(0);
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1 || byte != 0)
        work_fail("ptrace");
    puts("ok");
    exit(21);
}
