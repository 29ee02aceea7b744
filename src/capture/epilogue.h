/* SPDX-License-Identifier: MIT */
/*
 * epilogue.h -- how a function without an unwind table will return: its code is
 * followed from a pc to a return instruction, and what it takes off the stack
 * on the way is what it had there.
 */
#ifndef CAPTURE_EPILOGUE_H
#define CAPTURE_EPILOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules.h"

/* Code that is looked at, in bytes. */
#define EPILOGUE_REACH 8192u

struct epilogue {
    struct rule rule; /* of kind RULE_FRAME */
    size_t same;      /* it holds for so many bytes from the pc on */
};

/* What code may be followed. */
enum epilogue_way {
    EPILOGUE_BRANCHED, /* jumps on every way; of calls, only those of code that
                        * is seen to return */
    EPILOGUE_STRAIGHT, /* some instructions in a row, calls among them */
};

/* Copies up to LIMIT bytes of the code at ADDRESS to TO. Returns how many. */
typedef size_t epilogue_reader(uint64_t address, uint8_t *to, size_t limit);

/* Follow CODE, of which LENGTH bytes (at most EPILOGUE_REACH) were read from PC
 * on; READER reads what it calls (NULL: calls are not followed). False if no
 * return is found, or something on the way is not understood. Context: sampler.
 */
bool epilogue_read(const uint8_t *code, size_t length, enum epilogue_way way,
                   uint64_t pc, epilogue_reader *reader,
                   struct epilogue *epilogue);

#endif
