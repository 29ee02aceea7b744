/* SPDX-License-Identifier: MIT */
/*
 * fault_in_handler.c -- a thread computes at the end of many calls, while
 * another makes the pages of the calls in between unreadable again and again. A
 * walk of the stack at that moment faults, and the program's handler of SIGSEGV
 * repairs it. It makes the pages readable ("repair"), or does that and leaves
 * by a jump, with the old mask ("jump") or without ("leave"). Prints "ok" at
 * the end.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SIZE (64u << 10)
#define CALLS 400
#define SECONDS 2

static char *pages;
static sigjmp_buf back;
static volatile sig_atomic_t can_jump;
static volatile bool is_over;
static volatile unsigned long sink;
static enum { REPAIR, JUMP, LEAVE } way;

static void
repair(int signo, siginfo_t *info, void *context)
{
    const char *at = info->si_addr;
    (void)context;
    if (at < pages || at >= pages + SIZE) {
        signal(signo, SIG_DFL);
        return;
    }
    mprotect(pages, SIZE, PROT_READ | PROT_WRITE);
    if (way != REPAIR && can_jump)
        siglongjmp(back, 1);
}

static void *
disturb(void *unused)
{
    while (!is_over) {
        mprotect(pages, SIZE, PROT_NONE);
        usleep(20);
    }
    mprotect(pages, SIZE, PROT_READ | PROT_WRITE);
    return unused;
}

static bool
has_time(const struct timespec *until)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec < until->tv_sec ||
           (now.tv_sec == until->tv_sec && now.tv_nsec < until->tv_nsec);
}

/* What the thread blocked before a jump that does not restore it. */
static void
open_again(void)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGSEGV);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}

static void
compute(const struct timespec *until)
{
    pthread_t thread;
    pthread_create(&thread, NULL, disturb, NULL);
    if (sigsetjmp(back, way == JUMP) != 0 && way == LEAVE)
        open_again();
    can_jump = 1;
    while (has_time(until))
        for (int i = 0; i < 100000; i++)
            sink++;
    can_jump = 0;
    is_over = true;
    pthread_join(thread, NULL);
}

/* A kilobyte each. */
static __attribute__((noinline)) void
descend(int depth, const struct timespec *until)
{
    volatile char frame[1000];
    frame[0] = 0;
    if (depth == CALLS / 2)
        pages = (char *)(((unsigned long)frame - SIZE) & ~4095ul);
    if (depth == CALLS)
        compute(until);
    else
        descend(depth + 1, until);
    frame[1] = frame[0];
}

/* Whether the thread blocks nothing, as at the beginning. */
static bool
is_mask_empty(void)
{
    sigset_t now, none;
    sigemptyset(&none);
    sigprocmask(SIG_BLOCK, NULL, &now);
    return memcmp(&now, &none, 8) == 0;
}

int
main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = repair, .sa_flags = SA_SIGINFO};
    struct timespec until;
    if (argc > 1)
        way = strcmp(argv[1], "jump") == 0    ? JUMP
              : strcmp(argv[1], "leave") == 0 ? LEAVE
                                              : REPAIR;
    sigaction(SIGSEGV, &action, NULL);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += SECONDS;
    descend(0, &until);
    puts(is_mask_empty() ? "ok" : "a signal is blocked");
    return 0;
}
