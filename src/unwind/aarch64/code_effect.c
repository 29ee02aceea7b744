/* SPDX-License-Identifier: MIT */
/*
 * code_effect.c -- see code_effect.h. Only sp, x29, x30 and the words in which
 * they are saved matter for a rule, and only these are followed (AAPCS64,
 * sections 6.1 and 6.4).
 */
#include <string.h>

#include "instruction.h"
#include "unwind/code_effect.h"
#include "base/poison.h"

/* br, with a register and without authentication. */
#define BR_MASK 0xfffffc1fu
#define BR 0xd61f0000u

static const struct code_value unknown = {VALUE_UNKNOWN, 0, 0};

void
code_effect_enter(struct code_state *state)
{
    for (unsigned i = 0; i < REG_STACK; i++)
        state->registers[i] = (struct code_value){VALUE_ENTRY, (uint16_t)i, 0};
    state->registers[REG_STACK] = (struct code_value){VALUE_CFA, 0, 0};
}

bool
code_effect_has_no_frame(const struct code_state *state)
{
    const struct code_value *sp = &state->registers[REG_STACK];
    return sp->kind == VALUE_CFA && sp->offset == 0 &&
           code_state_is_entry(state->registers[REG_LINK], REG_LINK);
}

bool
code_effect_may_return(const struct code_state *state)
{
    return code_effect_has_no_frame(state) &&
           code_state_is_entry(state->registers[REG_FP], REG_FP);
}

/* Whether a word in memory keeps register NUMBER for the rules. */
static bool
is_followed(unsigned number)
{
    return number == REG_FP || number == REG_LINK;
}

/* Words that other registers are stored to, in part or as vectors, are not
 * looked at: a function does not overwrite what it will restore. */
static void
store(struct code_state *state, unsigned number, int64_t offset)
{
    if (number > REG_STACK)
        return;
    struct code_value at = code_state_plus(state->registers[REG_STACK], offset);
    code_state_store(state, at,
                     is_followed(number) ? state->registers[number] : unknown);
}

/* A register that is restored is where it was at the entry. What is left of it
 * on the stack may be overwritten. */
static void
load(struct code_state *state, unsigned number, int64_t offset)
{
    struct code_value at = code_state_plus(state->registers[REG_STACK], offset);
    if (!is_followed(number))
        return;
    struct code_value value = code_state_load(state, at);
    code_state_set(state, number, value);
    if (code_state_is_entry(value, number))
        code_state_store(state, at, unknown);
}

static void
move_stack(struct code_state *state, unsigned from, int64_t offset)
{
    code_state_set(state, REG_STACK,
                   code_state_plus(state->registers[from], offset));
    code_state_trim(state, 0);
}

/* x30 is where a called function returns to. */
static enum code_step
call(struct code_state *state)
{
    code_state_set(state, REG_LINK, unknown);
    return CODE_CALL;
}

/* Whether WORD computes a register from others, or from a constant (Arm ARM,
 * section C4.1). */
static bool
is_computed(uint32_t word)
{
    return (word >> 26 & 7) == 4 || (word >> 25 & 7) == 5;
}

static enum code_step
step_over(struct code_state *state, const struct instruction *in, uint32_t word)
{
    switch (in->kind) {
    case IN_STORE:
        store(state, in->first, in->offset);
        store(state, in->second, in->offset + 8);
        break;
    case IN_LOAD:
        load(state, in->first, in->offset);
        load(state, in->second, in->offset + 8);
        break;
    case IN_MOVE:
        move_stack(state, REG_STACK, in->offset);
        return CODE_ON;
    case IN_SET_FP:
        code_state_set(state, REG_FP,
                       code_state_plus(state->registers[REG_STACK],
                                       in->offset));
        return CODE_ON;
    case IN_USE_FP:
        move_stack(state, REG_FP, in->offset);
        return CODE_ON;
    case IN_WRITE_FP:
        code_state_set(state, REG_FP, unknown);
        if ((word & 0x0a000000u) == 0x08000000u)
            code_state_set(state, REG_LINK, unknown);
        return CODE_ON;
    case IN_CALL:
    case IN_CALL_REGISTER:
        return call(state);
    case IN_BRANCH:
        return CODE_BRANCH;
    case IN_JUMP:
        return CODE_JUMP;
    case IN_RETURN:
        return CODE_RETURN;
    case IN_END:
        return (word & BR_MASK) == BR ? CODE_SWITCH : CODE_END;
    case IN_UNKNOWN:
        code_state_set(state, REG_STACK, unknown);
        return CODE_ON;
    case IN_OTHER:
        if (is_computed(word) && (word & 31) == REG_LINK)
            code_state_set(state, REG_LINK, unknown);
        return CODE_ON;
    case IN_LANDING:
        return CODE_ON;
    }
    if (in->is_writing_back)
        move_stack(state, REG_STACK, in->move);
    return CODE_ON;
}

enum code_step
code_effect_step(struct code_state *state, const uint8_t *code, size_t left,
                 size_t *length, int64_t *target)
{
    struct instruction in;
    uint32_t word;
    *length = sizeof(word);
    *target = 0;
    if (left < sizeof(word))
        return CODE_LOST;
    memcpy(&word, code, sizeof(word));
    instruction_read(word, &in);
    *target = in.target;
    return step_over(state, &in, word);
}

/* nop, and zeroes. */
bool
code_effect_is_padding(const uint8_t *code, size_t left, size_t *length)
{
    uint32_t word;
    *length = sizeof(word);
    if (left < sizeof(word))
        return false;
    memcpy(&word, code, sizeof(word));
    return word == 0xd503201fu || word == 0;
}
