/* SPDX-License-Identifier: MIT */
/*
 * bytes.c -- see bytes.h. Report side.
 */
#include <string.h>

#include "bytes.h"

/* Byte by byte, because values in DWARF have no alignment. */
uint64_t
bytes_number(struct bytes *bytes, unsigned size)
{
    uint64_t value = 0;

    if (!bytes->at || (size_t)(bytes->end - bytes->at) < size) {
        bytes->at = NULL;
        return (0);
    }
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)bytes->at[i] << (8 * i);
    bytes->at += size;
    return (value);
}

/* The number, and in *SHIFT how many bits of it were there. */
static uint64_t
read_leb(struct bytes *bytes, unsigned *shift)
{
    uint64_t value = 0;

    *shift = 0;
    for (const uint8_t *p = bytes->at; p && p < bytes->end; p++) {
        if (*shift < 64)
            value |= (uint64_t)(*p & 0x7f) << *shift;
        *shift += 7;
        if (!(*p & 0x80)) {
            bytes->at = p + 1;
            return (value);
        }
    }
    bytes->at = NULL;
    *shift = 64;
    return (0);
}

uint64_t
bytes_leb(struct bytes *bytes)
{
    unsigned shift;

    return (read_leb(bytes, &shift));
}

/* The highest bit that was there stands for all above it: 0x7f is -1, but 0xff
 * 0x00 is 127. */
int64_t
bytes_signed_leb(struct bytes *bytes)
{
    unsigned shift;
    uint64_t value = read_leb(bytes, &shift);

    if (shift < 64 && value >> (shift - 1))
        value |= ~(uint64_t)0 << shift;
    return ((int64_t)value);
}

/* A text that never ends is damage, and reads as "". */
const char *
bytes_text(struct bytes *bytes)
{
    const uint8_t *start = bytes->at, *zero;

    zero = start ? memchr(start, 0, (size_t)(bytes->end - start)) : NULL;
    bytes->at = zero ? zero + 1 : NULL;
    return (zero ? (const char *)start : "");
}

void
bytes_skip(struct bytes *bytes, uint64_t size)
{
    if (bytes->at && (uint64_t)(bytes->end - bytes->at) >= size)
        bytes->at += size;
    else
        bytes->at = NULL;
}

struct bytes
bytes_from(const struct bytes *bytes, uint64_t offset)
{
    struct bytes rest = *bytes;

    bytes_skip(&rest, offset);
    return (rest);
}
