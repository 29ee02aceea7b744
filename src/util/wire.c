/* SPDX-License-Identifier: MIT */
/*
 * wire.c -- see wire.h. A number has 7 bits in each byte, the lowest first; a
 * set top bit says that more follow. A field is number * 8 + type, followed by
 * its value.
 */
#include <stddef.h>

#include "wire.h"

/* Bytes of the longest number. */
enum { LONGEST = 10 };

static bool
mark_damaged(struct wire *wire)
{
    wire->is_damaged = true;
    wire->at = wire->end;
    return false;
}

static bool
read_number(struct wire *wire, uint64_t *number)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < LONGEST && wire->at < wire->end; i++) {
        uint8_t byte = *wire->at++;
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if ((byte & 0x80) != 0)
            continue;
        *number = value;
        /* The tenth byte has room for one bit. */
        return i < LONGEST - 1 || byte <= 1 || mark_damaged(wire);
    }
    return mark_damaged(wire);
}

static bool
skip_bytes(struct wire *wire, uint64_t length)
{
    if (length > (uint64_t)(wire->end - wire->at))
        return mark_damaged(wire);
    wire->at += length;
    return true;
}

static bool
read_bytes(struct wire *wire, struct wire *bytes)
{
    uint64_t length;
    if (!read_number(wire, &length))
        return false;
    bytes->at = wire->at;
    if (!skip_bytes(wire, length))
        return false;
    bytes->end = wire->at;
    return true;
}

bool
wire_next(struct wire *wire, struct wire_field *field)
{
    *field = (struct wire_field){0};
    uint64_t head;
    if (wire->is_damaged || wire->at == wire->end || !read_number(wire, &head))
        return false;
    if (head >> 3 == 0 || head >> 3 > UINT32_MAX)
        return mark_damaged(wire);
    field->number = (uint32_t)(head >> 3);
    field->type = (enum wire_type)(head & 7);
    switch (field->type) {
    case WIRE_NUMBER:
        return read_number(wire, &field->value);
    case WIRE_64:
        return skip_bytes(wire, 8);
    case WIRE_BYTES:
        return read_bytes(wire, &field->bytes);
    case WIRE_32:
        return skip_bytes(wire, 4);
    }
    return mark_damaged(wire);
}

/* A number that stands alone becomes an empty list of numbers after it is read.
 */
bool
wire_number(struct wire_field *field, uint64_t *number)
{
    if (field->type == WIRE_NUMBER) {
        *number = field->value;
        field->type = WIRE_BYTES;
        field->bytes = (struct wire){0};
        return true;
    }
    if (field->type != WIRE_BYTES)
        return mark_damaged(&field->bytes);
    return field->bytes.at < field->bytes.end &&
           read_number(&field->bytes, number);
}
