/* SPDX-License-Identifier: MIT */
/* raw_call.h -- a system call by no function of the C library. */
#ifndef WORKLOAD_RAW_CALL_H
#define WORKLOAD_RAW_CALL_H

#include "base/arch.h"

static inline long
raw_call(long number, long a, long b, long c, long d)
{
    return arch_syscall(number, a, b, c, d, 0, 0);
}

#endif
