/* SPDX-License-Identifier: MIT */
/* bytes.c -- see bytes.h. Report side. */
#include <dwarf.h>
#include <string.h>

#include "bytes.h"

/* Values in DWARF have no alignment, so they are read byte by byte. */
uint64_t
bytes_number(struct bytes *bytes, unsigned size)
{
    uint64_t value = 0;
    if (bytes->at == NULL || (size_t)(bytes->end - bytes->at) < size) {
        bytes->at = NULL;
        return 0;
    }
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)bytes->at[i] << (8 * i);
    bytes->at += size;
    return value;
}

/* Read a LEB128 number. *SHIFT gets the number of bits that it had. */
static uint64_t
read_leb(struct bytes *bytes, unsigned *shift)
{
    uint64_t value = 0;
    *shift = 0;
    for (const uint8_t *p = bytes->at; p != NULL && p < bytes->end; p++) {
        if (*shift < 64)
            value |= (uint64_t)(*p & 0x7f) << *shift;
        *shift += 7;
        if ((*p & 0x80) == 0) {
            bytes->at = p + 1;
            return value;
        }
    }
    bytes->at = NULL;
    *shift = 64;
    return 0;
}

uint64_t
bytes_leb(struct bytes *bytes)
{
    unsigned shift;
    return read_leb(bytes, &shift);
}

/* The highest bit of the number is its sign: 0x7f is -1, but 0xff 0x00 is 127.
 */
int64_t
bytes_signed_leb(struct bytes *bytes)
{
    unsigned shift;
    uint64_t value = read_leb(bytes, &shift);
    if (shift < 64 && value >> (shift - 1) != 0)
        value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

bool
bytes_form(struct bytes *bytes, uint64_t form, uint64_t *number)
{
    switch (form) {
    case DW_FORM_data1:
        *number = bytes_number(bytes, 1);
        return true;
    case DW_FORM_data2:
        *number = bytes_number(bytes, 2);
        return true;
    case DW_FORM_data4:
        *number = bytes_number(bytes, 4);
        return true;
    case DW_FORM_data8:
        *number = bytes_number(bytes, 8);
        return true;
    case DW_FORM_udata:
        *number = bytes_leb(bytes);
        return true;
    default:
        return false;
    }
}

/* A text without an end is damage and reads as "". */
const char *
bytes_text(struct bytes *bytes)
{
    const uint8_t *start = bytes->at;
    const uint8_t *zero =
        start != NULL ? memchr(start, 0, (size_t)(bytes->end - start)) : NULL;
    bytes->at = zero != NULL ? zero + 1 : NULL;
    return zero != NULL ? (const char *)start : "";
}

void
bytes_skip(struct bytes *bytes, uint64_t size)
{
    if (bytes->at != NULL && (uint64_t)(bytes->end - bytes->at) >= size)
        bytes->at += size;
    else
        bytes->at = NULL;
}

struct bytes
bytes_from(const struct bytes *bytes, uint64_t offset)
{
    struct bytes rest = *bytes;
    bytes_skip(&rest, offset);
    return rest;
}
