/* SPDX-License-Identifier: MIT */
/*
 * epilogue.h -- how a function without an unwind table will return. Its code is
 * followed from a pc to a return instruction. It takes off the stack on the way
 * all that it had there.
 */
#ifndef UNWIND_EPILOGUE_H
#define UNWIND_EPILOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules.h"

/* Limit of the code that is read, in bytes. */
#define EPILOGUE_REACH 8192u

struct epilogue {
    struct rule rule; /* of kind RULE_FRAME */
    size_t same;      /* bytes from the pc on for which it holds */
};

/* The code that may be followed. */
enum epilogue_way {
    /* Jumps, on every way. A call only if its function is seen to return. */
    EPILOGUE_BRANCHED,
    EPILOGUE_STRAIGHT, /* some instructions in a row, with calls */
};

/* Copies up to LIMIT bytes of the code at ADDRESS to TO. Returns how many.
 * Context: sampler. */
typedef size_t epilogue_reader(uint64_t address, uint8_t *to, size_t limit);

/* Follow CODE, which has LENGTH bytes (EPILOGUE_REACH at most) from PC on.
 * READER reads the functions that it calls. NULL: calls are not followed.
 * *EPILOGUE becomes what was found. Returns false if no return is found, or an
 * instruction on the way is not understood. Context: sampler. */
bool epilogue_read(const uint8_t *code, size_t length, enum epilogue_way way,
                   uint64_t pc, epilogue_reader *reader,
                   struct epilogue *epilogue);

#endif
