/* SPDX-License-Identifier: MIT */
/*
 * bytes.h -- reads numbers and texts from front to back, out of bytes that may
 * be damaged. If a value does not fit, the reading ends: AT becomes NULL, and
 * every later read gives 0 or "".
 */
#ifndef SYMBOL_BYTES_H
#define SYMBOL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    const uint8_t *at, *end; /* AT is NULL when the reading has ended */
};

/* Read a little-endian number of SIZE (at most 8) bytes. */
uint64_t bytes_number(struct bytes *bytes, unsigned size);

/* Read a number in LEB128. */
uint64_t bytes_leb(struct bytes *bytes);
int64_t bytes_signed_leb(struct bytes *bytes);

/* Read a number of FORM, which is DW_FORM_data1 to DW_FORM_data8 or
 * DW_FORM_udata. False, without reading, if it is another form. */
bool bytes_form(struct bytes *bytes, uint64_t form, uint64_t *number);

/* Read a text up to its zero. "" if it has no end. */
const char *bytes_text(struct bytes *bytes);

void bytes_skip(struct bytes *bytes, uint64_t size);

/* The bytes from AT + OFFSET on. BYTES itself does not move. */
struct bytes bytes_from(const struct bytes *bytes, uint64_t offset);

#endif
