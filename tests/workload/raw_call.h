/* SPDX-License-Identifier: MIT */
/* raw_call.h -- a system call by no function of the C library. */
#ifndef WORKLOAD_RAW_CALL_H
#define WORKLOAD_RAW_CALL_H

#if defined(__x86_64__)
static inline long
raw_call(long number, long a, long b, long c, long d)
{
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return number;
}
#else
static inline long
raw_call(long number, long a, long b, long c, long d)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3)
                     : "memory");
    return x0;
}
#endif

#endif
