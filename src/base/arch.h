/* SPDX-License-Identifier: MIT */
/* arch.h -- the registers and the system calls of the machine that this build
 * is for. */
#ifndef BASE_ARCH_H
#define BASE_ARCH_H

#if defined(__x86_64__)
#include "base/x86_64/arch.h"
#elif defined(__aarch64__)
#include "base/aarch64/arch.h"
#else
#error "expected x86-64 or aarch64; no other has its base/MACHINE/arch.h yet"
#endif

#endif
