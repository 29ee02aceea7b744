/* SPDX-License-Identifier: MIT */
/* code_rule.c -- see code_rule.h. */
#include "base/arch.h"
#include "code_rule.h"
#include "base/poison.h"

/* Where the caller's register NUMBER is saved: *AT. */
static bool
find_saved(const struct code_state *state, unsigned number, unsigned kind,
           struct code_value *at)
{
    for (uint32_t i = 0; i < state->count; i++)
        if (code_state_is_entry(state->slots[i].value, number) &&
            state->slots[i].at.kind == kind) {
            *at = state->slots[i].at;
            return true;
        }
    return false;
}

/* Where the CFA itself, or an address at a known distance from it, is saved
 * above the last alignment of sp. */
static bool
find_cfa(const struct code_state *state, struct code_slot *found)
{
    for (uint32_t i = 0; i < state->count; i++)
        if (state->slots[i].value.kind == VALUE_CFA &&
            state->slots[i].at.kind == VALUE_BASE) {
            *found = state->slots[i];
            return true;
        }
    return false;
}

/* RULE with the place of the return address, which a call leaves in a register.
 * It may be in one of REGISTERS instead. */
static struct rule
add_return(const struct code_state *state, struct rule rule, uint32_t registers)
{
    struct code_value at = {0};
    uint64_t bits;
    bool is_linked =
        code_state_is_entry(state->registers[CODE_LINK], CODE_LINK);
    bool is_saved = find_saved(state, CODE_LINK, VALUE_CFA, &at);
    if ((is_saved || is_linked) &&
        rule_bits_of_return(is_saved, at.offset, &bits))
        return (struct rule){rule.word | bits};
    for (unsigned i = 0; i < CODE_REGISTERS && !is_saved && !is_linked; i++)
        if ((registers >> i & 1) != 0 &&
            code_state_is_entry(state->registers[i], CODE_LINK) &&
            rule_cfa(rule) == RULE_CFA_SP &&
            rule_cfa_offset(rule) <= RULE_LEAF_OFFSET_MAX)
            return rule_leaf(i, (int32_t)rule_cfa_offset(rule), rule);
    return rule_make(RULE_NONE);
}

/* Make the rule of a CFA at OFFSET from CFA's register, with what STATE knows
 * of the caller's fp. */
static struct rule
make_rule(const struct code_state *state, enum rule_cfa cfa, int64_t offset,
          uint32_t registers)
{
    struct code_value at;
    bool is_saved = find_saved(state, CODE_FP, VALUE_CFA, &at);
    bool is_same = code_state_is_entry(state->registers[CODE_FP], CODE_FP);
    struct code_value elsewhere;
    if (offset < 0 || offset > RULE_OFFSET_MAX ||
        (is_saved && !rule_bits_fit(at.offset)) ||
        (!is_saved && !is_same &&
         find_saved(state, CODE_FP, VALUE_BASE, &elsewhere)))
        return rule_make(RULE_NONE);
    enum rule_fp fp = is_saved  ? RULE_FP_AT_CFA
                      : is_same ? RULE_FP_SAME
                                : RULE_FP_LOST;
    struct rule rule =
        rule_frame(cfa, (int32_t)offset, fp, is_saved ? at.offset : 0);
    return ARCH_HAS_LINK ? add_return(state, rule, registers) : rule;
}

/* One of REGISTERS keeps the CFA, or an address at a known distance from it. */
static struct rule
make_rule_of_leaf(const struct code_state *state, uint32_t registers)
{
    for (unsigned i = 0; i < CODE_REGISTERS && !ARCH_HAS_LINK; i++) {
        const struct code_value value = state->registers[i];
        if ((registers >> i & 1) == 0 || value.kind != VALUE_CFA ||
            value.offset > 0 || value.offset < -RULE_LEAF_OFFSET_MAX)
            continue;
        struct rule frame = make_rule(state, RULE_CFA_SP, -value.offset, 0);
        if (rule_kind(frame) != RULE_NONE)
            return rule_leaf(i, -value.offset, frame);
    }
    return rule_make(RULE_NONE);
}

/* gcc keeps the CFA at fp + an offset if it aligns sp and needs arguments. */
static struct rule
make_rule_by_fp_word(const struct code_state *state,
                     const struct code_slot *cfa)
{
    struct code_value at, fp = state->registers[CODE_FP];
    if (ARCH_HAS_LINK || cfa->value.offset != 0 || fp.kind != VALUE_BASE ||
        !find_saved(state, CODE_FP, VALUE_BASE, &at))
        return rule_make(RULE_NONE);
    return rule_frame(RULE_CFA_FP_DEREF, cfa->at.offset - fp.offset,
                      RULE_FP_AT_FP, at.offset - fp.offset);
}

struct rule
code_rule_of(const struct code_state *state, uint32_t registers)
{
    const struct code_value sp = state->registers[CODE_SP];
    const struct code_value fp = state->registers[CODE_FP];
    struct code_slot cfa;
    /* A function that keeps a frame pointer may change sp where it is not
     * followed. */
    bool is_record = fp.kind == VALUE_CFA &&
                     code_state_is_entry(code_state_load(state, fp), CODE_FP);
    if (sp.kind == VALUE_CFA && !is_record)
        return make_rule(state, RULE_CFA_SP, -(int64_t)sp.offset, registers);
    if (fp.kind == VALUE_CFA)
        return make_rule(state, RULE_CFA_FP, -(int64_t)fp.offset, 0);
    if (sp.kind != VALUE_BASE || !find_cfa(state, &cfa))
        return make_rule_of_leaf(state, registers);
    struct rule rule = make_rule_by_fp_word(state, &cfa);
    int64_t slot = cfa.at.offset - sp.offset, more = -cfa.value.offset;
    if (rule_kind(rule) != RULE_NONE || ARCH_HAS_LINK ||
        !rule_deref_fits(slot, more))
        return rule;
    return make_rule(state, RULE_CFA_SP_DEREF, rule_deref_offset(slot, more),
                     0);
}
