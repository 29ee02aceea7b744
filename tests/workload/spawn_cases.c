/* SPDX-License-Identifier: MIT */
/*
 * spawn_cases.c -- starts programs by vfork, posix_spawn, system, popen and
 * wordexp, and prints how they ended and what they inherited: signals that this
 * program blocks or ignores, SIGPROF and SIGTRAP among them, and descriptors.
 *
 * Argument: a word of the table at the end.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>

#include "cases.h"

#define SELF "/proc/self/exe"

extern char **environ;

static char *empty[] = {NULL};
static char *report[] = {"spawn_cases", "report", "child", NULL};

static void
say_errno(const char *what, int error)
{
    printf("%s: %s\n", what, strerror(error));
}

/* Block and ignore SIGPROF (bit 0), SIGTRAP (1) and SIGUSR2 (2). */
static void
set_signals(unsigned blocks, unsigned ignores)
{
    static const int numbers[] = {SIGPROF, SIGTRAP, SIGUSR2};
    sigset_t set;

    sigemptyset(&set);
    for (unsigned i = 0; i < 3; i++) {
        if (blocks >> i & 1)
            sigaddset(&set, numbers[i]);
        signal(numbers[i], ignores >> i & 1 ? SIG_IGN : SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &set, NULL);
}

/* What START starts inherits what this program has set, in four settings; and
 * this program still has it afterwards. */
static void
with_signals(void (*start)(void))
{
    static const unsigned settings[][2] = {{0, 0}, {7, 0}, {0, 7}, {3, 4}};

    for (unsigned i = 0; i < 4; i++) {
        struct sigaction now;
        sigset_t set;

        printf("blocked %u, ignored %u\n", settings[i][0], settings[i][1]);
        set_signals(settings[i][0], settings[i][1]);
        start();
        sigprocmask(SIG_SETMASK, NULL, &set);
        sigaction(SIGPROF, NULL, &now);
        printf("still %d %d %d\n", sigismember(&set, SIGPROF),
               sigismember(&set, SIGTRAP), now.sa_handler == SIG_IGN);
        cases_compute(5);
    }
}

static void
start_by_vfork(void)
{
    pid_t child = vfork();

    if (child == 0) {
        execve(SELF, report, empty);
        _exit(90);
    }
    cases_say_end(child);
}

static void
start_by_fork(void)
{
    pid_t child = fork();

    if (child == 0) {
        execve(SELF, report, empty);
        _exit(90);
    }
    cases_say_end(child);
}

static void
start_by_spawn(void)
{
    pid_t child;

    if (posix_spawn(&child, SELF, NULL, NULL, report, empty) != 0)
        work_fail("posix_spawn");
    cases_say_end(child);
}

static void
start_by_system(void)
{
    printf("system: %x\n", system("exec /proc/$PPID/exe report system"));
}

static void
start_by_popen(void)
{
    char line[200];
    FILE *from = popen("exec /proc/$PPID/exe report popen", "r");

    while (fgets(line, sizeof line, from) != NULL)
        fputs(line, stdout);
    printf("pclose: %x\n", pclose(from));
}

static void
start_by_wordexp(void)
{
    wordexp_t words;

    printf("wordexp: %d\n",
           wordexp("$(exec /proc/$PPID/exe report wordexp)", &words, 0));
    for (size_t i = 0; i < words.we_wordc; i++)
        puts(words.we_wordv[i]);
    wordfree(&words);
}

static void
by_fork(void)
{
    with_signals(start_by_fork);
}

static void
by_vfork(void)
{
    with_signals(start_by_vfork);
}

static void
by_spawn(void)
{
    with_signals(start_by_spawn);
}

static void
by_system(void)
{
    unsetenv("LD_PRELOAD");
    with_signals(start_by_system);
    with_signals(start_by_popen);
    with_signals(start_by_wordexp);
}

/* A vfork child that ends by itself, one that fails to execute, and one that
 * takes its time: its parent stands still meanwhile. */
static void
slowly(void)
{
    struct timespec second = {1, 0};
    pid_t child = vfork();

    if (child == 0)
        _exit(7);
    cases_say_end(child);
    child = vfork();
    if (child == 0) {
        execve("/nonexistent/program", report, empty);
        _exit(errno);
    }
    cases_say_end(child);
    child = vfork();
    if (child == 0) {
        if (nanosleep(&second, NULL) != 0)
            _exit(91);
        execve(SELF, report, empty);
        _exit(90);
    }
    cases_say_end(child);
    cases_compute(20);
}

/* Spawn with ACTIONS and ATTRIBUTES; print what became of it. */
static void
spawn_with(const char *what, const posix_spawn_file_actions_t *actions,
           const posix_spawnattr_t *attributes)
{
    pid_t child;
    int error;

    puts(what);
    error = posix_spawn(&child, SELF, actions, attributes, report, environ);
    if (error != 0)
        say_errno("posix_spawn", error);
    else
        cases_say_end(child);
}

static void
with_attributes(void)
{
    char *const arguments[] = {"true", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t set;
    pid_t child;

    unsetenv("LD_PRELOAD");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    spawn_with("close from 3", &actions, NULL);
    set_signals(3, 7);
    posix_spawnattr_init(&attributes);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    posix_spawnattr_setsigmask(&attributes, &set);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    spawn_with("mask", NULL, &attributes);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&attributes, &set);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    spawn_with("default", NULL, &attributes);
    set_signals(0, 0);
    say_errno("no file",
              posix_spawn(&child, "/nonexistent", NULL, NULL, report, environ));
    say_errno("no program",
              posix_spawnp(&child, "nonexistent", NULL, NULL, report, environ));
    for (unsigned i = 0; i < 20; i++) {
        if (posix_spawnp(&child, "true", NULL, NULL, arguments, environ) != 0)
            work_fail("posix_spawnp");
        cases_say_end(child);
    }
}

static void
start_and_end(void)
{
    if (vfork() == 0)
        _exit(2);
}

/* Children that come and go are heard of once each. */
static void
counted(void)
{
    struct pollfd wait = {.events = POLLIN};
    pid_t child = vfork();

    if (child == 0)
        _exit(9);
    wait.fd = (int)syscall(SYS_pidfd_open, child, 0);
    printf("pidfd: %d %d\n", poll(&wait, 1, -1), wait.revents);
    cases_say_end(child);
    close(wait.fd);
    cases_hear_children();
    for (unsigned i = 0; i < 20; i++) {
        int status;

        if (system("exit 3") >> 8 != 3)
            puts("system: another status");
        cases_hear(2 * i + 1);
        start_and_end();
        while (wait4(-1, &status, 0, NULL) < 0 && errno == EINTR)
            continue;
        cases_hear(2 * i + 2);
    }
    printf("heard %u\n", cases_heard());
}

static const struct named_case cases[] = {
    {"fork", by_fork, 0},    {"vfork", by_vfork, 0},
    {"spawn", by_spawn, 0},  {"system", by_system, 0},
    {"slow", slowly, 0},     {"attributes", with_attributes, 0},
    {"counted", counted, 0},
};

int
main(int argc, char **argv)
{
    cases_report(argc, argv);
    return cases_run(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
