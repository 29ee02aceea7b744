/* SPDX-License-Identifier: MIT */
/* rule_bits.h -- the upper 28 bits of a rule on the machine that this build is
 * for: where a frame keeps the caller's fp and its return address. */
#ifndef UNWIND_RULE_BITS_H
#define UNWIND_RULE_BITS_H

#if defined(__x86_64__)
#include "unwind/x86_64/rule_bits.h"
#else
#include "unwind/aarch64/rule_bits.h"
#endif

#endif
