/* SPDX-License-Identifier: MIT */
/*
 * fork_cases.c -- makes children by fork and what is like it, and prints what
 * it sees of them: statuses, how many there were, what they could do.
 *
 * Arguments: a word of the table at the end; a number where a case wants one.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "machine.h"

static atomic_bool stop;

static void
many(void)
{
    unsigned right = 0;

    for (unsigned i = 0; i < cases_number; i++) {
        int status;
        pid_t child = fork();

        if (child == 0)
            _exit((int)(i % 200));
        if (waitpid(-1, &status, 0) == child && WIFEXITED(status) &&
            WEXITSTATUS(status) == (int)(i % 200))
            right++;
    }
    printf("%u of %u\n", right, cases_number);
}

/* Children that are ended by a signal at any moment of their first 1.5 ms. */
static void
killed_young(void)
{
    unsigned right = 0;

    for (unsigned i = 0; i < cases_number; i++) {
        int status;
        pid_t child = fork();

        if (child == 0)
            for (;;)
                pause();
        usleep(i * 37 % 1500);
        kill(child, SIGTERM);
        right += waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
                 WTERMSIG(status) == SIGTERM;
    }
    printf("%u of %u\n", right, cases_number);
}

/* Threads that hold the locks of malloc and stdio most of the time. */
static void *
hold_locks(void *argument)
{
    FILE *null = fopen("/dev/null", "w");

    setvbuf(null, NULL, _IONBF, 0);
    while (!atomic_load(&stop)) {
        void *memory[50];

        for (unsigned i = 0; i < 50; i++)
            memory[i] = malloc(1000 + i * 100);
        fprintf(null, "%u\n", 1u);
        for (unsigned i = 0; i < 50; i++)
            free(memory[i]);
    }
    fclose(null);
    return argument;
}

static void
with_locks(void)
{
    pthread_t threads[4];

    for (unsigned i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, hold_locks, NULL);
    for (unsigned i = 0; i < cases_number; i++) {
        pid_t child = fork();

        if (child == 0) {
            cases_use_libc();
            exit(5);
        }
        cases_say_end(child);
    }
    atomic_store(&stop, true);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* A process so large that copying its page tables takes longer than a period.
 */
static void
large(void)
{
    size_t size = (size_t)cases_number << 20;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        work_fail("no memory");
    madvise(memory, size, MADV_NOHUGEPAGE);
    memset(memory, 1, size);
    for (unsigned i = 0; i < 3; i++) {
        pid_t child = fork();

        if (child == 0)
            _exit(memory[size / 2] + (int)i);
        cases_say_end(child);
    }
}

static void
fork_now(int signo)
{
    pid_t child = fork();

    (void)signo;
    if (child == 0)
        _exit(33);
    cases_say_end(child);
}

static void
in_handler(void)
{
    signal(SIGUSR1, fork_now);
    for (unsigned i = 0; i < 20; i++) {
        raise(SIGUSR1);
        cases_compute(1);
    }
}

static void *
fork_and_exec(void *argument)
{
    pid_t child = fork();

    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 12", (char *)NULL);
        _exit(92);
    }
    cases_say_end(child);
    return argument;
}

static void
from_thread(void)
{
    for (unsigned i = 0; i < 5; i++) {
        pthread_t thread;

        pthread_create(&thread, NULL, fork_and_exec, NULL);
        pthread_join(thread, NULL);
    }
}

static void
twice(void)
{
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0 || (child = fork()) < 0)
        work_fail("pipe");
    if (child == 0) {
        setsid();
        if (fork() == 0) {
            bool is_member = getsid(0) == getpgrp() && getsid(0) != getpid();

            cases_use_libc();
            cases_compute(20);
            dprintf(ends[1], "grandchild %d\n", is_member);
        }
        exit(0);
    }
    cases_say_end(child);
    cases_say_input(ends);
}

static void
as_daemon(void)
{
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0 || (child = fork()) < 0)
        work_fail("pipe");
    if (child == 0) {
        if (daemon(0, 0) != 0)
            _exit(93);
        cases_use_libc();
        cases_compute(20);
        dprintf(ends[1], "daemon %d\n", getsid(0) == getpgrp());
        exit(0);
    }
    cases_say_end(child);
    cases_say_input(ends);
}

/* In a root where /dev/null is a file, or is not there (IS_THERE false). */
static void
in_odd_root(bool is_there)
{
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0 || (child = fork()) < 0)
        work_fail("pipe");
    if (child == 0) {
        mkdir("root", 0755);
        mkdir("root/dev", 0755);
        if (is_there)
            close(open("root/dev/null", O_CREAT | O_RDWR, 0644));
        if (chroot("root") != 0)
            puts("not here");
        else if (daemon(1, 0) != 0)
            dprintf(ends[1], "no daemon: %s\n", strerror(errno));
        exit(0);
    }
    cases_say_end(child);
    cases_say_input(ends);
    unlink("root/dev/null");
    rmdir("root/dev");
    rmdir("root");
}

static void
odd_null(void)
{
    in_odd_root(true);
    in_odd_root(false);
}

/* Children of which libc's fork knows nothing. What they do afterwards is what
 * such programs do: go on, execute, or end. */
static void
end_raw_child(unsigned way)
{
    char *const arguments[] = {"sh", "-c", "exit 14", NULL};

    free(malloc(5000));
    cases_compute(5);
    if (way == 0)
        _exit(13);
    if (way == 1)
        execv("/bin/sh", arguments);
    if (way == 2)
        exit(15);
    syscall(SYS_exit_group, 16);
}

static void
raw(pid_t (*make)(void))
{
    for (unsigned way = 0; way < 4; way++) {
        pid_t child = make();

        if (child == 0)
            end_raw_child(way);
        cases_say_end(child);
    }
}

static pid_t
raw_clone(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static pid_t
raw_clone_no_signal(void)
{
    return (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
}

static void
by_raw_call(void)
{
    raw(machine_fork);
    raw(raw_clone);
    raw(raw_clone_no_signal);
    raw(_Fork);
}

/* Children that do something among the handlers of their fork. */
static volatile int among;

static void
ignore_signal(int signo)
{
    (void)signo;
}

static void
act_in_child(void)
{
    pthread_t thread;
    int what = among;

    among = 0;
    if (what == 1)
        _exit(17);
    if (what == 2)
        exit(18);
    if (what == 3)
        raise(SIGTERM);
    if (what == 4)
        execl("/bin/sh", "sh", "-c", "exit 19", (char *)NULL);
    if (what == 5) {
        pid_t grandchild = fork();

        if (grandchild == 0)
            _exit(16);
        cases_say_end(grandchild);
    }
    if (what == 6 && (signal(SIGPROF, ignore_signal) == SIG_ERR ||
                      signal(SIGTRAP, ignore_signal) == SIG_ERR ||
                      raise(SIGPROF) != 0 || raise(SIGTRAP) != 0))
        _exit(94);
    if (what == 7 && (pthread_create(&thread, NULL, hold_locks, NULL) != 0 ||
                      setuid(getuid()) != 0))
        _exit(95);
}

static void
among_handlers(void)
{
    pthread_atfork(NULL, NULL, act_in_child);
    for (int i = 1; i <= 7; i++) {
        pid_t child;

        among = i;
        child = fork();
        if (child == 0) {
            cases_use_libc();
            cases_compute(5);
            _exit(20 + i);
        }
        cases_say_end(child);
    }
}

/* SIGCHLD comes once for each child, and every kind of wait finds these only.
 */
static void
counted(void)
{
    unsigned found = 0;
    int status;

    cases_hear_children();
    for (unsigned i = 0; i < cases_number; i++) {
        pid_t child = fork();

        if (child == 0)
            exit(0);
        if (waitpid(-1, &status, i % 2 ? __WALL : 0) == child)
            found++;
        if (waitpid(-1, &status, __WCLONE) != -1 || errno != ECHILD)
            puts("there is a clone child");
        cases_hear(i + 1);
    }
    printf("found %u, heard %u\n", found, cases_heard());
}

static const struct named_case cases[] = {
    {"many", many, 300},
    {"locks", with_locks, 20},
    {"large", large, 1024},
    {"handler", in_handler, 0},
    {"thread", from_thread, 0},
    {"twice", twice, 0},
    {"odd_null", odd_null, 0},
    {"daemon", as_daemon, 0},
    {"raw", by_raw_call, 0},
    {"counted", counted, 50},
    {"killed_young", killed_young, 100},
    {"among", among_handlers, 0},
};

int
main(int argc, char **argv)
{
    return cases_run(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
