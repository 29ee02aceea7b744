/* SPDX-License-Identifier: MIT */
/*
 * expression.h -- evaluates an expression of an unwind table: a small program
 * for a machine with a stack (DWARF 5, sections 2.5 and 6.4.2). The table is
 * foreign: the program may be nonsense, and need not end.
 */
#ifndef UNWIND_EXPRESSION_H
#define UNWIND_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Access for an expression. Both functions get FROM, and return false if the
 * value is not known. */
struct expression_source {
    bool (*load)(void *from, uint64_t address, uint64_t *word);
    bool (*get)(void *from, uint64_t number, uint64_t *value);
    void *from;
};

/* Limit of the length of an expression that is evaluated, in bytes. */
#define EXPRESSION_MAX 128u

/* Run the LENGTH bytes of CODE. The stack begins with FIRST, unless that is
 * NULL. *RESULT becomes the top of the stack at the end. Returns false if the
 * code makes no sense, needs an unknown value, or does not end soon. Context:
 * sampler, in window. */
bool expression_run(const uint8_t *code, size_t length,
                    const struct expression_source *source,
                    const uint64_t *first, uint64_t *result);

#endif
