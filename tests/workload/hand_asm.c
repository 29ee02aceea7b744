/* SPDX-License-Identifier: MIT */
/*
 * hand_asm.c -- functions written in assembly. with_cfi describes itself
 * (push, then rbp as the base of its frame, then a register saved in the
 * middle); without_cfi has no unwind table at all and keeps only the chain of
 * rbp; no_frame_leaf has a table and no frame.
 *
 * Argument: milliseconds of CPU time, 1000.
 */
#include <stdio.h>

#include "work.h"

void with_cfi(void (*callback)(void));
void without_cfi(void (*callback)(void));
void no_frame_leaf(uint64_t rounds);

__asm__(".text\n"
        ".globl with_cfi\n"
        ".type with_cfi, @function\n"
        "with_cfi:\n"
        "    .cfi_startproc\n"
        "    pushq %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbp, -16\n"
        "    movq %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    pushq %rbx\n"
        "    .cfi_offset %rbx, -24\n"
        "    subq $72, %rsp\n"
        "    call *%rdi\n"
        "    addq $72, %rsp\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size with_cfi, . - with_cfi\n"
        ".globl without_cfi\n"
        ".type without_cfi, @function\n"
        "without_cfi:\n"
        "    pushq %rbp\n"
        "    movq %rsp, %rbp\n"
        "    subq $48, %rsp\n"
        "    call *%rdi\n"
        "    leave\n"
        "    ret\n"
        ".size without_cfi, . - without_cfi\n"
        ".globl no_frame_leaf\n"
        ".type no_frame_leaf, @function\n"
        "no_frame_leaf:\n"
        "    .cfi_startproc\n"
        "1:  decq %rdi\n"
        "    jnz 1b\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size no_frame_leaf, . - no_frame_leaf\n");

static volatile uint64_t sink;
static unsigned slice;

FRAME static void
called_back(void)
{
    sink += work_burn(slice);
    no_frame_leaf(1000000);
    KEEP_FRAME();
}

FRAME static void
call_without_cfi(void)
{
    without_cfi(called_back);
    KEEP_FRAME();
}

int
main(int argc, char **argv)
{
    slice = work_argument(argc, argv, 1, 1000) / 200;
    work_expect("main;with_cfi;called_back;(work_burn|no_frame_leaf)");
    work_expect("main;with_cfi;call_without_cfi;without_cfi;called_back;"
                "(work_burn|no_frame_leaf)");
    for (unsigned i = 0; i < 100; i++) {
        with_cfi(called_back);
        with_cfi(call_without_cfi);
    }
    puts("ok");
    return 0;
}
