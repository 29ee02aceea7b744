/* SPDX-License-Identifier: MIT */
/* rule_bits.h -- a call has pushed the return address of a frame, so all 28
 * bits are the offset of fp. */
#ifndef UNWIND_X86_64_RULE_BITS_H
#define UNWIND_X86_64_RULE_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether OFFSET, where a frame keeps fp, fits into a rule. */
static inline bool
rule_bits_fit(int64_t offset)
{
    return offset < 1 << 27 && offset > -(1 << 27);
}

static inline uint64_t
rule_bits_of_fp(int64_t offset)
{
    return ((uint64_t)offset & 0xfffffff) << 36;
}

static inline int64_t
rule_bits_fp(uint64_t word)
{
    return (int64_t)word >> 36;
}

/* Correct a row of an unwind table: the CFA is *CFA from its register, and the
 * return address is at [CFA + *OFFSET]. */
static inline void
rule_bits_correct(int64_t *cfa, int64_t *offset)
{
    (void)cfa;
    (void)offset;
}

/* Set *BITS to those for a return address at [CFA + OFFSET] if IS_SAVED, else
 * in its register. Returns false if no rule can express that. */
static inline bool
rule_bits_of_return(bool is_saved, int64_t offset, uint64_t *bits)
{
    *bits = 0;
    return is_saved && offset == -8;
}

/* The place of the return address by WORD, relative to the CFA. */
static inline int64_t
rule_bits_return(uint64_t word)
{
    (void)word;
    return -8;
}

/* Whether WORD says that the return address is in its register. */
static inline bool
rule_bits_are_linked(uint64_t word)
{
    (void)word;
    return false;
}

/* The bits of the rule for a function's first instruction, and its offset of
 * the CFA. */
#define RULE_BITS_ENTRY 0u
#define RULE_BITS_ENTRY_CFA 8

/* Whether the instruction OPCODE of an unwind table, which has no operands,
 * does not matter to a rule. */
static inline bool
rule_bits_ignore(unsigned opcode)
{
    (void)opcode;
    return false;
}

/* Numbers of rsp and rbp in instructions; and a number of no register. */
#define CODE_SP 4u
#define CODE_FP 5u
#define CODE_LINK 31u

#endif
