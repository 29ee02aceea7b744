/* SPDX-License-Identifier: MIT */
/*
 * bytes.h -- reading numbers and texts from front to back, out of bytes that
 * may be damaged. What does not fit ends the reading: AT becomes NULL, and all
 * that is asked for afterwards is 0.
 */
#ifndef SYMBOL_BYTES_H
#define SYMBOL_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
    const uint8_t *at, *end; /* AT: NULL if there is nothing (more) */
};

/* A little-endian number of SIZE (at most 8) bytes. */
uint64_t bytes_number(struct bytes *bytes, unsigned size);

/* Numbers in LEB128. */
uint64_t bytes_leb(struct bytes *bytes);
int64_t bytes_signed_leb(struct bytes *bytes);

/* A text up to its zero; "" if it has no end. */
const char *bytes_text(struct bytes *bytes);

void bytes_skip(struct bytes *bytes, uint64_t size);

/* What begins OFFSET behind AT, as bytes of their own. */
struct bytes bytes_from(const struct bytes *bytes, uint64_t offset);

#endif
