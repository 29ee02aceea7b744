/* SPDX-License-Identifier: MIT */
/*
 * code_effect.c -- see code_effect.h. Only sp, x29, x30 and the words and
 * registers in which they are saved matter for a rule, and only these are
 * followed (AAPCS64, sections 6.1 and 6.4). What an instruction writes is from
 * the Arm ARM, section C4.1. Where that is not plain, it may write each
 * register that it names.
 */
#include <string.h>

#include "instruction.h"
#include "unwind/code_effect.h"
#include "base/poison.h"

/* br, with a register and without authentication. */
#define BR_MASK 0xfffffc1fu
#define BR 0xd61f0000u

/* ret, with a register and without authentication. */
#define RET 0xd65f0000u

/* mov of a register to another. */
#define MOV_MASK 0xffe0ffe0u
#define MOV 0xaa0003e0u

/* Registers that a function may change: x0 to x18 (AAPCS64, section 6.1.1). */
#define CHANGED 0x7ffffu

/* Registers that a word of the stack keeps for the rules. */
#define FOLLOWED (1u << REG_FP | 1u << REG_LINK)

static const struct code_value unknown = {VALUE_UNKNOWN, 0, 0};

void
code_effect_enter(struct code_state *state)
{
    for (unsigned i = 0; i < REG_STACK; i++)
        state->registers[i] = unknown;
    state->registers[REG_FP] = (struct code_value){VALUE_ENTRY, REG_FP, 0};
    state->registers[REG_LINK] = (struct code_value){VALUE_ENTRY, REG_LINK, 0};
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

static bool
is_followed(unsigned number)
{
    return number < REG_STACK && (FOLLOWED >> number & 1) != 0;
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

/* Forget REGISTERS, a bit for each, but sp. */
static void
lose(struct code_state *state, uint32_t registers)
{
    for (unsigned i = 0; i < REG_STACK; i++)
        if ((registers >> i & 1) != 0)
            code_state_set(state, i, unknown);
}

/* x30 is where a called function returns to. */
static enum code_step
call(struct code_state *state)
{
    lose(state, CHANGED | 1u << REG_LINK);
    return CODE_CALL;
}

/* The registers that a load or a store may write, a bit for each. A base is
 * written where that moves by the access. */
static uint32_t
written_by_access(uint32_t word)
{
    uint32_t first = 1u << (word & 31), base = 1u << (word >> 5 & 31);
    uint32_t second = 1u << (word >> 10 & 31), third = 1u << (word >> 16 & 31);
    bool is_vector = (word >> 26 & 1) != 0;
    unsigned how = word >> 10 & 3;
    if ((word & 0xbe000000u) == 0x0c000000u)
        return (word >> 23 & 1) != 0 ? base : 0;
    if ((word & 0x3b000000u) == 0x18000000u)
        return is_vector ? 0 : first;
    if ((word & 0x3a000000u) == 0x28000000u)
        return ((word >> 22 & 1) != 0 && !is_vector ? first | second : 0) |
               ((word >> 23 & 1) != 0 ? base : 0);
    if ((word & 0x3a000000u) != 0x38000000u)
        return first | base | second | third;
    bool has_place = (word >> 24 & 1) != 0 || how == 2 ||
                     ((word >> 21 & 1) == 0 && how == 0);
    bool is_load = (word >> 22 & 3) != 0 || !has_place;
    return (is_load && !is_vector ? first : 0) | (has_place ? 0 : base);
}

/* The same for what computes with vectors: few write another register. */
static uint32_t
written_by_vectors(uint32_t word)
{
    bool converts = (word & 0x5f20fc00u) == 0x1e200000u ||
                    (word & 0x5f200000u) == 0x1e000000u;
    bool moves = (word & 0x9fe08400u) == 0x0e000400u;
    return converts || moves ? 1u << (word & 31) : 0;
}

/* The same for system instructions: svc, those that read into a register, and
 * those that sign x17. */
static uint32_t
written_by_system(uint32_t word)
{
    if (word >> 24 == 0xd4)
        return 1;
    if ((word & 0xffffff3fu) == 0xd503211fu)
        return 1u << 17;
    return (word & 0xffe00000u) == 0xd5200000u ? 1u << (word & 31) : 0;
}

/* The registers that WORD may write, a bit for each. Bit 31 says nothing. */
static uint32_t
written_by(uint32_t word)
{
    unsigned group = word >> 25 & 15;
    if ((group & 5) == 4)
        return written_by_access(word);
    if ((group & 7) == 7)
        return written_by_vectors(word);
    if ((group & 14) == 10)
        return written_by_system(word);
    return group == 1 || group == 3 ? ~0u : 1u << (word & 31);
}

static uint32_t
bit_of(unsigned number)
{
    return number <= REG_STACK ? 1u << number : 0;
}

/* A register becomes what another one is. */
static void
move(struct code_state *state, uint32_t word)
{
    unsigned to = word & 31, from = word >> 16 & 31;
    if (to < REG_STACK)
        code_state_set(state, to,
                       from < REG_STACK ? state->registers[from] : unknown);
}

static enum code_step
step_over(struct code_state *state, const struct instruction *in, uint32_t word)
{
    uint32_t named = bit_of(in->first) | bit_of(in->second);
    switch (in->kind) {
    case IN_STORE:
        lose(state, written_by(word) & ~named);
        store(state, in->first, in->offset);
        store(state, in->second, in->offset + 8);
        break;
    case IN_LOAD:
        lose(state, written_by(word) & ~named);
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
        lose(state, written_by(word) | 1u << REG_FP);
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
        if ((word & BR_MASK) != RET)
            return (word & BR_MASK) == BR ? CODE_SWITCH : CODE_END;
        /* It returns by another register than x30. */
        code_state_set(state, REG_LINK, state->registers[word >> 5 & 31]);
        return CODE_RETURN;
    case IN_UNKNOWN:
        lose(state, written_by(word));
        code_state_set(state, REG_STACK, unknown);
        return CODE_ON;
    case IN_OTHER:
        if ((word & MOV_MASK) == MOV)
            move(state, word);
        else
            lose(state, written_by(word));
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
