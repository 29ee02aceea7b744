/* SPDX-License-Identifier: MIT */
/*
 * text.h -- builds text in a caller's buffer. The profiled program's side uses
 * it instead of printf. It never overflows: text that does not fit is cut.
 * Context: any.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
    char *buffer;
    size_t size, length; /* LENGTH < SIZE; the buffer always ends with NUL */
    int cut;             /* something did not fit */
};

/* Start an empty text in BUFFER of SIZE (> 0) bytes. */
void text_begin(struct text *text, char *buffer, size_t size);
void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const char *bytes, size_t length);
void text_add_number(struct text *text, uint64_t number);
/* As text_add_number, with commas between thousands. */
void text_add_grouped(struct text *text, uint64_t number);
/* NUMBER / SCALE with one decimal: text_add_tenths(t, 123, 100) adds "1.2". */
void text_add_tenths(struct text *text, uint64_t number, uint64_t scale);

/* Replace by '?' the bytes in the string TEXT that a terminal would obey and
 * not show. These are ASCII's control characters, newlines included, and the
 * bytes of C1. A byte of C1 stands alone (ISO 8859) or after 0xc2 (UTF-8). */
void text_hide_controls(char *text);

#endif
