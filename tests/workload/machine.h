/* SPDX-License-Identifier: MIT */
/* machine.h -- what workloads do that C cannot say: each machine has its folder
 * with a machine.h, which has the same names. */
#ifndef WORKLOAD_MACHINE_H
#define WORKLOAD_MACHINE_H

#if defined(__x86_64__)
#include "x86_64/machine.h"
#elif defined(__aarch64__)
#include "aarch64/machine.h"
#else
#error "expected x86-64 or aarch64; no other has its MACHINE/machine.h yet"
#endif

#endif
