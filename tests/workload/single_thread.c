/* SPDX-License-Identifier: MIT */
/*
 * single_thread.c -- makes no thread, and counts on what libc promises to such
 * a program: a handler on top of malloc may fork. It prints at each step
 * whether libc counts one thread: in a child, after a change of the user (which
 * must be that of all threads), and after it has made a thread.
 *
 * Argument: how many forks.
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define USER 65534u

static volatile unsigned forks, wrong, most;

static void
set_alarm(unsigned us)
{
    struct itimerval timer = {{0, 0}, {0, us}};

    setitimer(ITIMER_REAL, &timer, NULL);
}

static void
fork_now(int signo)
{
    int status;
    pid_t child = fork();

    (void)signo;
    if (child == 0)
        _exit(3);
    wrong += waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
             WEXITSTATUS(status) != 3;
    forks++;
    if (forks < most)
        set_alarm(200 + forks * 7 % 500);
}

static void
allocate_until_done(void)
{
    unsigned size = 0;

    signal(SIGALRM, fork_now);
    set_alarm(300);
    while (forks < most) {
        char *memory[64];

        for (unsigned i = 0; i < 64; i++) {
            memory[i] = malloc(2000 + size++ * 37 % 30000);
            *memory[i] = 1;
        }
        for (unsigned i = 0; i < 64; i++)
            free(memory[i]);
    }
    printf("%u of %u forks wrong\n", wrong, forks);
}

static void
say(const char *when)
{
    printf("%s: %s\n", when, __libc_single_threaded ? "single" : "many");
    fflush(stdout);
}

static void
say_in_child(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        say("child");
        exit(4);
    }
    if (waitpid(child, &status, 0) != child || status != 4 << 8)
        puts("the child failed");
}

/* How many of our threads are another user's. */
static unsigned
count_others(void)
{
    unsigned others = 0;
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;

    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        char path[300], line[256];
        unsigned user = USER;
        FILE *status;

        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        status = entry->d_name[0] != '.' ? fopen(path, "r") : NULL;
        while (status != NULL && fgets(line, sizeof line, status) != NULL)
            sscanf(line, "Uid: %u", &user);
        if (status != NULL)
            fclose(status);
        others += user != USER;
    }
    closedir(tasks);
    return others;
}

static void
change_user(void)
{
    if (geteuid() == 0 && setuid(USER) == 0)
        printf("%u threads have another user\n", count_others());
    say("user");
}

static void *
be_thread(void *argument)
{
    say("thread");
    return argument;
}

int
main(int argc, char **argv)
{
    pthread_t thread;

    most = work_argument(argc, argv, 1, 100);
    say("start");
    allocate_until_done();
    say_in_child();
    change_user();
    if (pthread_create(&thread, NULL, be_thread, NULL) != 0)
        work_fail("pthread_create");
    pthread_join(thread, NULL);
    say_in_child();
    puts("ok");
    return 0;
}
