/* SPDX-License-Identifier: MIT */
/*
 * python_code.h -- reads what a code object of Python says of its function. The
 * object may have been freed, and its memory used again. Context: sampler.
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

/* A sum of what the code object at ADDRESS consists of; 0: there is none. The
 * same sum means the same function. Context: any. */
uint32_t python_code_sum(const struct python *python, uint64_t address);

/* Read the name of the function of the code object at ADDRESS into TEXT, which
 * has PYTHON_CODE_TEXT bytes. Returns false if it cannot be read. */
bool python_code_name(const struct python *python, uint64_t address,
                      char *text);

/* Read the code object at ADDRESS, whose sum is SUM, into *CODE. Returns false
 * if it changed meanwhile, or cannot be read. */
bool python_code_read(const struct python *python, uint64_t address,
                      uint32_t sum, struct python_code *code);

#endif
