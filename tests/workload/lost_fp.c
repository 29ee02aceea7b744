/* SPDX-License-Identifier: MIT */
/*
 * lost_fp.c -- functions with a frame pointer, with and without an unwind
 * table, call assembly that keeps rbp where no table and no rule can say it: in
 * a vector register. A signal's handler interrupts that assembly, too.
 *
 * Argument: milliseconds of CPU time for each of them, 200.
 */
#include <signal.h>
#include <stdio.h>

#include "work.h"

/* The return is too far away to be looked for from the middle. */
__asm__(".text\n"
        ".p2align 5\n"
        ".globl lost_fp\n"
        ".type lost_fp, @function\n"
        "lost_fp:\n"
        "    movq %rbp, %xmm15\n"
        "    xorl %ebp, %ebp\n"
        "    testl %edi, %edi\n"
        "    je 1f\n"
        "    movl $39, %eax\n" /* getpid */
        "    syscall\n"
        "    movl %eax, %edi\n"
        "    movl $10, %esi\n" /* SIGUSR1 */
        "    movl $62, %eax\n" /* kill */
        "    syscall\n"
        "1:  movl $100, %eax\n"
        "2:  .rept 4000\n"
        "    addps %xmm1, %xmm2\n"
        "    mulps %xmm3, %xmm4\n"
        "    .endr\n"
        "    decl %eax\n"
        "    jne 2b\n"
        "    movq %xmm15, %rbp\n"
        "    ret\n"
        ".size lost_fp, . - lost_fp\n"
        /* It has no table, and goes on for long after its call. */
        ".p2align 5\n"
        ".globl untabled\n"
        ".type untabled, @function\n"
        "untabled:\n"
        "    pushq %rbp\n"
        "    movq %rsp, %rbp\n"
        "    pushq %rbx\n"
        "    subq $0x48, %rsp\n"
        "    call lost_fp\n"
        "    .rept 4000\n"
        "    addps %xmm1, %xmm2\n"
        "    .endr\n"
        "    addq $0x48, %rsp\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size untabled, . - untabled\n");

void lost_fp(int has_signal);
void untabled(int has_signal);

FRAME static void
burn(void)
{
    work_burn(5);
    KEEP_FRAME();
}

static void
handle(int signal)
{
    (void)signal;
    burn();
}

FRAME static void
tabled(int has_signal)
{
    lost_fp(has_signal);
    KEEP_FRAME();
}

FRAME static void
repeat(void (*function)(int), int has_signal, unsigned ms)
{
    uint64_t end = work_cpu_ns() + ms * 1000000ull;
    while (work_cpu_ns() < end)
        function(has_signal);
    KEEP_FRAME();
}

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 200);

    signal(SIGUSR1, handle);
    for (int has_signal = 0; has_signal < 2; has_signal++) {
        repeat(tabled, has_signal, ms);
        repeat(untabled, has_signal, ms);
    }
    puts("ok");
    return 0;
}
