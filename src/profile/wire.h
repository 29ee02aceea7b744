/* SPDX-License-Identifier: MIT */
/*
 * wire.h -- reads the encoding of protobuf messages from memory, field by
 * field, without making anything of them: a profile of millions of samples
 * would be many times its size. Never reads outside of what it was given. Pure.
 */
#ifndef PROFILE_WIRE_H
#define PROFILE_WIRE_H

#include <stdbool.h>
#include <stdint.h>

/* What is left of a message. */
struct wire {
    const uint8_t *at, *end;
    bool is_damaged; /* it ended in the middle, or is no such encoding */
};

enum wire_type { WIRE_NUMBER = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;    /* of a WIRE_NUMBER */
    struct wire bytes; /* of WIRE_BYTES: a string, a message, or numbers */
};

/* The next field of WIRE. False at its end, and when it is damaged. */
bool wire_next(struct wire *wire, struct wire_field *field);

/*
 * The next number of a repeated field, whether they were packed into one field
 * or stand alone. False behind the last; FIELD's bytes are damaged if they are
 * no numbers.
 */
bool wire_number(struct wire_field *field, uint64_t *number);

#endif
