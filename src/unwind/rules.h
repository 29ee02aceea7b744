/* SPDX-License-Identifier: MIT */
/*
 * rules.h -- the rule table: how a frame is undone, for each pc.
 *
 * A rule is one word. With sp and fp of the frame:
 *   RULE_FRAME   CFA = (sp | fp) + offset, or [fp + offset],
 *                or [sp + offset] + some words
 *                pc = [return slot of CFA]; sp = CFA
 *                fp = fp, [CFA + offset], [fp + offset], or not known
 *   RULE_CHAIN   no unwind table: fp points at the caller's fp and return
 *                address (Go, generated code, assembly)
 *   RULE_GUESS   a search found the caller, and it may be there again:
 *                CFA = sp + offset;
 *                fp = fp, or [CFA + fp_offset] if fp_offset is not 0
 *   RULE_LEAF    CFA = a register + offset, of the frame that was interrupted:
 *                this one, or one that it called, which leaves the register
 *                as it is; fp as in RULE_FRAME. Not known: RULE_CHAIN.
 *                With a link register: CFA = sp + offset, and pc = a register
 *   RULE_SIGNAL  the kernel's signal frame: all registers lie at sp
 *   RULE_ROOT    the outermost frame
 *   RULE_HARD    none of these: hard.h undoes it on the real registers
 *   RULE_NOWHERE not code
 *
 * A rule holds for one pc, or for an aligned block of 16, 128 or 1,024 bytes
 * that lies within one row of the unwind table. The table is one
 * open-addressing table of 16-byte cells. The sampler is its only writer.
 * Readers are wait-free and run in signal handlers.
 */
#ifndef UNWIND_RULES_H
#define UNWIND_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "rule_bits.h"

enum rule_kind {
    RULE_NONE, /* not known */
    RULE_FRAME,
    RULE_CHAIN,
    RULE_SIGNAL,
    RULE_ROOT,
    RULE_HARD,
    RULE_NOWHERE,
    RULE_GUESS,
    RULE_LEAF, /* rule_leaf */
};

enum rule_cfa {
    RULE_CFA_SP,
    RULE_CFA_FP,
    RULE_CFA_FP_DEREF,
    RULE_CFA_SP_DEREF /* rule_deref_offset */
};
enum rule_fp {
    RULE_FP_SAME,
    RULE_FP_AT_CFA,
    RULE_FP_AT_FP,
    RULE_FP_LOST /* the function has overwritten it */
};

/* Flags of a RULE_CHAIN, instead of cfa. */
enum rule_chain {
    /* The code always keeps fp, and 0 is the root. fp may lead to another stack
     * (Go). */
    RULE_CHAIN_ROOTED = 1,
    RULE_CHAIN_LAST = 2, /* If fp leads nowhere, no other way is tried. */
};

/* The word: kind:4 | cfa:2 | fp:2 | cfa_offset:28 | fp_offset:28. On a machine
 * with a link register, fp_offset shares its bits with the return slot
 * (rule_bits.h). */
struct rule {
    uint64_t word;
};

#define RULE_OFFSET_MAX ((1 << 27) - 1)

static inline struct rule
rule_make(enum rule_kind kind)
{
    return (struct rule){kind};
}

static inline enum rule_kind
rule_kind(struct rule rule)
{
    return (enum rule_kind)(rule.word & 15);
}

static inline struct rule
rule_guess(int32_t cfa_offset, int32_t fp_offset)
{
    uint64_t low = ((uint64_t)(uint32_t)cfa_offset & 0xfffffff) << 8;
    return (struct rule){rule_bits_of_fp(fp_offset) | low | RULE_GUESS};
}

static inline struct rule
rule_chain(unsigned flags)
{
    return (struct rule){(uint64_t)flags << 4 | RULE_CHAIN};
}

static inline struct rule
rule_chain_last(struct rule chain)
{
    return (struct rule){chain.word | (uint64_t)RULE_CHAIN_LAST << 4};
}

static inline bool
rule_chain_is(struct rule rule, enum rule_chain flag)
{
    return rule_kind(rule) == RULE_CHAIN && (rule.word >> 4 & flag) != 0;
}

/* A frame with its return address at [CFA - 8]. */
static inline struct rule
rule_frame(enum rule_cfa cfa, int32_t cfa_offset, enum rule_fp fp,
           int32_t fp_offset)
{
    uint64_t high = rule_bits_of_fp(fp_offset);
    uint64_t low = ((uint64_t)(uint32_t)cfa_offset & 0xfffffff) << 8;
    return (struct rule){high | low | (uint64_t)fp << 6 | (uint64_t)cfa << 4 |
                         RULE_FRAME};
}

static inline enum rule_cfa
rule_cfa(struct rule rule)
{
    return (enum rule_cfa)(rule.word >> 4 & 3);
}

static inline enum rule_fp
rule_fp(struct rule rule)
{
    return (enum rule_fp)(rule.word >> 6 & 3);
}

static inline int64_t
rule_cfa_offset(struct rule rule)
{
    return (int64_t)(rule.word << 28) >> 36;
}

static inline int64_t
rule_fp_offset(struct rule rule)
{
    return rule_bits_fp(rule.word);
}

/* The cfa_offset of a RULE_CFA_SP_DEREF: CFA = [sp + SLOT] + MORE, in bytes. */
#define RULE_DEREF_SLOT_BITS 20
#define RULE_DEREF_MORE_MAX 1016

static inline bool
rule_deref_fits(int64_t slot, int64_t more)
{
    return slot >= 0 && slot < 1 << RULE_DEREF_SLOT_BITS && more >= 0 &&
           more <= RULE_DEREF_MORE_MAX && more % 8 == 0;
}

static inline int32_t
rule_deref_offset(int64_t slot, int64_t more)
{
    return (int32_t)(more / 8 << RULE_DEREF_SLOT_BITS | slot);
}

static inline uint64_t
rule_deref_slot(struct rule rule)
{
    return (uint64_t)rule_cfa_offset(rule) & ((1u << RULE_DEREF_SLOT_BITS) - 1);
}

static inline uint64_t
rule_deref_more(struct rule rule)
{
    return ((uint64_t)rule_cfa_offset(rule) >> RULE_DEREF_SLOT_BITS) * 8;
}

/* FRAME, a rule of the kind RULE_FRAME, with another CFA: register NUMBER, as
 * instructions number it, + OFFSET bytes. With a link register, NUMBER has the
 * return address instead. */
#define RULE_LEAF_NUMBER_BITS 5
#define RULE_LEAF_OFFSET_MAX ((1 << 22) - 1)

static inline struct rule
rule_leaf(unsigned number, int32_t offset, struct rule frame)
{
    uint64_t cfa = (uint64_t)offset << RULE_LEAF_NUMBER_BITS | number;
    uint64_t fp = frame.word & ~(0xfffffffull << 8 | 15);
    return (struct rule){fp | cfa << 8 | RULE_LEAF};
}

static inline unsigned
rule_leaf_number(struct rule rule)
{
    return (unsigned)rule_cfa_offset(rule) &
           ((1u << RULE_LEAF_NUMBER_BITS) - 1);
}

static inline int64_t
rule_leaf_offset(struct rule rule)
{
    return rule_cfa_offset(rule) >> RULE_LEAF_NUMBER_BITS;
}

/* Turn RULE, a RULE_FRAME by fp that finds the caller's fp at its CFA, into one
 * by sp, for a frame whose fp is DISTANCE bytes above sp. */
static inline struct rule
rule_by_sp(struct rule rule, int64_t distance)
{
    uint64_t offset = (uint64_t)(rule_cfa_offset(rule) + distance) & 0xfffffff;
    uint64_t rest = rule.word & ~(0xfffffffull << 8 | 3ull << 4);
    return (struct rule){rest | offset << 8 | (uint64_t)RULE_CFA_SP << 4};
}

/* The place of the return address in a frame with RULE and this CFA. */
static inline uint64_t
rule_return_slot(struct rule rule, uint64_t cfa)
{
    return cfa + (uint64_t)rule_bits_return(rule.word);
}

/* Whether the return address is still where the call has left it, in a
 * register. That is possible only in a leaf and in an interrupted frame. */
static inline bool
rule_is_linked(struct rule rule)
{
    return rule_bits_are_linked(rule.word);
}

/* The rule for a function's first instruction. */
static inline struct rule
rule_entry(void)
{
    struct rule rule =
        rule_frame(RULE_CFA_SP, RULE_BITS_ENTRY_CFA, RULE_FP_SAME, 0);
    return (struct rule){rule.word | RULE_BITS_ENTRY};
}

/* Reserve the table, and empty it. Returns 0, or -1 if memory is short.
 * Context: sampler. */
int rules_begin(void);

/* The rule for PC, or one of kind RULE_NONE. Context: any. */
struct rule rules_find(uint64_t pc);

/* Begin to fetch into the caches what rules_find of PC will need. Context: any.
 */
void rules_fetch(uint64_t pc);

/* The fetched data shows where more of it lies. Begin to fetch that, in two
 * steps after rules_fetch. Each step reads what the one before has begun to
 * fetch, so other work should lie between them. Context: any. */
void rules_fetch_more(uint64_t pc);
void rules_fetch_rest(uint64_t pc);

/* The same for a PC that has a rule of its own. Context: any. */
void rules_fetch_exact(uint64_t pc);

/* Whether PC has a rule of its own, and not only its block. Context: sampler.
 */
bool rules_has_exact(uint64_t pc);

/* Let RULE hold for PC. Context: sampler, in window. */
void rules_put(uint64_t pc, struct rule rule);

/* Let RULE hold for all pcs from START to END - 1 that whole blocks cover,
 * within a few KiB of PC. Context: sampler, in window. */
void rules_put_row(uint64_t pc, uint64_t start, uint64_t end, struct rule rule);

/* Forget the rules for START to END - 1. Context: sampler. */
void rules_forget(uint64_t start, uint64_t end);

/* Forget the rule that PC has of its own. Context: sampler. */
void rules_drop(uint64_t pc);

/* Forget every RULE_NOWHERE: code may be there now. Context: sampler. */
void rules_forget_nowhere(void);

/* The number of rules put so far. Context: any. */
uint64_t rules_count(void);

#endif
