/* SPDX-License-Identifier: MIT */
/*
 * hooks.c -- what calls cost that the library has a hook for. Prints a line for
 * each: its name, and microseconds a call: of the thread's CPU time, or, for
 * those that wait for another thread or process, of the time that passed.
 * Usage: hooks CALLS [PROCESSES]. Not linked with the library.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct timespec no_time;
static sigset_t none, one, full;
static int ends[2], epoll, null;

static double
now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void
handle(int signo)
{
    (void)signo;
}

static void
read_action(void)
{
    struct sigaction old;
    sigaction(SIGUSR1, NULL, &old);
}

static void
read_borrowed_action(void)
{
    struct sigaction old;
    sigaction(SIGPROF, NULL, &old);
}

static void
set_action(void)
{
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR1, &action, NULL);
}

static void
block_one(void)
{
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

static void
block_all(void)
{
    sigset_t old;
    pthread_sigmask(SIG_SETMASK, &full, &old);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void
raise_handled(void)
{
    raise(SIGUSR1);
}

static void
send_by_number(void)
{
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
}

static void
get_by_number(void)
{
    syscall(SYS_getppid);
}

static void
write_null(void)
{
    if (write(null, "x", 1) != 1)
        abort();
}

static void
poll_ready(void)
{
    struct pollfd what = {.fd = ends[0], .events = POLLIN};
    poll(&what, 1, 0);
}

static void
ppoll_ready(void)
{
    struct pollfd what = {.fd = ends[0], .events = POLLIN};
    ppoll(&what, 1, &no_time, &none);
}

static void
pselect_ready(void)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    pselect(ends[0] + 1, &set, NULL, NULL, &no_time, &none);
}

static void
epoll_pwait_ready(void)
{
    struct epoll_event event;
    epoll_pwait(epoll, &event, 1, 0, &none);
}

static void
sigtimedwait_nothing(void)
{
    sigtimedwait(&one, NULL, &no_time);
}

static void *
return_at_once(void *unused)
{
    return unused;
}

static void
make_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, return_at_once, NULL);
    pthread_join(thread, NULL);
}

static void
fork_and_wait(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}

static void
vfork_and_wait(void)
{
    pid_t child = vfork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}

/* A program that does not load the library, as its environment is empty. */
static void
spawn_and_wait(void)
{
    char *arguments[] = {"true", NULL}, *empty[] = {NULL};
    pid_t child;
    if (posix_spawn(&child, "/bin/true", NULL, NULL, arguments, empty) == 0)
        waitpid(child, NULL, 0);
}

static const struct {
    const char *name;
    void (*call)(void);
    int passes; /* what is measured is the time that passes */
} calls[] = {
    {"sigaction, to read", read_action, 0},
    {"sigaction, to read SIGPROF", read_borrowed_action, 0},
    {"sigaction, to set", set_action, 0},
    {"pthread_sigmask: a signal blocked and unblocked", block_one, 0},
    {"pthread_sigmask: all blocked, and back", block_all, 0},
    {"raise, and a handler", raise_handled, 0},
    {"syscall(SYS_tgkill), and a handler", send_by_number, 0},
    {"syscall(SYS_getppid)", get_by_number, 0},
    {"write to /dev/null", write_null, 0},
    {"poll", poll_ready, 0},
    {"ppoll with a mask", ppoll_ready, 0},
    {"pselect with a mask", pselect_ready, 0},
    {"epoll_pwait with a mask", epoll_pwait_ready, 0},
    {"sigtimedwait that finds nothing", sigtimedwait_nothing, 0},
    {"pthread_create and pthread_join", make_thread, 1},
    {"fork, _exit and waitpid", fork_and_wait, 2},
    {"vfork, _exit and waitpid", vfork_and_wait, 2},
    {"posix_spawn of `true`, and waitpid", spawn_and_wait, 2},
};

int
main(int argc, char **argv)
{
    int many = argc > 1 ? atoi(argv[1]) : 100000;
    int few = argc > 2 ? atoi(argv[2]) : 100;
    struct epoll_event event = {.events = EPOLLIN};
    sigemptyset(&none);
    sigfillset(&full);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    if (pipe(ends) != 0 || write(ends[1], "x", 1) != 1)
        return 1;
    null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
    set_action();
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        int times = calls[i].passes == 2   ? few
                    : calls[i].passes == 1 ? many / 20
                                           : many;
        clockid_t clock =
            calls[i].passes ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
        double start = now(clock);
        for (int round = 0; round < times; round++)
            calls[i].call();
        printf("%s|%.4f\n", calls[i].name, (now(clock) - start) / times);
        fflush(stdout);
    }
    return 0;
}
