/* SPDX-License-Identifier: MIT */
/*
 * code_pattern.h -- recognizes places by the bytes of their code, where no
 * unwind table has them. The code is read by system calls, and not into the
 * cache of pages: there it would displace the tables. Context: sampler, in
 * window.
 */
#ifndef UNWIND_CODE_PATTERN_H
#define UNWIND_CODE_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "rules.h"

/* Whether a signal restorer is at PC or one byte after it, which makes the
 * system call rt_sigreturn. All C libraries write it alike, because unwinders
 * look for its bytes. A handler returns to it without a call before it. So the
 * pc to look up is the byte in front. */
bool code_pattern_is_restorer(uint64_t pc);

/* Whether PC is a function's first instruction, a landing pad. */
bool code_pattern_is_entry(uint64_t pc);

/* The rule for PC if it is in a stub of a PLT, else one of kind RULE_NONE. */
struct rule code_pattern_stub(uint64_t pc);

/* Whether the code at PC ends the program after some instructions in a row. The
 * bottom frame of a hand-made stack would return to such code. */
bool code_pattern_is_last(uint64_t pc);

/* Whether PC is among the instructions in a row that begin at ENTRY, where the
 * kernel starts a program or its dynamic loader: nothing has called that code.
 */
bool code_pattern_is_first(uint64_t entry, uint64_t pc);

#endif
