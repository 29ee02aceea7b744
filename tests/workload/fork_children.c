/* SPDX-License-Identifier: MIT */
/*
 * fork_children.c -- forks while its threads compute. Children compute and end
 * by _exit, by return and by exit in turn, and their status is checked. One
 * child is made by vfork and one by posix_spawn.
 *
 * Arguments: forks, 20; milliseconds of CPU time in each child, 50.
 */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

extern char **environ;

static atomic_bool stop;
static volatile uint64_t sink;

FRAME static void
child_work(unsigned ms)
{
    sink += work_burn(ms);
    KEEP_FRAME();
}

FRAME static void
parent_work(void)
{
    sink += work_burn(5);
    KEEP_FRAME();
}

static void *
worker(void *argument)
{
    while (!atomic_load(&stop))
        parent_work();
    return argument;
}

/* The status of a child, which must have ended by itself. */
static int
status_of(pid_t child)
{
    int status;

    if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
        work_fail("a child did not end by itself");
    return WEXITSTATUS(status);
}

static void
fork_one(unsigned index, unsigned ms)
{
    pid_t child = fork();

    if (child < 0)
        work_fail("fork");
    if (child == 0) {
        child_work(ms);
        if (index % 2 == 0)
            _exit(40 + (int)(index % 10));
        exit(40 + (int)(index % 10));
    }
    if (status_of(child) != 40 + (int)(index % 10))
        work_fail("a child had another status");
}

static void
other_ways(void)
{
    char *const arguments[] = {"true", NULL};
    pid_t child = vfork();

    if (child == 0)
        _exit(7);
    if (child < 0 || status_of(child) != 7)
        work_fail("vfork");
    if (posix_spawnp(&child, "true", NULL, NULL, arguments, environ) != 0 ||
        status_of(child) != 0)
        work_fail("posix_spawn");
    if (system("exit 3") != 3 << 8)
        work_fail("system");
}

int
main(int argc, char **argv)
{
    unsigned count = work_argument(argc, argv, 1, 20);
    unsigned ms = work_argument(argc, argv, 2, 50);
    pthread_t threads[2];

    work_expect("(child_work|parent_work);work_burn");
    for (unsigned i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, worker, NULL) != 0)
            work_fail("pthread_create");
    for (unsigned i = 0; i < count; i++)
        fork_one(i, ms);
    other_ways();
    atomic_store(&stop, true);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("ok");
    return 0;
}
