/* SPDX-License-Identifier: MIT */
/*
 * python_code.h -- reads what a code object of Python says of its function. The
 * object may have been freed, and its memory used again. A handler copies what
 * the sampler may not find any more. The sampler makes text of it.
 */
#ifndef UNWIND_PYTHON_CODE_H
#define UNWIND_PYTHON_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "python.h"

/* Limits of the texts and of the table of lines, in bytes. Longer ones are cut.
 */
#define PYTHON_CODE_TEXT 4096u
#define PYTHON_CODE_TABLE (1u << 20)

struct python_code {
    char name[PYTHON_CODE_TEXT], file[PYTHON_CODE_TEXT]; /* UTF-8 */
    int32_t first_line;
    uint32_t table_length;
    uint8_t table[PYTHON_CODE_TABLE]; /* as in the code object */
};

/* A copy of what a code object says: this, and then the name, the file and the
 * table of lines. Texts have characters of WIDTH bytes. All lengths are in
 * bytes. */
struct python_copy {
    int32_t first_line;
    uint32_t name_length, file_length, table_length;
    uint8_t name_width, file_width;
};

/* Bytes that any copy fits in. */
#define PYTHON_COPY_MOST \
    (sizeof(struct python_copy) + 2 * 4 * PYTHON_CODE_TEXT + PYTHON_CODE_TABLE)

/* A sum of what the code object at ADDRESS consists of; 0: there is none. The
 * same sum means the same function. Context: any. */
uint32_t python_code_sum(const struct python *python, uint64_t address);

/* Set SUMS to those of COUNT ADDRESSES, at most SYS_READS_MOST. Returns how
 * many were read before one that cannot be read. Context: sampler. */
unsigned python_code_sums(const struct python *python,
                          const uint64_t *addresses, unsigned count,
                          uint32_t *sums);

/* Copy what the code object at ADDRESS says, whose sum is SUM, to TO, which has
 * ROOM bytes and is aligned for a struct python_copy. Returns the size of the
 * copy; 0 if the object changed meanwhile, cannot be read or does not fit.
 * Makes 5 to 8 system calls. Context: any. */
size_t python_code_copy(const struct python *python, uint64_t address,
                        uint32_t sum, void *to, size_t room);

/* Make *CODE of the copy at FROM. Context: sampler. */
void python_code_take(struct python_code *code, const void *from);

/* Read the name of the function of the code object at ADDRESS into TEXT, which
 * has PYTHON_CODE_TEXT bytes. Its characters come to SCRATCH first, which has 4
 * times as many. Returns false if it cannot be read. Context: sampler. */
bool python_code_name(const struct python *python, uint64_t address, char *text,
                      uint8_t *scratch);

#endif
