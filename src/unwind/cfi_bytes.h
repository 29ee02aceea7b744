/* SPDX-License-Identifier: MIT */
/*
 * cfi_bytes.h -- the bytes of an unwind table: numbers, and instructions (DWARF
 * 5, sections 6.4.2, 7.6 and 7.24). They are foreign bytes. A cursor never
 * leaves its bytes, and notes whether it had to stop at their end.
 */
#ifndef UNWIND_CFI_BYTES_H
#define UNWIND_CFI_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of an FDE from its CIE pointer to the number in front of the
 * augmentation: that pointer, start and size. */
#define FDE_HEAD 12u

/* Limit of the states that the instructions of an FDE remember at a time. */
#define STATES_MAX 8

/* Instructions by their high two bits, and by the whole byte. */
enum { CFA_ADVANCE = 0x40, CFA_OFFSET = 0x80, CFA_RESTORE = 0xc0 };
enum {
    CFA_NOP,
    CFA_SET_LOC,
    CFA_ADVANCE1,
    CFA_ADVANCE2,
    CFA_ADVANCE4,
    CFA_OFFSET_EXTENDED,
    CFA_RESTORE_EXTENDED,
    CFA_UNDEFINED,
    CFA_SAME_VALUE,
    CFA_REGISTER,
    CFA_REMEMBER,
    CFA_RECALL,
    CFA_DEF,
    CFA_DEF_REGISTER,
    CFA_DEF_OFFSET,
    CFA_DEF_EXPRESSION,
    CFA_EXPRESSION,
    CFA_OFFSET_EXTENDED_SF,
    CFA_DEF_SF,
    CFA_DEF_OFFSET_SF,
    CFA_VAL_OFFSET,
    CFA_VAL_OFFSET_SF,
    CFA_VAL_EXPRESSION,
    CFA_ARGS_SIZE = 0x2e,
};

/* A cursor over bytes that were copied from the table. */
struct bytes {
    const uint8_t *at, *end;
    bool bad; /* ran over the end */
};

static inline uint8_t
take_byte(struct bytes *bytes)
{
    if (bytes->at == bytes->end) {
        bytes->bad = true;
        return 0;
    }
    return *bytes->at++;
}

/* Take a number of SIZE bytes, the lowest one first. */
static inline uint64_t
take_bytes(struct bytes *bytes, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)take_byte(bytes) << 8 * i;
    return value;
}

/* Take a LEB128 number. *SHIFT becomes how many bits it has. */
static inline uint64_t
take_bits(struct bytes *bytes, unsigned *shift)
{
    uint64_t value = 0, byte;
    *shift = 0;
    do {
        byte = take_byte(bytes);
        if (*shift < 64)
            value |= (byte & 127) << *shift;
        *shift += 7;
    } while ((byte & 128) != 0 && !bytes->bad);
    return value;
}

static inline uint64_t
take_unsigned(struct bytes *bytes)
{
    unsigned shift;
    return take_bits(bytes, &shift);
}

static inline int64_t
take_signed(struct bytes *bytes)
{
    unsigned shift;
    uint64_t value = take_bits(bytes, &shift);
    if (shift < 64 && (value >> (shift - 1) & 1) != 0)
        value |= ~0ull << shift;
    return (int64_t)value;
}

static inline void
skip_bytes(struct bytes *bytes, uint64_t size)
{
    if ((uint64_t)(bytes->end - bytes->at) < size)
        bytes->bad = true;
    else
        bytes->at += size;
}

/* Take how far instruction OPCODE advances, in units of the code alignment.
 * Returns false if it is another instruction. */
static inline bool
take_advance(struct bytes *bytes, unsigned opcode, uint64_t *advance)
{
    if ((opcode & 0xc0) == CFA_ADVANCE)
        *advance = opcode & 0x3f;
    else if (opcode >= CFA_ADVANCE1 && opcode <= CFA_ADVANCE4)
        *advance = take_bytes(bytes, 1u << (opcode - CFA_ADVANCE1));
    else
        return false;
    return true;
}

#endif
