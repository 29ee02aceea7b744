/* SPDX-License-Identifier: MIT */
/*
 * wire.h -- reads the encoding of protobuf messages from memory, field by
 * field. It builds no objects: a profile of millions of samples would be many
 * times its size. Never reads outside of its input. Pure.
 */
#ifndef UTIL_WIRE_H
#define UTIL_WIRE_H

#include <stdbool.h>
#include <stdint.h>

/* The rest of a message. */
struct wire {
    const uint8_t *at, *end;
    bool is_damaged; /* it ends in the middle of a field, or is not this
                        encoding */
};

enum wire_type { WIRE_NUMBER = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;    /* of a WIRE_NUMBER */
    struct wire bytes; /* of WIRE_BYTES: a string, a message, or numbers */
};

/* Read the next field of WIRE. False at its end, and if it is damaged. */
bool wire_next(struct wire *wire, struct wire_field *field);

/*
 * Read the next number of a repeated field. The numbers may be packed into one
 * field or stand alone. False after the last; if they are not numbers, FIELD's
 * bytes become damaged.
 */
bool wire_number(struct wire_field *field, uint64_t *number);

#endif
