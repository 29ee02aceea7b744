/* SPDX-License-Identifier: MIT */
/*
 * own_restorer.c -- a signal handler returns to a restorer of the program's own
 * (rt_sigaction(2) itself, SA_RESTORER). It has no unwind table, and lies right
 * after a function that has one. x86-64.
 *
 * Argument: milliseconds of CPU time, 1000.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "work.h"

#define RESTORER 0x04000000 /* SA_RESTORER */

/* struct kernel_sigaction of the kernel. */
struct kernel_action {
    void (*handler)(int number);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

void own_restorer(void);
long neighbour(long n);

__asm__(".pushsection .text\n"
        ".globl neighbour\n"
        ".type neighbour, @function\n"
        "neighbour:\n"
        "    .cfi_startproc\n"
        "    mov %rdi, %rax\n"
        "    ret\n"
        "    .cfi_endproc\n"
        "    .size neighbour, . - neighbour\n"
        "own_restorer:\n"
        "    mov $15, %rax\n"
        "    syscall\n"
        ".popsection\n");

static volatile uint64_t sink;
static unsigned budget;

static void
on_signal(int number)
{
    (void)number;
    sink += work_burn(budget);
    KEEP_FRAME();
}

FRAME static void
raise_it(void)
{
    syscall(SYS_tgkill, getpid(), (int)syscall(SYS_gettid), SIGUSR1);
    sink++;
}

int
main(int argc, char **argv)
{
    struct kernel_action action = {on_signal, RESTORER, own_restorer, 0};

    budget = work_argument(argc, argv, 1, 1000);
    work_expect("main;raise_it;syscall;[^;]*;on_signal;work_burn");
    if (syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, 8) != 0 ||
        neighbour(1) != 1)
        work_fail("rt_sigaction");
    raise_it();
    puts("ok");
    return 0;
}
