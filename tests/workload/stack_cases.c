/* SPDX-License-Identifier: MIT */
/*
 * stack_cases.c -- stacks that the program makes itself: with pages that cannot
 * be read where a profiler does not expect any; and with no more room than a
 * signal needs, where the process ends.
 *
 * Argument: a word of the table at the end.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "cases.h"
#include "machine.h"

#define PAGE MACHINE_PAGE
#define PAGES 64u

static int
compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Code that the thread has not met before, in many frames. */
static void
meet_code(void)
{
    int values[300];
    char text[40];

    for (unsigned round = 0; round < 2000; round++) {
        for (unsigned i = 0; i < 300; i++)
            values[i] = (int)(i * 7919 % 300);
        qsort(values, 300, sizeof values[0], compare);
        snprintf(text, sizeof text, "%f", (double)round / 7);
        if (values[299] != 299 || strtod(text, NULL) > round)
            work_fail("wrong order");
    }
    KEEP_FRAME();
}

/* A page within a local array cannot be read. */
static void *
work_over_hole(void *argument)
{
    char room[4 * PAGE], *page = room + PAGE;

    page -= (uintptr_t)page % PAGE;
    cases_compute(50);
    mprotect(page + PAGE, PAGE, PROT_NONE);
    meet_code();
    mprotect(page + PAGE, PAGE, PROT_READ | PROT_WRITE);
    puts("ran");
    return argument;
}

static void
hole(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, work_over_hole, NULL);
    pthread_join(thread, NULL);
}

/* FUNCTION runs on a stack that ends at STACK + SIZE. */
static void
run_on(char *stack, size_t size, void (*function)(void))
{
    ucontext_t self, other;

    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = size;
    other.uc_link = &self;
    makecontext(&other, function, 0);
    swapcontext(&self, &other);
    puts("ran");
}

/* One piece of memory: a coroutine's stack, a page that cannot be read but only
 * later, and a thread's. */
static char *piece;
static jmp_buf thread_place;

static char *
map_piece(void)
{
    char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        work_fail("mmap");
    return memory;
}

static void
leave_coroutine(void)
{
    cases_compute(50);
    longjmp(thread_place, 1);
}

static void *
work_beside_coroutine(void *argument)
{
    cases_compute(50);
    mprotect(piece + 16 * PAGE, PAGE, PROT_NONE);
    /* Not even a return address lies between the coroutine and that page. */
    if (setjmp(thread_place) == 0)
        machine_go_on(piece + 16 * PAGE, leave_coroutine);
    run_on(piece + 8 * PAGE, 8 * PAGE, meet_code);
    meet_code();
    munmap(piece + 16 * PAGE, PAGE);
    run_on(piece + 8 * PAGE, 8 * PAGE, meet_code);
    return argument;
}

static void
carved(void)
{
    pthread_attr_t attributes;
    pthread_t thread;

    piece = map_piece();
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, piece + 17 * PAGE, (PAGES - 17) * PAGE);
    pthread_create(&thread, &attributes, work_beside_coroutine, NULL);
    pthread_join(thread, NULL);
}

/* A signal's frame as the kernel may make it, and a little. */
static size_t
small_size(void)
{
    return (getauxval(AT_MINSIGSTKSZ) + 1024) & ~(size_t)63;
}

static void
be_terminated(void)
{
    cases_compute(20);
    raise(SIGTERM);
}

static void
be_interrupted(void)
{
    cases_compute(20);
    kill(getpid(), SIGINT);
}

static void
leave(void)
{
    cases_compute(20);
    _exit(7);
}

static void
leave_quickly(void)
{
    cases_compute(20);
    quick_exit(8);
}

/* The process ends by FUNCTION on a small stack above a page that cannot be
 * written; that, or with IS_ALTERNATE the one for signals. */
static void
end_by(void (*function)(void), int is_alternate)
{
    pid_t child = fork();

    if (child == 0) {
        char *stack = map_piece() + PAGE;
        stack_t alternate = {.ss_sp = stack, .ss_size = small_size()};

        mprotect(stack - PAGE, PAGE, PROT_NONE);
        if (!is_alternate)
            run_on(stack, small_size(), function);
        else if (sigaltstack(&alternate, NULL) == 0)
            function();
        _exit(99);
    }
    cases_say_end(child);
}

static void
small(void)
{
    for (int is_alternate = 0; is_alternate <= 1; is_alternate++) {
        end_by(be_terminated, is_alternate);
        end_by(be_interrupted, is_alternate);
        end_by(leave, is_alternate);
        end_by(leave_quickly, is_alternate);
    }
}

static const struct named_case cases[] = {
    {"hole", hole, 0},
    {"carved", carved, 0},
    {"small", small, 0},
};

int
main(int argc, char **argv)
{
    return cases_run(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
