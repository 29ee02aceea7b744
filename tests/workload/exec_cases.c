/* SPDX-License-Identifier: MIT */
/*
 * exec_cases.c -- replaces itself by exec in the way that its first argument
 * names, while a thread computes. The new image says what it inherited.
 *
 * Argument: a word of the table at the end; "next N" is the image in between.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cases.h"

#define SELF "/proc/self/exe"

extern char **environ;

static char *empty[] = {NULL};
static char *report[] = {"exec_cases", "report", "image", NULL};

/* Signals that the next image is to find blocked and ignored. */
static void
set_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGTRAP, SIG_IGN);
    signal(SIGUSR2, SIG_IGN);
}

static void
by_execve(void)
{
    set_signals();
    execve(SELF, report, empty);
}

/* Pending signals stay pending in the next image. */
static void
pending(void)
{
    static const int numbers[] = {SIGPROF, SIGTRAP, SIGUSR1, 60};
    char *const arguments[] = {"exec_cases", "show_pending", NULL};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(&set, numbers[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        raise(numbers[i]);
    execve(SELF, arguments, environ);
}

/* All signals are blocked, and none is pending. */
static void
blocked(void)
{
    char *const arguments[] = {"exec_cases", "show_pending", NULL};
    sigset_t set;

    sigfillset(&set);
    sigprocmask(SIG_SETMASK, &set, NULL);
    execve(SELF, arguments, environ);
}

static void
show_pending(void)
{
    sigset_t set;

    cases_compute(20);
    sigpending(&set);
    for (int i = 1; i < 65; i++)
        if (sigismember(&set, i) == 1)
            printf("%d is pending\n", i);
}

static void
by_execl(void)
{
    unsetenv("LD_PRELOAD");
    execl(SELF, "exec_cases", "report", "execl", (char *)NULL);
}

static void
by_execle(void)
{
    execle(SELF, "exec_cases", "report", "execle", (char *)NULL, empty);
}

static void
by_execlp(void)
{
    execlp("sh", "sh", "-c", "exit 43", (char *)NULL);
}

static void
by_fexecve(void)
{
    fexecve(open(SELF, O_RDONLY | O_CLOEXEC), report, empty);
}

static void
by_execveat(void)
{
    int directory = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    set_signals();
    execveat(directory, "exe", report, empty, 0);
}

/* Past every hook: nothing may be on its way when the new image starts. */
static void
by_raw_call(void)
{
    syscall(SYS_execve, SELF, report, empty);
}

static void *
exec_in_thread(void *argument)
{
    set_signals();
    execve(SELF, report, empty);
    return argument;
}

static void
from_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, exec_in_thread, NULL);
    for (;;)
        cases_compute(10);
}

/* All at once: one wins. */
static void
from_threads(void)
{
    for (unsigned i = 0; i < 8; i++) {
        pthread_t thread;

        pthread_create(&thread, NULL, exec_in_thread, NULL);
    }
    for (;;)
        cases_compute(10);
}

static void *
ignore_again(void *argument)
{
    for (;;)
        signal(SIGTRAP, SIG_IGN);
    return argument;
}

/* While other threads set handlers that are set already. */
static void
ignoring(void)
{
    set_signals();
    for (unsigned i = 0; i < 4; i++) {
        pthread_t thread;

        pthread_create(&thread, NULL, ignore_again, NULL);
    }
    cases_compute(5);
    execve(SELF, report, empty);
}

static int
make_file(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");

    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
        return -1;
    return chmod(path, mode);
}

static void
say_failure(const char *path)
{
    char *const arguments[] = {"nothing", NULL};

    execve(path, arguments, environ);
    printf("%s: %s\n", path, strerror(errno));
    cases_compute(20);
}

/* Failing execs leave the program as it was. */
static void
failing(void)
{
    size_t size = 8u << 20;
    char *large = malloc(size);
    char *arguments[] = {"true", large, NULL};

    make_file("empty_program", "", 0755);
    make_file("no_program", "nothing\n", 0644);
    make_file("bad_program", "\177ELF", 0755);
    make_file("bad_script", "#!/nonexistent/shell\n", 0755);
    for (unsigned round = 0; round < 3; round++) {
        say_failure("/nonexistent/program");
        say_failure("./no_program");
        say_failure("./bad_program");
        say_failure("./bad_script");
        say_failure("/");
        say_failure("");
    }
    memset(large, 'x', size - 1);
    large[size - 1] = '\0';
    execv("/bin/true", arguments);
    printf("large: %s\n", strerror(errno));
    free(large);
    cases_use_libc();
    cases_compute(50);
    execvp("nonexistent-program", report);
    printf("execvp: %s\n", strerror(errno));
    cases_compute(100);
}

/* A file with neither ELF nor #! is the shell's, for execvp alone. */
static void
by_shell(void)
{
    make_file("plain_script", "exit 44\n", 0755);
    execvp("./plain_script", report);
}

static void
be_next(void)
{
    char left[16];

    if (cases_number == 0)
        return;
    if (cases_number % 2 != 0)
        cases_compute(5);
    snprintf(left, sizeof left, "%u", cases_number - 1);
    execl(SELF, "exec_cases", "next", left, (char *)NULL);
}

static void
raw_next(void)
{
    char left[16];
    char *const arguments[] = {"exec_cases", "raw_next", left, NULL};

    if (cases_number == 0)
        return;
    cases_compute(5);
    snprintf(left, sizeof left, "%u", cases_number - 1);
    syscall(SYS_execve, SELF, arguments, environ);
}

static const struct named_case cases[] = {
    {"execve", by_execve, 0},     {"execl", by_execl, 0},
    {"execle", by_execle, 0},     {"execlp", by_execlp, 0},
    {"fexecve", by_fexecve, 0},   {"execveat", by_execveat, 0},
    {"raw", by_raw_call, 0},      {"thread", from_thread, 0},
    {"threads", from_threads, 0}, {"failing", failing, 0},
    {"shell", by_shell, 0},       {"pending", pending, 0},
    {"blocked", blocked, 0},      {"show_pending", show_pending, 0},
    {"next", be_next, 100},       {"raw_next", raw_next, 50},
    {"ignoring", ignoring, 0},
};

int
main(int argc, char **argv)
{
    cases_report(argc, argv);
    return cases_run(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
