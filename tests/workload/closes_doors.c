/* SPDX-License-Identifier: MIT */
/*
 * closes_doors.c -- a process that does what only one with a single thread may:
 * enters a namespace, or a sandbox that looks first at how many threads there
 * are (the links of /proc/self/task). It prints what it finds, computes, makes
 * a thread, and computes on.
 *
 * Usage: closes_doors WHAT MS
 *   WHAT  look, look_at (from a descriptor of /proc, as Chromium does),
 *         call (by system call), user (a user namespace), time (the first
 *         thread's own time namespace), or nothing
 *   MS    of CPU time before that
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

static FRAME void
before_closing(unsigned ms)
{
    work_burn(ms);
    KEEP_FRAME();
}

static FRAME void
behind_doors(void)
{
    work_burn(100);
    KEEP_FRAME();
}

static FRAME void *
of_thread(void *unused)
{
    work_burn(200);
    KEEP_FRAME();
    return unused;
}

static void
say_links(int result, const struct stat *status)
{
    printf("%d: %lu links\n", result, (unsigned long)status->st_nlink);
}

static void
look(const char *what)
{
    struct stat status = {0};
    int proc = open("/proc", O_RDONLY | O_DIRECTORY);

    if (strcmp(what, "look") == 0)
        say_links(stat("/proc/self/task", &status), &status);
    else if (strcmp(what, "look_at") == 0)
        say_links(fstatat(proc, "self/task/", &status, 0), &status);
    else
        say_links((int)syscall(SYS_newfstatat, proc, "self/task", &status, 0),
                  &status);
    close(proc);
}

static void
enter(const char *what)
{
    int fd, result;

    if (strcmp(what, "user") == 0) {
        result = unshare(CLONE_NEWUSER);
    } else {
        fd = open("/proc/self/ns/time", O_RDONLY);
        result = setns(fd, 0);
        close(fd);
    }
    printf("%s: %d\n", what, result == 0 ? 0 : errno);
}

int
main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "nothing";
    pthread_t thread;

    before_closing(work_argument(argc, argv, 2, 0));
    if (strcmp(what, "user") == 0 || strcmp(what, "time") == 0)
        enter(what);
    else if (strcmp(what, "nothing") != 0)
        look(what);
    behind_doors();
    if (pthread_create(&thread, NULL, of_thread, NULL) != 0)
        work_fail("pthread_create");
    pthread_join(thread, NULL);
    puts("ok");
    return 0;
}
