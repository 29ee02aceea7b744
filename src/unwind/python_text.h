/* SPDX-License-Identifier: MIT */
/*
 * python_text.h -- reads texts of Python (str), which may have been freed.
 * Their characters have one, two or four bytes. They become UTF-8.
 */
#ifndef UNWIND_PYTHON_TEXT_H
#define UNWIND_PYTHON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "python_layout.h"

/* The characters of a text. */
struct python_text {
    uint64_t address; /* where they begin */
    uint32_t length;  /* of all, in bytes */
    uint8_t width;    /* bytes of one */
};

/* Find the first MOST characters of the text at ADDRESS. HEAD has its first
 * bytes, at least LAYOUT->text.compact. Returns false if it is no text whose
 * characters lie after its head. Context: any. */
bool python_text_find(const struct python_layout *layout, const uint8_t *head,
                      uint64_t address, uint32_t most,
                      struct python_text *text);

/* Bytes of a text that PYTHON_TEXT_ROOM - 1 characters of it take at most. */
#define PYTHON_TEXT_ROOM 64u
#define PYTHON_TEXT_BYTES (80u + 4u * PYTHON_TEXT_ROOM)

/* Write the text at ADDRESS, whose first COUNT bytes are at BYTES, to TO, which
 * has ROOM bytes. Returns false if it is none, or has less than its first ROOM
 * characters there. Context: any. */
bool python_text_of(const struct python_layout *layout, const uint8_t *bytes,
                    long count, uint64_t address, char *to, size_t room);

/* Read the text at ADDRESS into TO, which has PYTHON_TEXT_ROOM bytes. Makes one
 * system call. Returns false if that is no text, or cannot be read. Context:
 * any. */
bool python_text_read(const struct python_layout *layout, uint64_t address,
                      char *to);

#endif
