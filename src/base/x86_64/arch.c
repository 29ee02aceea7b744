/* SPDX-License-Identifier: MIT */
/*
 * arch.c -- see arch.h: what C cannot say. The frame is found by rbp on
 * whichever stack the callee runs, so that debuggers and our own walk come from
 * one to the other.
 */
#include "arch.h"

__asm__(".pushsection .text.arch_call_on, \"ax\", @progbits\n"
        ".globl arch_call_on\n"
        ".hidden arch_call_on\n"
        ".type arch_call_on, @function\n"
        "arch_call_on:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\n"
        "mov %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "mov %rdi, %rsp\n"
        "mov %rdx, %rdi\n"
        "call *%rsi\n"
        "leave\n"
        ".cfi_def_cfa %rsp, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size arch_call_on, . - arch_call_on\n"
        ".popsection\n");
