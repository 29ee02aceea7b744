/* SPDX-License-Identifier: MIT */
/*
 * python_code.h -- reads what a code object of Python says of its function. The
 * object may have been freed, and its memory used again. A handler copies what
 * the sampler may not find any more (script_code.h).
 */
#ifndef UNWIND_PYTHON_CODE_H
#define UNWIND_PYTHON_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "python.h"
#include "script_code.h"

/* A sum of what the code object at ADDRESS consists of; 0: there is none. The
 * same sum means the same function. Context: any. */
uint32_t python_code_sum(const struct python *python, uint64_t address);

/* Set SUMS to those of COUNT ADDRESSES, at most SYS_READS_MOST. Returns how
 * many were read before one that cannot be read. Context: sampler. */
unsigned python_code_sums(const struct python *python,
                          const uint64_t *addresses, unsigned count,
                          uint32_t *sums);

/* Copy what the code object at ADDRESS says, whose sum is SUM, to TO, which has
 * ROOM bytes and is aligned for a struct script_copy. Returns the size of the
 * copy; 0 if the object changed meanwhile, cannot be read or does not fit.
 * Makes 5 to 8 system calls. Context: any. */
size_t python_code_copy(const struct python *python, uint64_t address,
                        uint32_t sum, void *to, size_t room);

/* Read the name of the function of the code object at ADDRESS into TEXT, which
 * has SCRIPT_TEXT bytes. Its characters come to SCRATCH first, which has 4
 * times as many. Returns false if it cannot be read. Context: sampler. */
bool python_code_name(const struct python *python, uint64_t address, char *text,
                      uint8_t *scratch);

#endif
