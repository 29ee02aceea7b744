/* SPDX-License-Identifier: MIT */
/*
 * switches.c -- two processes or two threads hand a byte to and fro on one CPU.
 * Each time costs two switches and next to no work.
 *
 * Arguments: "processes" or "threads", and how often.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int there[2], back[2];
static long count;

static void
check(int is_right, const char *what)
{
    if (!is_right) {
        perror(what);
        exit(1);
    }
}

static void *
answer(void *unused)
{
    char byte;

    for (long i = 0; i < count; i++)
        check(read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1,
              "answer");
    return unused;
}

static void
ask(void)
{
    char byte = 0;

    for (long i = 0; i < count; i++)
        check(write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1,
              "ask");
}

int
main(int argc, char **argv)
{
    pthread_t thread;
    cpu_set_t one;
    int cpu = sched_getcpu();

    check(argc == 3, "usage: switches processes|threads COUNT");
    count = atol(argv[2]);
    CPU_ZERO(&one);
    CPU_SET((size_t)(cpu < 0 ? 0 : cpu), &one);
    check(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
    check(pipe(there) == 0 && pipe(back) == 0, "pipe");
    if (strcmp(argv[1], "threads") == 0) {
        check(pthread_create(&thread, NULL, answer, NULL) == 0, "thread");
        ask();
        pthread_join(thread, NULL);
        return 0;
    }
    if (fork() == 0) {
        answer(NULL);
        _exit(0);
    }
    ask();
    wait(NULL);
    return 0;
}
