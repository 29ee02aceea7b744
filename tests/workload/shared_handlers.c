/* SPDX-License-Identifier: MIT */
/*
 * shared_handlers.c -- a process shares its table of signal handlers with a
 * child (CLONE_SIGHAND of clone(2)), and ends while the child lives on. The
 * child must still get the signal that reports the end to it.
 *
 * The other ways are of children with a copy of the table. A thread starts them
 * while the process ends. No signal that the process handles may be ignored
 * there.
 *
 * Usage: shared_handlers quick|exit|thread|fork|vfork|spawn
 * Prints "ok", or what is wrong.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define HEARD 7
#define DEAF 8

/* Only a child that misses its signal takes so many seconds. */
#define PATIENCE 20

static volatile uint64_t sink;
static int ready[2];
static char stack[65536] __attribute__((aligned(16)));
static const char *program;

static void
hear(int signo)
{
    (void)signo;
    _exit(HEARD);
}

static int
share(void *unused)
{
    (void)unused;
    prctl(PR_SET_PDEATHSIG, SIGALRM);
    if (write(ready[1], "", 1) != 1)
        _exit(DEAF);
    for (;;)
        pause();
}

static void *
wait_for_nothing(void *unused)
{
    (void)poll(NULL, 0, -1);
    return unused;
}

/* Whether this process ignores SIGALRM, as its status. */
static int
look(void)
{
    struct sigaction now;
    sigaction(SIGALRM, NULL, &now);
    return now.sa_handler == SIG_IGN ? DEAF : HEARD;
}

static pid_t
start(const char *way)
{
    char *arguments[] = {(char *)(uintptr_t)program, "look", NULL};
    pid_t pid = -1;
    if (strcmp(way, "fork") == 0 && (pid = fork()) == 0)
        _exit(look());
    if (strcmp(way, "vfork") == 0 && (pid = vfork()) == 0) {
        execv(program, arguments);
        _exit(HEARD);
    }
    if (strcmp(way, "spawn") == 0 &&
        posix_spawn(&pid, program, NULL, NULL, arguments, environ) != 0)
        return -1;
    return pid;
}

/* Start children for as long as the process lives. */
static void *
start_children(void *way)
{
    for (;;) {
        int status = 0;
        pid_t pid = start(way);
        (void)poll(NULL, 0, 1);
        if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
            WEXITSTATUS(status) == DEAF)
            puts("a child ignores what its parent handles");
    }
    return NULL;
}

static void
end_before_child(bool has_thread, bool is_quick)
{
    pthread_t thread;
    char byte;
    if (has_thread)
        pthread_create(&thread, NULL, wait_for_nothing, NULL);
    if (clone(share, stack + sizeof(stack),
              CLONE_VM | CLONE_SIGHAND | CLONE_FS | CLONE_FILES | SIGCHLD,
              NULL) < 0 ||
        read(ready[0], &byte, 1) != 1)
        _exit(1);
    sink += work_burn(150);
    if (is_quick)
        _exit(0);
    exit(0);
}

static void
end_beside_children(const char *way)
{
    pthread_t thread;
    pthread_create(&thread, NULL, start_children, (void *)(uintptr_t)way);
    sink += work_burn(300);
    exit(0);
}

/* All children of this process end as they must. */
static bool
check(const char *way)
{
    int status;
    alarm(PATIENCE);
    while (waitpid(-1, &status, 0) > 0)
        if (!WIFEXITED(status) ||
            (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != HEARD)) {
            printf("%s: a process ends with status %x\n", way, status);
            return false;
        }
    return true;
}

static void
give_up(int signo)
{
    static const char text[] = "the child has not got its signal\n";
    (void)signo;
    (void)!write(STDOUT_FILENO, text, sizeof(text) - 1);
    kill(0, SIGKILL);
}

int
main(int count, char **arguments)
{
    program = arguments[0];
    const char *way = count > 1 ? arguments[1] : "quick";
    if (strcmp(way, "look") == 0)
        return look();
    setvbuf(stdout, NULL, _IOLBF, 0);
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    signal(SIGALRM, hear);
    if (pipe(ready) != 0)
        return 1;
    pid_t pid = fork();
    if (pid == 0 && (strcmp(way, "quick") == 0 || strcmp(way, "exit") == 0 ||
                     strcmp(way, "thread") == 0))
        end_before_child(strcmp(way, "thread") == 0, strcmp(way, "exit") != 0);
    if (pid == 0)
        end_beside_children(way);
    signal(SIGALRM, give_up);
    if (check(way))
        puts("ok");
    return 0;
}
