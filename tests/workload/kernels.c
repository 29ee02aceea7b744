/* SPDX-License-Identifier: MIT */
/*
 * kernels.c -- functions as numeric libraries have them: written in assembly,
 * tens of kilobytes long, without an unwind table, and with every register in
 * use. Each has another shape, and one function calls it.
 *
 * Argument: milliseconds of CPU time for each shape, 200.
 */
#include <stdio.h>

#include "work.h"

/* About SIZE instructions of arithmetic, done ROUNDS times. */
__asm__(".macro compute rounds, size\n"
        "    movl $\\rounds, %ecx\n"
        "7777:\n"
        "    .rept \\size / 8\n"
        "    addps %xmm1, %xmm2\n"
        "    mulps %xmm4, %xmm5\n"
        "    leaq 8(%rax,%rdx,4), %rax\n"
        "    xorps %xmm7, %xmm8\n"
        "    testb $1, %al\n"
        "    jne 1f\n"
        "    addq $3, %rax\n"
        "1:  addps %xmm3, %xmm6\n"
        "    .endr\n"
        "    decl %ecx\n"
        "    jne 7777b\n"
        ".endm\n"
        ".macro clobber\n"
        "    movq $12345, %rbp\n"
        "    movq $77, %rbx\n"
        "    xorl %r12d, %r12d\n"
        "    leaq 1(%rbp), %r13\n"
        "    movl $9, %r14d\n"
        "    movl $10, %r15d\n"
        ".endm\n"
        ".macro push_all\n"
        "    pushq %rbx; pushq %rbp; pushq %r12\n"
        "    pushq %r13; pushq %r14; pushq %r15\n"
        ".endm\n"
        ".macro pop_all\n"
        "    popq %r15; popq %r14; popq %r13\n"
        "    popq %r12; popq %rbp; popq %rbx\n"
        ".endm\n"
        ".macro function name\n"
        "    .p2align 5\n"
        "    .globl \\name\n"
        "    .type \\name, @function\n"
        "\\name:\n"
        ".endm\n"
        ".macro done name\n"
        "    .size \\name, . - \\name\n"
        ".endm\n");

__asm__(".text\n"
        /* Registers are moved to the frame: MKL. */
        "function k_moves\n"
        "    subq $0x40, %rsp\n"
        "    movq %rbx, (%rsp); movq %rbp, 8(%rsp); movq %r12, 16(%rsp)\n"
        "    movq %r13, 24(%rsp); movq %r14, 32(%rsp); movq %r15, 40(%rsp)\n"
        "    clobber\n"
        "    compute 60, 8000\n"
        "    movq (%rsp), %rbx; movq 8(%rsp), %rbp; movq 16(%rsp), %r12\n"
        "    movq 24(%rsp), %r13; movq 32(%rsp), %r14; movq 40(%rsp), %r15\n"
        "    addq $0x40, %rsp\n"
        "    ret\n"
        "done k_moves\n"
        "function k_pushes\n"
        "    push_all\n"
        "    subq $0x1238, %rsp\n"
        "    clobber\n"
        "    compute 60, 8000\n"
        "    addq $0x1238, %rsp\n"
        "    pop_all\n"
        "    ret\n"
        "done k_pushes\n"
        "function k_aligned_by_fp\n"
        "    pushq %rbp\n"
        "    movq %rsp, %rbp\n"
        "    pushq %rbx; pushq %r12\n"
        "    andq $-64, %rsp\n"
        "    subq $0x800, %rsp\n"
        "    movq $5, %rbx\n"
        "    compute 60, 8000\n"
        "    leaq -16(%rbp), %rsp\n"
        "    popq %r12; popq %rbx; popq %rbp\n"
        "    ret\n"
        "done k_aligned_by_fp\n"
        /* The old stack pointer is in the frame: x264, dav1d. */
        "function k_aligned_by_word\n"
        "    push_all\n"
        "    movq %rsp, %rax\n"
        "    andq $-64, %rsp\n"
        "    subq $0x440, %rsp\n"
        "    movq %rax, 0x400(%rsp)\n"
        "    clobber\n"
        "    compute 60, 8000\n"
        "    movq 0x400(%rsp), %rsp\n"
        "    pop_all\n"
        "    ret\n"
        "done k_aligned_by_word\n"
        "function k_huge_frame\n"
        "    push_all\n"
        "    subq $0x18008, %rsp\n"
        "    clobber\n"
        "    compute 60, 8000\n"
        "    addq $0x18008, %rsp\n"
        "    pop_all\n"
        "    ret\n"
        "done k_huge_frame\n"
        "function k_two_stacks\n"
        "    pushq %rbp; pushq %rbx\n"
        "    movq %rsp, %rax\n"
        "    leaq k_stack + 0x3f00(%rip), %rsp\n"
        "    pushq %rax\n"
        "    movq $12345, %rbp\n"
        "    compute 60, 8000\n"
        "    popq %rsp\n"
        "    popq %rbx; popq %rbp\n"
        "    ret\n"
        "done k_two_stacks\n"
        "function k_x87\n"
        "    pushq %rbp; pushq %rbx\n"
        "    subq $24, %rsp\n"
        "    movl $3, %ebp\n"
        "    movl $40, %ecx\n"
        "1:  .rept 1500\n"
        "    fldl (%rsp); faddl 8(%rsp); fstpl 16(%rsp); fld1; fstp %st(0)\n"
        "    .endr\n"
        "    decl %ecx\n"
        "    jnz 1b\n"
        "    addq $24, %rsp\n"
        "    popq %rbx; popq %rbp\n"
        "    ret\n"
        "done k_x87\n"
        "function k_called\n"
        "    .rept 200; addps %xmm1, %xmm2; mulps %xmm4, %xmm5; .endr\n"
        "    ret\n"
        "done k_called\n"
        "function k_calls_by_table\n"
        "    push_all\n"
        "    subq $0x208, %rsp\n"
        "    clobber\n"
        "    leaq k_table(%rip), %rbx\n"
        "    movl $200, %r12d\n"
        "55: movl %r12d, %eax\n"
        "    andl $1, %eax\n"
        "    call *(%rbx,%rax,8)\n"
        "    compute 1, 800\n"
        "    decl %r12d\n"
        "    jnz 55b\n"
        "    addq $0x208, %rsp\n"
        "    pop_all\n"
        "    ret\n"
        "done k_calls_by_table\n"
        "function k_end\n"
        "    subq $24, %rsp\n"
        "    compute 30, 8000\n"
        "    addq $24, %rsp\n"
        "    ret\n"
        "done k_end\n"
        "function k_ends_in_jump\n"
        "    push_all\n"
        "    subq $0x88, %rsp\n"
        "    clobber\n"
        "    compute 30, 8000\n"
        "    addq $0x88, %rsp\n"
        "    pop_all\n"
        "    jmp k_end\n"
        "done k_ends_in_jump\n"
        "function k_many_ends\n"
        "    push_all\n"
        "    subq $0x108, %rsp\n"
        "    clobber\n"
        "    compute 30, 4000\n"
        "    testb $1, %al\n"
        "    jne 66f\n"
        "    addq $0x108, %rsp\n"
        "    pop_all\n"
        "    ret\n"
        "66: compute 30, 4000\n"
        "    addq $0x108, %rsp\n"
        "    pop_all\n"
        "    ret\n"
        "done k_many_ends\n"
        "function k_switch\n"
        "    push_all\n"
        "    subq $0x88, %rsp\n"
        "    clobber\n"
        "    movl $30, %r12d\n"
        "77: movl %r12d, %eax\n"
        "    andl $3, %eax\n"
        "    leaq k_places(%rip), %rdx\n"
        "    movslq (%rdx,%rax,4), %rax\n"
        "    addq %rdx, %rax\n"
        "    jmp *%rax\n"
        ".Lk_case_0: compute 2, 4000; jmp 88f\n"
        ".Lk_case_1: compute 2, 4000; jmp 88f\n"
        ".Lk_case_2: compute 2, 4000; jmp 88f\n"
        ".Lk_case_3: compute 2, 4000\n"
        "88: decl %r12d\n"
        "    jnz 77b\n"
        "    addq $0x88, %rsp\n"
        "    pop_all\n"
        "    ret\n"
        "done k_switch\n"
        ".section .data.rel.ro, \"aw\"\n"
        ".p2align 3\n"
        "k_table: .quad k_called, k_called\n"
        ".section .rodata\n"
        ".p2align 2\n"
        "k_places:\n"
        "    .long .Lk_case_0 - k_places, .Lk_case_1 - k_places\n"
        "    .long .Lk_case_2 - k_places, .Lk_case_3 - k_places\n"
        ".text\n"
        ".local k_stack\n"
        ".comm k_stack, 0x4000, 64\n");

#define KERNELS(with)                                                          \
    with(k_moves) with(k_pushes) with(k_aligned_by_fp) with(k_aligned_by_word) \
        with(k_huge_frame) with(k_two_stacks) with(k_x87)                      \
            with(k_calls_by_table) with(k_ends_in_jump) with(k_many_ends)      \
                with(k_switch)

/* Half of them are called through a pointer. What the caller has called before
 * leaves return addresses where their frames will be. */
#define CALLER(name)                                    \
    void name(void);                                    \
    FRAME static void call_##name(unsigned ms)          \
    {                                                   \
        void (*volatile pointer)(void) = name;          \
        uint64_t end = work_cpu_ns() + ms * 1000000ull; \
        for (unsigned i = 0; work_cpu_ns() < end; i++)  \
            if (i % 2 == 0)                             \
                name();                                 \
            else                                        \
                pointer();                              \
        KEEP_FRAME();                                   \
    }
KERNELS(CALLER)

#define CALL(name) call_##name(ms);

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 200);

    KERNELS(CALL)
    puts("ok");
    return 0;
}
