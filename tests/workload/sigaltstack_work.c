/* SPDX-License-Identifier: MIT */
/*
 * sigaltstack_work.c -- computes inside a signal handler that runs on an
 * alternate stack. The way to the root leads through the signal frame and
 * from one stack to another, further down or up in memory.
 *
 * Argument: milliseconds of CPU time, 1000.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

static volatile uint64_t sink;
static unsigned budget;

FRAME static void
in_handler(void)
{
    sink += work_burn(budget);
    KEEP_FRAME();
}

static void
on_signal(int number)
{
    (void)number;
    in_handler();
    KEEP_FRAME();
}

FRAME static void
interrupted(void)
{
    raise(SIGUSR1);
    KEEP_FRAME();
}

int
main(int argc, char **argv)
{
    stack_t stack;
    struct sigaction action;

    budget = work_argument(argc, argv, 1, 1000);
    memset(&stack, 0, sizeof stack);
    stack.ss_size = 64 * 1024;
    stack.ss_sp = malloc(stack.ss_size);
    if (stack.ss_sp == NULL || sigaltstack(&stack, NULL) != 0)
        work_fail("sigaltstack");
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    if (sigaction(SIGUSR1, &action, NULL) != 0)
        work_fail("sigaction");

    work_expect("main;interrupted;(.*;)?on_signal;in_handler;work_burn");
    interrupted();
    puts("ok");
    return 0;
}
