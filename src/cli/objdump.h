/* SPDX-License-Identifier: MIT */
/*
 * objdump.h -- the instructions of a function, by objdump(1) of the binutils.
 * It runs as a process of its own, without a shell, and gives back at most
 * OBJDUMP_BYTES within OBJDUMP_SECONDS.
 */
#ifndef CLI_OBJDUMP_H
#define CLI_OBJDUMP_H

#include <stdbool.h>
#include <stddef.h>

#include "show/code_text.h"

enum { OBJDUMP_BYTES = 8 << 20, OBJDUMP_SECONDS = 20 };

struct objdump {
    char *text; /* what objdump printed, with NULs after the instructions */
    struct code_instruction *all; /* sorted by offset */
    size_t count;
};

/* Disassemble CODE. Returns 0, or -1 with the reason in ERROR (of SIZE bytes);
 * objdump_release is due in both cases. */
int objdump_function(struct objdump *objdump, const struct profile *profile,
                     const struct code *code, char *error, size_t size);

void objdump_release(struct objdump *objdump);

#endif
