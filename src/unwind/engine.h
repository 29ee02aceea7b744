/* SPDX-License-Identifier: MIT */
/*
 * engine.h -- undoes frames that hard.c leaves, by libunwind. The build chooses
 * engine_libunwind.c if it has an archive of libunwind that can become part of
 * a shared library, else engine_none.c.
 */
#ifndef UNWIND_ENGINE_H
#define UNWIND_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "hard.h"

/* Make the address space, and let libunwind allocate all that it needs: here or
 * by mmap. Returns 0, or -1 if memory is short. Context: sampler. */
int engine_begin(void);

/* As learn_step. libunwind's locks are stubs (libunwind_stub.c), so this takes
 * none. Returns -1 in a build without libunwind. Context: sampler, in window.
 */
int engine_step(const struct hard_registers *origin, uint32_t depth,
                uint64_t expected_pc, struct view *view, struct regs *caller,
                bool *is_root);

#endif
