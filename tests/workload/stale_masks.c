/* SPDX-License-Identifier: MIT */
/*
 * stale_masks.c -- a program that blocks a signal by its name, keeps that mask
 * in a context or a jump buffer, is sent the signal, and goes back to the mask
 * it has kept: the signal stays blocked, and who waits for it gets it. And
 * signals sent by syscall(2). Arguments: traps.h.
 */
#include <setjmp.h>
#include <stdio.h>
#include <sys/syscall.h>
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

/* Without a handler before: nothing tells that the program means it. */
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
                                    {"tgkill_by_number", tgkill_by_number},
                                    {"tkill_by_number", tkill_by_number},
                                    {NULL, NULL}};

int
main(int argc, char **argv)
{
    return traps_run(argc, argv, traps);
}
