/* SPDX-License-Identifier: MIT */
/*
 * cases.c -- see cases.h. Output is unbuffered: otherwise children would print
 * again what is not printed yet.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

unsigned cases_number;
static volatile uint64_t sink;
static atomic_uint heard;

FRAME void
cases_compute(unsigned ms)
{
    sink += work_burn(ms);
    KEEP_FRAME();
}

static void *
in_thread(void *argument)
{
    free(malloc(100000));
    cases_compute(2);
    return argument;
}

void
cases_use_libc(void)
{
    pthread_t thread;
    FILE *null = fopen("/dev/null", "w");

    for (unsigned i = 1; i < 300; i++)
        free(malloc(i * 100));
    if (null == NULL || fprintf(null, "%d\n", 1) != 2 || fclose(null) != 0)
        _exit(90);
    if (pthread_create(&thread, NULL, in_thread, NULL) != 0 ||
        pthread_join(thread, NULL) != 0)
        _exit(91);
}

void
cases_say_end(pid_t child)
{
    int status;

    if (child < 0 || waitpid(child, &status, __WALL) != child)
        work_fail("no such child");
    if (WIFEXITED(status))
        printf("child: status %d\n", WEXITSTATUS(status));
    else
        printf("child: signal %d\n", WTERMSIG(status));
}

void
cases_say_input(const int ends[2])
{
    char words[100];
    ssize_t got;

    close(ends[1]);
    while ((got = read(ends[0], words, sizeof words)) > 0)
        printf("%.*s", (int)got, words);
    puts("closed");
    close(ends[0]);
}

void
cases_report(int argc, char **argv)
{
    char line[256];
    FILE *status;

    if (argc < 2 || strcmp(argv[1], "report") != 0)
        return;
    printf("report of %s:", argc > 2 ? argv[2] : "nobody");
    for (int fd = 0; fd < 200; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            printf(" %d", fd);
    putchar('\n');
    status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "SigBlk", 6) == 0 ||
            strncmp(line, "SigIgn", 6) == 0 ||
            strncmp(line, "SigPnd", 6) == 0 || strncmp(line, "Threads", 7) == 0)
            fputs(line, stdout);
    exit(42);
}

static void
note_child(int signo)
{
    (void)signo;
    atomic_fetch_add(&heard, 1);
}

void
cases_hear_children(void)
{
    signal(SIGCHLD, note_child);
}

unsigned
cases_heard(void)
{
    return atomic_load(&heard);
}

void
cases_hear(unsigned count)
{
    for (unsigned i = 0; i < 2000 && cases_heard() < count; i++)
        work_sleep(1);
}

static void *
companion(void *argument)
{
    for (;;)
        cases_compute(10);
    return argument;
}

int
cases_run(int argc, char **argv, const struct named_case *cases, size_t count)
{
    pthread_t thread;
    int status;

    setvbuf(stdout, NULL, _IONBF, 0);
    pthread_create(&thread, NULL, companion, NULL);
    while (count > 0 && (argc < 2 || strcmp(cases->name, argv[1]) != 0)) {
        cases++;
        count--;
    }
    if (count == 0)
        work_fail("no such case");
    cases_number = work_argument(argc, argv, 2, cases->number);
    cases->run();
    if (waitpid(-1, &status, __WALL) != -1 || errno != ECHILD)
        puts("there is a child that nobody made");
    puts("ok");
    return 0;
}
