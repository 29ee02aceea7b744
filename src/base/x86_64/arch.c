/* SPDX-License-Identifier: MIT */
/*
 * arch.c -- see arch.h. arch_call_before runs in handlers. It reads code by a
 * system call, because the page in front of the call may not be readable.
 */
#include <string.h>

#include "base/sys.h"
#include "arch.h"
#include "base/poison.h"

/* Bytes of code before a system call that are searched for its number, which
 * "mov $NUMBER, %eax" sets. */
#define CODE_BEFORE 64
#define MOVE_TO_EAX 0xb8

/* The last instruction of syscall(2) before the system call is "mov 8(%rsp),
 * %r9". */
long
arch_call_before(uint64_t pc)
{
    static const uint8_t by_argument[] = {0x4c, 0x8b, 0x4c, 0x24, 0x08};
    uint8_t code[CODE_BEFORE];
    int32_t number;
    if (!sys_copy_memory(code, pc - CODE_BEFORE, CODE_BEFORE))
        return ARCH_CALL_UNKNOWN;
    const uint8_t *at = code + CODE_BEFORE - ARCH_CALL_SIZE;
    if (!arch_is_call(at))
        return ARCH_CALL_UNKNOWN;
    at -= sizeof(by_argument);
    if (memcmp(at, by_argument, sizeof(by_argument)) == 0)
        return ARCH_CALL_GIVEN;
    for (; at >= code && !arch_is_call(at); at--)
        if (*at == MOVE_TO_EAX) {
            memcpy(&number, at + 1, sizeof(number));
            return number;
        }
    return ARCH_CALL_UNKNOWN;
}

/* The frame is found by rbp, whichever stack the callee runs on. So debuggers
 * and our own walk get from one stack to the other. A shadow stack belongs to
 * the thread, not to rsp (Intel SDM, volume 1, section 17.2): the call adds an
 * entry, and the callee's return takes that entry off. */
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
