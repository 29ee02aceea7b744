/* SPDX-License-Identifier: MIT */
/* instruction.c -- see instruction.h. */
#include "instruction.h"

#define NONE 255

/* The BITS bits of WORD from bit LOW on, with a sign. */
static int32_t
signed_bits(uint32_t word, unsigned low, unsigned bits)
{
    return (int32_t)(word << (32 - low - bits)) >> (32 - bits);
}

/* Note whether a load from another base than sp writes x29 or x30. */
static void
note_other_base(uint32_t word, bool is_load, struct instruction *in)
{
    bool is_vector = (word >> 26 & 1) != 0;
    bool is_frame = in->first == REG_FP || in->first == REG_LINK ||
                    in->second == REG_FP || in->second == REG_LINK;
    if (is_load && is_frame && !is_vector)
        in->kind = IN_WRITE_FP;
    in->first = in->second = NONE;
}

/* ldp, stp and their like: 8 bytes a register, 16 of vectors (C4.1, "Load/store
 * register pair"). stgp stores 16 bytes and their tag. */
static void
read_pair(uint32_t word, struct instruction *in)
{
    unsigned size = word >> 30, how = word >> 23 & 3;
    bool is_vector = (word >> 26 & 1) != 0;
    bool is_load = (word >> 22 & 1) != 0;
    int32_t scale = is_vector               ? 4 << size
                    : size == 2             ? 8
                    : size == 1 && !is_load ? 16
                                            : 4;
    int32_t amount = signed_bits(word, 15, 7) * scale;
    in->first = is_vector || size != 2 ? NONE : word & 31;
    in->second = is_vector || size != 2 ? NONE : word >> 10 & 31;
    if ((word >> 5 & 31) != REG_STACK) {
        note_other_base(word, is_load, in);
        return;
    }
    in->kind = is_load ? IN_LOAD : IN_STORE;
    in->is_writing_back = (how & 1) != 0;
    in->move = in->is_writing_back ? amount : 0;
    in->offset = how == 1 ? 0 : amount; /* 1: first the access, then the move */
}

/* ldr and str of one register. */
static void
read_single(uint32_t word, struct instruction *in)
{
    bool is_vector = (word >> 26 & 1) != 0;
    bool is_wide = !is_vector && word >> 30 == 3;
    bool has_place = (word >> 24 & 1) != 0;
    unsigned how = word >> 10 & 3;
    bool is_load = (word >> 22 & 3) != 0;
    in->first = is_wide ? word & 31 : NONE;
    if ((word >> 5 & 31) != REG_STACK) {
        note_other_base(word, is_load, in);
        return;
    }
    in->kind = is_load ? IN_LOAD : IN_STORE;
    if (has_place) {
        in->offset = (int32_t)(word >> 10 & 0xfff) * 8;
        return;
    }
    /* Bit 21: an index in a register, or an atomic operation. */
    if ((word >> 21 & 1) != 0) {
        in->first = NONE;
        return;
    }
    int32_t amount = signed_bits(word, 12, 9);
    in->is_writing_back = (how & 1) != 0;
    in->move = in->is_writing_back ? amount : 0;
    in->offset = how == 1 ? 0 : amount;
}

/* add and sub of a constant. addg and subg change the tag, too: bit 23. */
static void
read_sum(uint32_t word, struct instruction *in)
{
    unsigned to = word & 31, from = word >> 5 & 31;
    int32_t amount = (int32_t)(word >> 10 & 0xfff);
    bool is_wide = word >> 31 != 0, sets_flags = (word >> 29 & 1) != 0;
    bool has_tag = (word >> 23 & 1) != 0;
    amount <<= (word >> 22 & 1) != 0 ? 12 : 0;
    in->offset = (word >> 30 & 1) != 0 ? -amount : amount;
    if (to == REG_STACK && !sets_flags)
        in->kind = !is_wide || has_tag ? IN_UNKNOWN
                   : from == REG_STACK ? IN_MOVE
                   : from == REG_FP    ? IN_USE_FP
                                       : IN_UNKNOWN;
    else if (to == REG_FP)
        in->kind =
            is_wide && !has_tag && from == REG_STACK ? IN_SET_FP : IN_WRITE_FP;
}

/* Branches, system instructions and exceptions. */
static void
read_branch(uint32_t word, struct instruction *in)
{
    if (word >> 26 == 0x05 || word >> 26 == 0x25) {
        in->kind = word >> 31 != 0 ? IN_CALL : IN_JUMP;
        in->target = (int64_t)signed_bits(word, 0, 26) * 4;
    } else if (word >> 24 == 0x54 || (word >> 25 & 0x3f) == 0x1a) {
        in->kind = IN_BRANCH;
        in->target = (int64_t)signed_bits(word, 5, 19) * 4;
    } else if ((word >> 25 & 0x3f) == 0x1b) {
        in->kind = IN_BRANCH;
        in->target = (int64_t)signed_bits(word, 5, 14) * 4;
    } else if (word >> 25 == 0x6b) {
        /* br, blr, ret, and the same with authentication (bit 11). */
        unsigned operation = word >> 21 & 7;
        bool is_by_link = (word >> 5 & 31) == REG_LINK || (word >> 11 & 1) != 0;
        in->kind = operation == 1                 ? IN_CALL_REGISTER
                   : operation == 2 && is_by_link ? IN_RETURN
                                                  : IN_END;
    } else if (word >> 24 == 0xd4) {
        in->kind = (word & 31) == 1 ? IN_OTHER : IN_END; /* svc goes on */
    } else if ((word & 0xffffff3fu) == 0xd503241fu) {
        in->kind = IN_LANDING; /* bti c, j, jc */
    } else if (word == 0xd503233fu || word == 0xd503237fu) {
        in->kind = IN_LANDING; /* paciasp, pacibsp */
    }
}

/* Whether WORD adds the size of a vector to a register, or reads it: addvl,
 * addpl, rdvl (C4.1, "SVE stack frame size" and "SVE stack frame adjustment").
 */
static bool
is_vector_size(uint32_t word)
{
    return (word & 0xff20f000u) == 0x04205000u;
}

void
instruction_read(uint32_t word, struct instruction *in)
{
    unsigned group = word >> 25 & 15, to = word & 31;
    *in = (struct instruction){.first = NONE, .second = NONE};
    if ((word & 0x1f000000u) == 0x11000000u)
        read_sum(word, in);
    else if ((group & 14) == 8)
        /* Other operations on constants. A logical one may set sp. */
        in->kind = (word & 0x1f800000u) == 0x12000000u && to == REG_STACK &&
                           (word >> 29 & 3) != 3
                       ? IN_UNKNOWN
                   : to == REG_FP ? IN_WRITE_FP
                                  : IN_OTHER;
    else if ((group & 14) == 10)
        read_branch(word, in);
    else if ((word & 0x3a000000u) == 0x28000000u)
        read_pair(word, in);
    else if ((word & 0x3a000000u) == 0x38000000u)
        read_single(word, in);
    else if ((word & 0x3fe00000u) == 0x0b200000u && to == REG_STACK)
        in->kind = IN_UNKNOWN; /* sp plus or minus a register */
    else if (is_vector_size(word) && to == REG_STACK)
        in->kind = IN_UNKNOWN;
    else if ((word & 0xff200400u) == 0xd9200400u &&
             (word >> 5 & 31) == REG_STACK)
        in->kind = IN_UNKNOWN; /* stg and its like, which move sp */
    else if (((group & 7) == 5 || is_vector_size(word)) && to == REG_FP)
        in->kind = IN_WRITE_FP;
    else if (group < 2)
        in->kind = word >> 16 == 0 ? IN_END : IN_OTHER; /* udf; SVE */
}

bool
instruction_slot(const uint32_t words[2], uint64_t at, uint64_t *slot)
{
    if ((words[0] & 0x9f00001fu) != 0x90000010u ||
        (words[1] & 0xffc003ffu) != 0xf9400211u)
        return false;
    uint64_t pages =
        (uint64_t)(words[0] >> 5 & 0x7ffff) << 2 | (words[0] >> 29 & 3);
    uint64_t distance = (uint64_t)((int64_t)(pages << 43) >> 43) << 12;
    *slot = (at & ~4095ull) + distance + (uint64_t)(words[1] >> 10 & 0xfff) * 8;
    return true;
}
