/* SPDX-License-Identifier: MIT */
/*
 * generated_code.h -- the jitdumps of a process: its own, and those that it
 * inherited by fork. Report side only.
 */
#ifndef SYMBOL_GENERATED_CODE_H
#define SYMBOL_GENERATED_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "jitdump.h"

struct generated_code;

/* Two numbers that mean no certain code. */
#define GENERATED_CODE_FIRST 0u        /* the first code at the address */
#define GENERATED_CODE_NONE UINT32_MAX /* no jitdump has it */

/* Limit of the jitdumps of a process: its own, and those of its parents that
 * had one and forked without exec. Others are left out. */
#define GENERATED_CODE_FILES 8u

/* Make an empty set for PROCESS. NULL if memory is short. */
struct generated_code *
generated_code_new(const struct jitdump_process *process);

/* Returns CODES, for a second owner that frees it, too. */
struct generated_code *generated_code_share(struct generated_code *codes);

/* Add the jitdump at PATH, which is read at the first question. The process had
 * it mapped at SEEN (CLOCK_MONOTONIC ns). A path that is in the set is not
 * added again. Returns 0, or -1 if memory is short. */
int generated_code_add(struct generated_code *codes, const char *path,
                       uint64_t seen);

/* Returns the number of the code that lay at ADDRESS at TIME (CLOCK_MONOTONIC
 * ns). It keeps its meaning when files are read again. */
uint32_t generated_code_find(struct generated_code *codes, uint64_t address,
                             uint64_t time);

/* Whether the code at ADDRESS depends on the time. */
bool generated_code_has_several(struct generated_code *codes, uint64_t address);

/* The function of code NUMBER with the line of ADDRESS. NULL if it has none or
 * memory is short. Equal functions give the same pointer, which is valid until
 * generated_code_forget. */
const struct symbol *generated_code_symbol(struct generated_code *codes,
                                           uint32_t number, uint64_t address);

/* Why file I exists but is not used, or not as a whole. NULL if it is used or
 * does not exist. */
const char *generated_code_problem(const struct generated_code *codes,
                                   unsigned i);

/* Whether a file has changed since it was read. */
bool generated_code_has_news(const struct generated_code *codes);

/* Returns a number that changes when answers may change. */
uint32_t generated_code_version(const struct generated_code *codes);

/* Read the files again at the next question. */
void generated_code_forget(struct generated_code *codes);

/* One owner no longer needs CODES; NULL is allowed. */
void generated_code_free(struct generated_code *codes);

#endif
