/* SPDX-License-Identifier: MIT */
/*
 * start.c -- the beginning of a program for aarch64 all of whose code has
 * landing pads. The C library's own beginning may have none, and then nobody
 * checks the others. (GNU ld: all files of a program must have them.)
 */
__attribute__((visibility("hidden"))) void *__dso_handle;

__asm__(".pushsection .text\n"
        ".globl _start\n"
        ".type _start, @function\n"
        "_start:\n"
        ".cfi_startproc\n"
        ".cfi_undefined x30\n"
        "bti c\n"
        "mov x29, #0\n"
        "mov x30, #0\n"
        "mov x5, x0\n" /* what the dynamic loader has for the end */
        "ldr x1, [sp]\n"
        "add x2, sp, #8\n"
        "mov x6, sp\n"
        "adrp x0, :got:main\n"
        "ldr x0, [x0, #:got_lo12:main]\n"
        "mov x3, #0\n"
        "mov x4, #0\n"
        "bl __libc_start_main\n"
        "bl abort\n"
        ".cfi_endproc\n"
        ".size _start, . - _start\n"
        ".popsection\n");
