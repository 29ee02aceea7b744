/* SPDX-License-Identifier: MIT */
/*
 * stale_masks.c -- a program blocks a signal by its name and keeps that mask in
 * a context or a jump buffer. It is sent the signal and goes back to the mask.
 * The signal stays blocked, and a thread that waits for it gets it. A child of
 * a fork blocks it first of all, which does not take long. And signals sent by
 * syscall(2). Arguments: traps.h.
 */
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "traps.h"
#include "work.h"

static ucontext_t main_context, other;
static sigjmp_buf back;
static char stack[64 << 10];

static void
block_it(void)
{
    sigset_t set = only(signo);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static void
wait_for_it(void)
{
    sigset_t set = only(signo);
    int got = 0;
    printf("count %d\n", (int)count);
    fflush(stdout);
    if (sigwait(&set, &got) != 0)
        work_fail("sigwait");
    printf("got %d, count %d\n", got, (int)count);
    print_mask("mask");
}

static void
switch_back(void)
{
    swapcontext(&other, &main_context);
}

static void
keep_in_context(int is_handled)
{
    block_it();
    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = sizeof stack;
    other.uc_link = &main_context;
    makecontext(&other, switch_back, 0);
    if (is_handled)
        handle(0);
    kill(getpid(), signo);
    swapcontext(&main_context, &other);
    wait_for_it();
}

static void
keep_in_jump(int is_handled)
{
    block_it();
    if (sigsetjmp(back, 1) == 0) {
        if (is_handled)
            handle(0);
        kill(getpid(), signo);
        siglongjmp(back, 1);
    }
    wait_for_it();
}

static void
context(void)
{
    keep_in_context(0);
}

static void
context_handled(void)
{
    keep_in_context(1);
}

static void
jump(void)
{
    keep_in_jump(0);
}

static void
jump_handled(void)
{
    keep_in_jump(1);
}

static uint64_t
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Status 0, and 1 more if that took long: it blocks the signal, and has done so
 * still when it has run for a while. */
static int
block_at_once(void)
{
    uint64_t mask = 0, start = now_ms();
    block_it();
    bool is_slow = now_ms() - start > 500;
    sink += work_burn(20);
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
    return is_slow + ((mask >> (signo - 1) & 1) == 0 ? 2 : 0);
}

/* The first thing that a child of a fork does, before there can be a sampler.
 */
static void
children(void)
{
    sigset_t all, before;
    int slow = 0, open = 0;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    for (int i = 0; i < 20; i++) {
        int status = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            sigprocmask(SIG_SETMASK, &before, NULL);
            _exit(block_at_once());
        }
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
            work_fail("a child");
        slow += WEXITSTATUS(status) & 1;
        open += WEXITSTATUS(status) >> 1;
    }
    printf("open in %d, %s\n", open, slow < 5 ? "at once" : "slow");
}

static void
send_by_number(long number, long a, long b, long c)
{
    handle(0);
    printf("%ld\n", syscall(number, a, b, c));
    printf("count %d\n", (int)count);
    signal(signo, SIG_DFL);
    fflush(stdout);
    syscall(number, a, b, c);
    puts("still here");
}

static void
tgkill_by_number(void)
{
    send_by_number(SYS_tgkill, getpid(), getpid(), signo);
}

/* Without a handler before: nothing shows that the program means it. */
static void
tkill_by_number(void)
{
    syscall(SYS_tkill, getpid(), signo);
    puts("still here");
}

static const struct trap traps[] = {{"context", context},
                                    {"context_handled", context_handled},
                                    {"jump", jump},
                                    {"jump_handled", jump_handled},
                                    {"children", children},
                                    {"tgkill_by_number", tgkill_by_number},
                                    {"tkill_by_number", tkill_by_number},
                                    {NULL, NULL}};

int
main(int argc, char **argv)
{
    return traps_run(argc, argv, traps);
}
