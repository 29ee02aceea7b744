/* SPDX-License-Identifier: MIT */
/*
 * all_signals.c -- a program that uses all signals at once: waits for them,
 * handles all of the real-time ones, or blocks one in the handler of another.
 * It prints what it sees; that must not differ under the profiler. Arguments:
 * traps.h.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "traps.h"
#include "work.h"

#define STACK (64u << 10)

/* Another process sends SIGNO to this one, in a while. */
static pid_t
start_sender(void)
{
    pid_t parent = getpid(), child = fork();
    if (child != 0)
        return child;
    pause_ms(30);
    kill(parent, signo);
    _exit(0);
}

static sigset_t
block_all(void)
{
    sigset_t set;
    sigfillset(&set);
    pthread_sigmask(SIG_SETMASK, &set, NULL);
    sigdelset(&set, SIGCHLD);
    return set;
}

static void
print_sender(const char *what, int got, pid_t from, pid_t child)
{
    printf("%s: %d %s\n", what, got,
           from == child      ? "from the child"
           : from == getpid() ? "from us"
                              : "");
    waitpid(child, NULL, 0);
}

static void
waits_for_all(void)
{
    struct timespec limit = {60, 0};
    siginfo_t info = {0};
    sigset_t set = block_all();
    pid_t child = start_sender();
    int got = sigtimedwait(&set, &info, &limit);
    print_sender("waited", got, info.si_pid, child);
}

/* Others compute, with all signals blocked, too: one of them may be the first
 * to meet it, and then it comes from us (docs/transparency.md). */
static void
waits_beside_others(void)
{
    struct timespec limit = {60, 0};
    begin_computing();
    sigset_t set = block_all();
    pid_t child = start_sender();
    printf("waited: %d\n", sigtimedwait(&set, NULL, &limit));
    waitpid(child, NULL, 0);
    kill(getpid(), signo);
    printf("waited: %d\n", sigtimedwait(&set, NULL, &limit));
    end_computing();
}

static void *
wait_for_one(void *set)
{
    struct timespec limit = {60, 0};
    printf("waited: %d\n", sigtimedwait(set, NULL, &limit));
    return NULL;
}

/* A thread is already waiting when this one sends. */
static void
waits_in_thread(void)
{
    sigset_t set = block_all();
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_one, &set);
    pause_ms(30);
    kill(getpid(), signo);
    pthread_join(thread, NULL);
}

static void
descriptor_for_all(void)
{
    sigset_t set = block_all();
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    for (int round = 0; round < 2; round++) {
        struct signalfd_siginfo info = {0};
        pid_t child = start_sender();
        int ready = poll(&wanted, 1, 60000);
        if (ready == 1 && read(fd, &info, sizeof info) != sizeof info)
            work_fail("read");
        printf("ready %d\n", ready);
        print_sender("read", (int)info.ssi_signo, (pid_t)info.ssi_pid, child);
    }
    close(fd);
}

static void
raise_inside(int number)
{
    (void)number;
    print_mask("inside");
    raise(signo);
    printf("inside, count %d\n", (int)count);
}

/* The handler of SIGUSR1 blocks SIGNO, which comes when that has ended. */
static void
blocked_inside(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = raise_inside;
    sigaddset(&action.sa_mask, signo);
    sigaction(SIGUSR1, &action, NULL);
    begin_computing();
    handle(0);
    raise(SIGUSR1);
    printf("count %d\n", (int)count);
    end_computing();
    signal(signo, SIG_DFL);
    fflush(stdout);
    raise(SIGUSR1);
    puts("still here");
}

static char *stack;

static void
tell_stack(int number)
{
    char here;
    printf("%d on %s stack\n", number,
           &here >= stack && &here < stack + STACK ? "the other" : "its");
}

/* A handler runs on the alternate stack if it wants to. */
static void
own_stack(void)
{
    struct sigaction action;
    stack_t other = {.ss_size = STACK};
    stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    other.ss_sp = stack;
    sigaltstack(&other, NULL);
    memset(&action, 0, sizeof action);
    action.sa_handler = tell_stack;
    for (int flags = 0; flags < 2; flags++) {
        action.sa_flags = flags ? SA_ONSTACK : 0;
        sigaction(signo, &action, NULL);
        sink += work_burn(20);
        raise(signo);
    }
}

static int ends[2];

static void *
send_again_and_again(void *unused)
{
    for (int i = 0; i < 60; i++) {
        int before = count;
        pause_ms(3);
        pthread_kill(main_thread, SIGUSR1);
        while (count == before)
            pause_ms(1);
    }
    if (write(ends[1], "x", 1) != 1)
        work_fail("write");
    return unused;
}

/* SIGNO, which does not come, has a handler that ends system calls; SIGUSR1,
 * which comes, has one that lets them go on. */
static void
restarts(void)
{
    char byte;
    int ended = 0;
    if (pipe(ends) != 0)
        work_fail("pipe");
    handle(0);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count_it;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, NULL);
    pthread_t sender = start_thread(send_again_and_again);
    while (read(ends[0], &byte, 1) != 1)
        ended += errno == EINTR;
    pthread_join(sender, NULL);
    printf("ended %d, count %d\n", ended, (int)count);
}

static int values[256];

static void
note_value(int number, siginfo_t *info, void *context)
{
    (void)context;
    values[count++] = number * 10 + info->si_value.sival_int;
}

/* All real-time signals are handled, from the last to the first, and each comes
 * three times, in the order of numbers. */
static void
real_time(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = note_value;
    action.sa_flags = SA_SIGINFO;
    for (int i = SIGRTMAX; i >= SIGRTMIN; i--)
        sigaction(i, &action, NULL);
    (void)block_all();
    for (int round = 0; round < 3; round++)
        for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
            sigqueue(getpid(), i, (union sigval){.sival_int = round});
    sink += work_burn(20);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    sink += work_burn(5);
    /* The kernel delivers the last first: each handler interrupts the one
     * before. */
    int wrong = 0;
    for (int i = 1; i < count; i++)
        wrong +=
            values[i] / 10 == values[i - 1] / 10 && values[i] < values[i - 1];
    printf("count %d, wrong %d\n", (int)count, wrong);
}

static const struct trap traps[] = {{"waits_for_all", waits_for_all},
                                    {"waits_beside_others",
                                     waits_beside_others},
                                    {"waits_in_thread", waits_in_thread},
                                    {"descriptor_for_all", descriptor_for_all},
                                    {"blocked_inside", blocked_inside},
                                    {"own_stack", own_stack},
                                    {"restarts", restarts},
                                    {"real_time", real_time},
                                    {NULL, NULL}};

int
main(int argc, char **argv)
{
    return traps_run(argc, argv, traps);
}
