/* SPDX-License-Identifier: MIT */
/* arch.c -- see arch.h. arch_call_before runs in handlers. It reads code by a
 * system call, because the page in front of the call may not be readable. */
#include <string.h>

#include "base/sys.h"
#include "arch.h"
#include "base/poison.h"

/* Instructions before a system call that are searched for its number: movz x8
 * or movz w8, #NUMBER. */
#define STEPS 16
#define MOVE_TO_X8 0xd2800008u
#define MOVE_TO_W8 0x52800008u
#define MOVE_MASK 0xffe0001fu

/* The last instructions of syscall(2) before the system call: "mov x5, x6" and
 * "mov x6, x7". The number was in x0, from which "uxtw x8, w0" took it. */
#define MOVE_X6_X7 0xaa0703e6u

long
arch_call_before(uint64_t pc)
{
    uint32_t code[STEPS];
    if (!sys_copy_memory(code, pc - sizeof(code), sizeof(code)) ||
        !arch_is_call((const uint8_t *)&code[STEPS - 1]))
        return ARCH_CALL_UNKNOWN;
    if (code[STEPS - 2] == MOVE_X6_X7)
        return ARCH_CALL_GIVEN;
    for (int i = STEPS - 2; i >= 0; i--) {
        uint32_t kind = code[i] & MOVE_MASK;
        if (kind == MOVE_TO_X8 || kind == MOVE_TO_W8)
            return code[i] >> 5 & 0xffff;
        if (arch_is_call((const uint8_t *)&code[i]))
            break;
    }
    return ARCH_CALL_UNKNOWN;
}

bool
arch_may_restart(long number)
{
    static const int16_t calls[] = {SYS_read,           SYS_write,
                                    SYS_readv,          SYS_writev,
                                    SYS_pread64,        SYS_pwrite64,
                                    SYS_preadv,         SYS_pwritev,
                                    SYS_recvfrom,       SYS_recvmsg,
                                    SYS_recvmmsg,       SYS_sendto,
                                    SYS_sendmsg,        SYS_sendmmsg,
                                    SYS_accept,         SYS_accept4,
                                    SYS_connect,        SYS_futex,
                                    SYS_ppoll,          SYS_pselect6,
                                    SYS_epoll_pwait,    SYS_wait4,
                                    SYS_waitid,         SYS_nanosleep,
                                    SYS_flock,          SYS_clock_nanosleep,
                                    SYS_fcntl,          SYS_ioctl,
                                    SYS_msgrcv,         SYS_msgsnd,
                                    SYS_openat,         SYS_mq_timedsend,
                                    SYS_splice,         SYS_mq_timedreceive,
                                    SYS_getrandom,      SYS_rt_sigsuspend,
                                    SYS_restart_syscall};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (number == calls[i])
            return true;
    return false;
}

/* The frame is found by its record, whichever stack the callee runs on. So
 * debuggers and our own walk get from one stack to the other. */
__asm__(".pushsection .text.arch_call_on, \"ax\", @progbits\n"
        ".globl arch_call_on\n"
        ".hidden arch_call_on\n"
        ".type arch_call_on, @function\n"
        "arch_call_on:\n"
        ".cfi_startproc\n"
        "hint #34\n" /* bti c */
        "stp x29, x30, [sp, #-16]!\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset 29, -16\n"
        ".cfi_offset 30, -8\n"
        "mov x29, sp\n"
        ".cfi_def_cfa_register 29\n"
        "mov sp, x0\n"
        "mov x0, x2\n"
        "blr x1\n"
        "mov sp, x29\n"
        ".cfi_def_cfa_register 31\n"
        "ldp x29, x30, [sp], #16\n"
        ".cfi_restore 29\n"
        ".cfi_restore 30\n"
        ".cfi_def_cfa_offset 0\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size arch_call_on, . - arch_call_on\n"
        ".popsection\n");
