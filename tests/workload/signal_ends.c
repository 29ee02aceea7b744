/* SPDX-License-Identifier: MIT */
/*
 * signal_ends.c -- ends by one of the signals that end a program by default, in
 * situations where it is hard to do anything before the end. What it prints is
 * the same with and without a profiler.
 *
 * Usage: signal_ends MODE [SIGNAL], the number of the signal, SIGTERM
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

extern char **environ;

#define SA_RESTORER 0x04000000u

static int signo = SIGTERM;
static volatile uint64_t sink;
static volatile sig_atomic_t handled;

static void
on_signal(int number)
{
    handled = number;
}

/* What the program sees of the disposition. The kernel's own flag is not of
 * interest. */
static void
show(const char *when)
{
    struct sigaction now;
    sigaction(signo, NULL, &now);
    printf("%s: %s, flags %x, %s\n", when,
           now.sa_handler == SIG_DFL     ? "default"
           : now.sa_handler == SIG_IGN   ? "ignored"
           : now.sa_handler == on_signal ? "own"
                                         : "unknown",
           (unsigned)now.sa_flags & ~SA_RESTORER,
           sigismember(&now.sa_mask, SIGUSR1) == 1 ? "USR1 masked" : "no mask");
    fflush(stdout);
}

static void
show_old(const char *when, __sighandler_t old)
{
    printf("%s: it was %s\n", when,
           old == SIG_DFL     ? "default"
           : old == SIG_IGN   ? "ignored"
           : old == on_signal ? "own"
                              : "unknown");
    fflush(stdout);
}

/* Set and ask in every way, then die. */
static void
dispositions(void)
{
    struct sigaction action, old;
    show("at the start");
    show_old("signal", signal(signo, on_signal));
    show("after signal");
    raise(signo);
    printf("handled %d\n", (int)handled);
    show_old("back", signal(signo, SIG_DFL));
    show("after back");
    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_DFL;
    action.sa_flags = SA_NODEFER | SA_RESTART;
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(signo, &action, &old);
    show("default with flags");
    action.sa_handler = SIG_IGN;
    sigaction(signo, &action, &old);
    show_old("sigaction", old.sa_handler);
    raise(signo);
    show("ignored");
    sigaction(signo, &old, NULL);
    show("put back");
    handled = 0;
    sigset(signo, on_signal); /* inside libc, past all hooks */
    raise(signo);
    printf("handled %d\n", (int)handled);
    fflush(stdout);
    signal(signo, SIG_DFL);
    sink += work_burn(50);
    raise(signo);
}

static void
show_end(const char *who, pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        printf("%s: signal %d\n", who, WTERMSIG(status));
    else
        printf("%s: status %d\n", who, WEXITSTATUS(status));
    fflush(stdout);
}

/* Every kind of child dies of the signal, and begins with the default. */
static void
children(void)
{
    char number[16];
    char *arguments[] = {"sh", "-c", "kill -$0 $$; echo alive", number, NULL};
    pid_t child = fork();
    snprintf(number, sizeof(number), "%d", signo);
    if (child == 0) {
        show("in a fork");
        sink += work_burn(30);
        raise(signo);
        _exit(1);
    }
    show_end("fork", child);
    child = vfork();
    if (child == 0) {
        kill(getpid(), signo);
        _exit(1);
    }
    show_end("vfork", child);
    child = vfork();
    if (child == 0) {
        signal(signo, SIG_IGN);
        kill(getpid(), signo);
        _exit(3);
    }
    show_end("vfork that ignores", child);
    show("after it");
    posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ);
    show_end("posix_spawn", child);
    printf("system: %x\n", (unsigned)system("kill -TERM $$"));
    /* But for the C library's own two signals. */
    printf("system: %x\n", (unsigned)system("sed -En 's/^(Sig(Ign|Blk)).*"
                                            "(.{7})$/\\1 \\3/p' "
                                            "/proc/self/status"));
    fflush(stdout);
    show("after system");
    execv("/bin/sh", arguments);
}

static void *
allocate(void *plugin)
{
    for (;;) {
        for (unsigned i = 1; i < 200; i++) {
            void *small = malloc(i), *large = malloc(i << 12);
            free(small);
            free(large);
        }
        void *handle = dlopen(plugin, RTLD_NOW);
        if (handle != NULL)
            dlclose(handle);
        FILE *null = fopen("/dev/null", "w");
        if (null != NULL) {
            fprintf(null, "%d\n", errno);
            fclose(null);
        }
    }
    return NULL;
}

/* Children end at once, and are waited for. */
static void *
fork_on(void *unused)
{
    for (;;) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    return unused;
}

static void
on_alarm(int number)
{
    (void)number;
    _exit(22);
}

/* The signal comes while threads do WORK all the time: by a timer, or from a
 * child. */
static void
in_work(void *(*work)(void *), __sighandler_t alarm_handler)
{
    struct itimerval timer = {.it_value.tv_usec = 100000};
    pthread_t thread;
    /* A process that uses less than that has no profile. On a busy machine the
     * process may have no more until the alarm. */
    sink += work_burn(20);
    for (int i = 0; alarm_handler == SIG_DFL && i < 3; i++)
        pthread_create(&thread, NULL, work, "libm.so.6");
    signal(SIGALRM, alarm_handler);
    if (alarm_handler != SIG_DFL) {
        setitimer(ITIMER_REAL, &timer, NULL);
        work("libm.so.6");
    }
    if (fork() == 0) {
        work_sleep(150);
        kill(getppid(), signo);
        _exit(0);
    }
    work("libm.so.6");
}

/* In malloc, stdio and the loader. */
static void
by_malloc(void)
{
    in_work(allocate, SIG_DFL);
}

static void
exit_in_malloc(void)
{
    in_work(allocate, on_alarm);
}

static void
by_fork(void)
{
    in_work(fork_on, SIG_DFL);
}

static void
exit_in_fork(void)
{
    in_work(fork_on, on_alarm);
}

static void
set_blocked(int how)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signo);
    pthread_sigmask(how, &one, NULL);
}

static void *
compute(void *unused)
{
    for (;;)
        sink += work_burn(10);
    return unused;
}

/* The main thread blocks it, another one does not. */
static void
blocked_in_main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, compute, NULL);
    set_blocked(SIG_BLOCK);
    sink += work_burn(50);
    kill(getpid(), signo);
    for (;;)
        pause();
}

/* Blocked everywhere: it is pending, is seen, is taken, and comes when
 * unblocked. */
static void
blocked(void)
{
    sigset_t one;
    int got = 0;
    set_blocked(SIG_BLOCK);
    kill(getpid(), signo);
    work_sleep(2500);
    sigpending(&one);
    printf("pending %d\n", sigismember(&one, signo));
    sigemptyset(&one);
    sigaddset(&one, signo);
    sigwait(&one, &got);
    printf("sigwait %d\n", got);
    fflush(stdout);
    kill(getpid(), signo);
    set_blocked(SIG_UNBLOCK);
}

static void
twice(void)
{
    sink += work_burn(50);
    kill(getpid(), signo);
    kill(getpid(), signo);
    pause();
}

static void
to_group(void)
{
    setpgid(0, 0);
    sink += work_burn(50);
    if (fork() == 0) {
        work_sleep(50);
        kill(0, signo);
        pause();
    }
    for (;;)
        sink += work_burn(10);
}

static volatile uint64_t *counter;

static void *
count(void *unused)
{
    for (;;) {
        ++*counter;
        work_sleep(1);
    }
    return unused;
}

/* Once the signal has come, another thread does nothing more. */
static void
frozen(void)
{
    pthread_t thread;
    int status;
    counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    if (child == 0) {
        pthread_create(&thread, NULL, count, NULL);
        for (;;)
            sink += work_burn(10);
    }
    while (*counter < 100)
        work_sleep(10);
    kill(child, signo);
    uint64_t before = *counter;
    waitpid(child, &status, 0);
    printf("signal %d, %s\n", WTERMSIG(status),
           *counter - before < 700 ? "then silence" : "and went on");
}

/* In a vfork that takes its time. */
static void
in_vfork(void)
{
    sink += work_burn(200);
    if (vfork() == 0) {
        printf("%d\n", (int)getpid());
        fflush(stdout);
        work_sleep(120000);
        _exit(0);
    }
    puts("not reached");
}

/* While the main thread has left. */
static void *
leave_alone(void *unused)
{
    sink += work_burn(100);
    kill(getpid(), signo);
    pause();
    return unused;
}

static void
without_main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, leave_alone, NULL);
    pthread_exit(NULL);
}

static void *
exit_at_once(void *barrier)
{
    sink += work_burn(30);
    pthread_barrier_wait(barrier);
    _exit(31);
}

static void
exits_at_once(void)
{
    static pthread_barrier_t barrier;
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 8);
    for (int i = 0; i < 8; i++)
        pthread_create(&thread, NULL, exit_at_once, &barrier);
    for (;;)
        pause();
}

/* As node does: a handler that is called once sends the signal again. */
static void
send_again(int number)
{
    show("in the handler");
    raise(number);
    show("sent again");
}

static void
handle_once(__sighandler_t own, int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = own;
    action.sa_flags = (int)SA_RESETHAND | flags;
    sigfillset(&action.sa_mask);
    sigaction(signo, &action, NULL);
    sink += work_burn(50);
    kill(getpid(), signo);
}

static void
once_and_raise(void)
{
    handle_once(send_again, 0);
}

/* The signal comes a second time, from another process. */
static void
once_and_again(void)
{
    handle_once(on_signal, SA_RESTART);
    show("handled once");
    work_sleep(2500);
    show("later");
    if (fork() == 0) {
        kill(getppid(), signo);
        _exit(0);
    }
    for (;;)
        pause();
}

static void
wait_for_it(void)
{
    puts("ready");
    fflush(stdout);
    for (;;)
        sink += work_burn(10);
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"dispositions", dispositions},
    {"children", children},
    {"malloc", by_malloc},
    {"exit_in_malloc", exit_in_malloc},
    {"fork", by_fork},
    {"exit_in_fork", exit_in_fork},
    {"blocked_in_main", blocked_in_main},
    {"blocked", blocked},
    {"twice", twice},
    {"group", to_group},
    {"frozen", frozen},
    {"vfork", in_vfork},
    {"without_main", without_main},
    {"exits_at_once", exits_at_once},
    {"once_and_raise", once_and_raise},
    {"once_and_again", once_and_again},
    {"wait", wait_for_it},
};

int
main(int argc, char **argv)
{
    signo = (int)work_argument(argc, argv, 2, SIGTERM);
    for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
        if (strcmp(argv[1], modes[i].name) == 0)
            modes[i].run();
    return 0;
}
