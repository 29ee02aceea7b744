/* SPDX-License-Identifier: MIT */
/*
 * code_pattern.h -- recognizes places by the bytes of their code, where no
 * unwind table tells. The code is read by system calls, and not into the cache
 * of pages: there it would displace the tables. For x86-64 alone. Context:
 * sampler, in window.
 */
#ifndef UNWIND_X86_64_CODE_PATTERN_H
#define UNWIND_X86_64_CODE_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a signal restorer is at PC or one byte behind it: mov
 * $SYS_rt_sigreturn, %rax; syscall. All C libraries write it so, because
 * unwinders look for these bytes. A handler returns to it without a call before
 * it. So the pc to look up is the byte in front. */
bool code_pattern_is_restorer(uint64_t pc);

/* Whether PC is a function's first instruction, endbr64. */
bool code_pattern_is_entry(uint64_t pc);

/* Whether the code at PC ends the program, by hlt or ud2 after some
 * instructions in a row. The bottom frame of a hand-made stack would return to
 * such code. */
bool code_pattern_is_last(uint64_t pc);

/* Whether a system call is at PC; and its length in bytes. */
#define CODE_PATTERN_CALL 2u
bool code_pattern_is_call(uint64_t pc);

#endif
