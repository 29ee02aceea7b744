/* SPDX-License-Identifier: MIT */
/*
 * rule_bits.h -- a call leaves the return address in a register, and a function
 * saves it anywhere in its frame. So two offsets share the 28 bits, in words of
 * 8 bytes and 14 bits each: that of fp, and that of the return address. The
 * latter is counted from [CFA - 8], so that 0 is the place on other machines.
 * One word above that is the caller's frame: this value means the register.
 */
#ifndef UNWIND_AARCH64_RULE_BITS_H
#define UNWIND_AARCH64_RULE_BITS_H

#include <stdbool.h>
#include <stdint.h>

#define RULE_BITS_LINKED (1ull << 50)

/* Whether OFFSET, where a frame keeps fp or the return address, fits into a
 * rule. */
static inline bool
rule_bits_fit(int64_t offset)
{
    return offset % 8 == 0 && offset < 8 << 13 && offset >= -(8 << 13);
}

static inline uint64_t
rule_bits_of_fp(int64_t offset)
{
    return ((uint64_t)(offset / 8) & 0x3fff) << 36;
}

static inline int64_t
rule_bits_fp(uint64_t word)
{
    return (int64_t)(word << 14) >> 50 << 3;
}

/* Correct a row of an unwind table: the CFA is *CFA from its register, and the
 * return address is at [CFA + *OFFSET]. The table of glibc's
 * _dl_runtime_resolve leaves out the two words that the PLT has pushed. */
static inline void
rule_bits_correct(int64_t *cfa, int64_t *offset)
{
    if (*offset == 8) {
        *cfa += 16;
        *offset -= 16;
    }
}

/* Set *BITS to those for a return address at [CFA + OFFSET] if IS_SAVED, else
 * in its register. Returns false if no rule can express that. */
static inline bool
rule_bits_of_return(bool is_saved, int64_t offset, uint64_t *bits)
{
    *bits = is_saved ? (uint64_t)(offset / 8 + 1) << 50 : RULE_BITS_LINKED;
    return !is_saved || (rule_bits_fit(offset) && offset < 0);
}

/* The place of the return address by WORD, relative to the CFA. */
static inline int64_t
rule_bits_return(uint64_t word)
{
    return ((int64_t)word >> 50) * 8 - 8;
}

/* Whether WORD says that the return address is in its register. */
static inline bool
rule_bits_are_linked(uint64_t word)
{
    return word >> 50 == RULE_BITS_LINKED >> 50;
}

/* The bits of the rule for a function's first instruction, and its offset of
 * the CFA. */
#define RULE_BITS_ENTRY RULE_BITS_LINKED
#define RULE_BITS_ENTRY_CFA 0

/* Whether the instruction OPCODE of an unwind table, which has no operands,
 * does not matter to a rule. DW_CFA_AARCH64_negate_ra_state (0x2d; 0x2c also
 * names the pc) says whether the return address is signed. All are stripped of
 * signatures here. */
static inline bool
rule_bits_ignore(unsigned opcode)
{
    return opcode == 0x2d || opcode == 0x2c;
}

/* Numbers of sp, x29 and x30 in instructions. */
#define CODE_SP 31u
#define CODE_FP 29u
#define CODE_LINK 30u

#endif
