/* SPDX-License-Identifier: MIT */
/*
 * python_lines.h -- the line of source for a place in the byte code of Python,
 * by the table of its code object. Each version of CPython has its own form of
 * the table. Tables come from the memory of a program, so any byte may be
 * wrong.
 */
#ifndef SYMBOL_PYTHON_LINES_H
#define SYMBOL_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "store/layout.h"

/* The line for the byte OFFSET of the code, by the LENGTH bytes of TABLE. The
 * function begins in line FIRST. Returns 0 if the code there has no line. */
uint32_t python_lines_at(enum script_lines form, const uint8_t *table,
                         size_t length, int32_t first, int64_t offset);

#endif
