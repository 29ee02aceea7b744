/* SPDX-License-Identifier: MIT */
/*
 * changes_user.c -- a server of the usual kind: the superuser starts it, and
 * its workers become another user before they compute, with their messages in a
 * log of their own. Without workers it changes its own user.
 *
 * Arguments: how many workers, their user, and the log. The server says its own
 * id, and those of its workers.
 */
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define WORKERS 8
#define WORK_MS 400

FRAME static void
become_worker(uid_t user)
{
    if (setgroups(0, NULL) != 0 || setgid(user) != 0 || setuid(user) != 0)
        work_fail("become another user");
    work_burn(WORK_MS);
    KEEP_FRAME();
}

static void
redirect_messages(const char *log)
{
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);

    if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
        work_fail("open the log");
    close(fd);
}

int
main(int argc, char **argv)
{
    unsigned count = work_argument(argc, argv, 1, 2);
    uid_t user = work_argument(argc, argv, 2, 65534);
    pid_t workers[WORKERS];
    int status;

    work_expect("main;become_worker;work_burn");
    printf("server %ld\n", (long)getpid());
    if (count == 0)
        become_worker(user);
    for (unsigned i = 0; i < count && i < WORKERS; i++) {
        fflush(stdout);
        workers[i] = fork();
        if (workers[i] == 0) {
            redirect_messages(argc > 3 ? argv[3] : "/dev/null");
            become_worker(user);
            return 0;
        }
        printf("worker %ld\n", (long)workers[i]);
    }
    for (unsigned i = 0; i < count && i < WORKERS; i++)
        if (waitpid(workers[i], &status, 0) != workers[i] || status != 0)
            work_fail("wait for a worker");
    puts("ok");
    return 0;
}
