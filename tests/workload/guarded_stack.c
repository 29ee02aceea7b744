/* SPDX-License-Identifier: MIT */
/*
 * guarded_stack.c -- a stack with a guard inside its one mapping, as glibc 2.42
 * makes it (madvise(2), MADV_GUARD_INSTALL, Linux 6.13): the lowest page cannot
 * be read, which /proc/PID/maps does not show. A leaf stands right above the
 * guard, and its table says that rbp was saved below. Signals come to an
 * alternate stack. Without the call the page is made inaccessible.
 *
 * Argument: milliseconds of CPU time, 500. Prints "ok".
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

/* MADV_GUARD_INSTALL (asm-generic/mman-common.h). */
#define GUARD_INSTALL 102
#define SIZE (256u << 10)
#define PAGE 4096u

static unsigned budget;
static char *stack;

/* spin_above_guard(TOP, COUNT): count down with rsp at TOP, where the return
 * address is written for the unwinder. */
__asm__(".text\n"
        ".type spin_above_guard, @function\n"
        "spin_above_guard:\n"
        ".cfi_startproc\n"
        "mov (%rsp), %rax\n"
        "mov %rax, (%rdi)\n"
        "mov %rsp, %rdx\n"
        "mov %rdi, %rsp\n"
        ".cfi_offset 6, -16\n"
        "1: dec %rsi\n"
        "jnz 1b\n"
        "mov %rdx, %rsp\n"
        ".cfi_same_value 6\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size spin_above_guard, . - spin_above_guard\n");
void spin_above_guard(void *top, uint64_t count);

static void *
thread_main(void *argument)
{
    char *page = stack + SIZE / 2;
    stack_t alternate = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&alternate, NULL);
    work_burn(budget / 2); /* samples show where this stack is */
    if (madvise(page - PAGE, PAGE, GUARD_INSTALL) != 0 &&
        mprotect(page - PAGE, PAGE, PROT_NONE) != 0)
        work_fail("no guard");
    clock_t end = clock() + (clock_t)budget * (CLOCKS_PER_SEC / 1000);
    while (clock() < end)
        spin_above_guard(page, 100000);
    return argument;
}

int
main(int argc, char **argv)
{
    pthread_t thread;
    pthread_attr_t attributes;
    budget = work_argument(argc, argv, 1, 500);
    stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_init(&attributes);
    if (stack == MAP_FAILED ||
        pthread_attr_setstack(&attributes, stack, SIZE) != 0 ||
        pthread_create(&thread, &attributes, thread_main, NULL) != 0)
        work_fail("no thread");
    pthread_join(thread, NULL);
    puts("ok");
    return 0;
}
