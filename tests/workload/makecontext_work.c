/* SPDX-License-Identifier: MIT */
/*
 * makecontext_work.c -- two coroutines on stacks of their own (mmap), which
 * take turns with main by swapcontext. Their root is makecontext's start
 * routine, not main.
 *
 * Argument: milliseconds of CPU time, 1000.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "work.h"

enum { STACK_SIZE = 64 * 1024, TURNS = 50 };

static ucontext_t home, coroutines[2];
static volatile uint64_t sink;
static unsigned slice;

FRAME static void
take_turn(void)
{
    sink += work_burn(slice);
    KEEP_FRAME();
}

FRAME static void
coroutine(int index)
{
    for (unsigned i = 0; i < TURNS; i++) {
        take_turn();
        if (swapcontext(&coroutines[index], &home) != 0)
            work_fail("swapcontext");
    }
}

static void
prepare(int index)
{
    ucontext_t *context = &coroutines[index];

    if (getcontext(context) != 0)
        work_fail("getcontext");
    context->uc_stack.ss_size = STACK_SIZE;
    context->uc_stack.ss_sp =
        mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (context->uc_stack.ss_sp == MAP_FAILED)
        work_fail("mmap");
    context->uc_link = &home;
    /* A cast as the manual page of makecontext has it. */
    makecontext(context, (void (*)(void))coroutine, 1, index);
}

int
main(int argc, char **argv)
{
    slice = work_argument(argc, argv, 1, 1000) / (2 * TURNS);
    prepare(0);
    prepare(1);
    work_expect("coroutine;take_turn;work_burn");
    for (unsigned i = 0; i < 2 * TURNS; i++)
        swapcontext(&home, &coroutines[i % 2]);
    puts("ok");
    return 0;
}
