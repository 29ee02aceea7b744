/* SPDX-License-Identifier: MIT */
/*
 * landmark.h -- places that are known by the bytes of their code, where no
 * unwind table tells. Code is read by system calls, and not by way of the
 * pages: it would drive the tables out. Context: sampler, in window. x86-64.
 */
#ifndef CAPTURE_LANDMARK_H
#define CAPTURE_LANDMARK_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a signal restorer is at PC or behind it: mov $SYS_rt_sigreturn, %rax;
 * syscall. All C libraries write it so, because unwinders look for these bytes.
 * A handler returns to it without a call before it, so that the pc to look up
 * is the byte in front. */
bool landmark_is_restorer(uint64_t pc);

/* Whether PC is a function's first instruction, endbr64. */
bool landmark_is_entry(uint64_t pc);

/* Whether a system call is at PC, so many bytes long. */
#define LANDMARK_CALL 2u
bool landmark_is_call(uint64_t pc);

#endif
