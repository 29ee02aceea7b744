/* SPDX-License-Identifier: MIT */
/* code_state.c -- see code_state.h. It runs in any thread. */
#include <string.h>

#include "rules.h"
#include "code_state.h"
#include "base/poison.h"

bool
code_state_is_same(struct code_value a, struct code_value b)
{
    return a.kind == b.kind && a.number == b.number && a.offset == b.offset;
}

bool
code_state_is_entry(struct code_value value, unsigned number)
{
    return value.kind == VALUE_ENTRY && value.number == number;
}

/* Of STATE's slots the first COUNT are left. */
static void
cut_slots(struct code_state *state, uint32_t count)
{
    memset(&state->slots[count], 0,
           (state->count - count) * sizeof(*state->slots));
    state->count = count;
}

/* sp is not known any more. What was known from its last alignment is not
 * either. */
static void
begin_base(struct code_state *state)
{
    const struct code_value base = {VALUE_BASE, 0, 0};
    uint32_t kept = 0;
    for (unsigned i = 0; i < CODE_REGISTERS; i++)
        if (state->registers[i].kind == VALUE_BASE)
            state->registers[i] = (struct code_value){VALUE_UNKNOWN, 0, 0};
    for (uint32_t i = 0; i < state->count; i++)
        if (state->slots[i].at.kind != VALUE_BASE &&
            state->slots[i].value.kind != VALUE_BASE)
            state->slots[kept++] = state->slots[i];
    cut_slots(state, kept);
    state->registers[CODE_SP] = base;
}

void
code_state_set(struct code_state *state, unsigned number,
               struct code_value value)
{
    if (number == CODE_SP && value.kind != VALUE_CFA &&
        value.kind != VALUE_BASE)
        begin_base(state);
    else
        state->registers[number] = value;
}

static int64_t
order_of(struct code_value at)
{
    return (int64_t)at.kind << 40 | (int64_t)((uint32_t)at.offset + INT32_MAX);
}

void
code_state_store(struct code_state *state, struct code_value at,
                 struct code_value value)
{
    uint32_t i = 0;
    if (at.kind != VALUE_CFA && at.kind != VALUE_BASE)
        return;
    while (i < state->count && order_of(state->slots[i].at) < order_of(at))
        i++;
    struct code_slot *slot = &state->slots[i];
    bool is_there = i < state->count && code_state_is_same(slot->at, at);
    if (value.kind == VALUE_UNKNOWN) {
        if (!is_there)
            return;
        memmove(slot, slot + 1, (--state->count - i) * sizeof(*slot));
        memset(&state->slots[state->count], 0, sizeof(*slot));
        return;
    }
    if (!is_there && state->count == CODE_SLOTS)
        return;
    if (!is_there)
        memmove(slot + 1, slot, (state->count++ - i) * sizeof(*slot));
    *slot = (struct code_slot){at, value};
}

struct code_value
code_state_load(const struct code_state *state, struct code_value at)
{
    for (uint32_t i = 0; i < state->count; i++)
        if (code_state_is_same(state->slots[i].at, at))
            return state->slots[i].value;
    return (struct code_value){VALUE_UNKNOWN, 0, 0};
}

struct code_value
code_state_plus(struct code_value value, int64_t offset)
{
    int64_t sum = value.offset + offset;
    if ((value.kind != VALUE_CFA && value.kind != VALUE_BASE) ||
        sum > RULE_OFFSET_MAX || sum < -RULE_OFFSET_MAX)
        return (struct code_value){VALUE_UNKNOWN, 0, 0};
    value.offset = (int32_t)sum;
    return value;
}

void
code_state_trim(struct code_state *state, int32_t bytes)
{
    const struct code_value sp = state->registers[CODE_SP];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < state->count; i++)
        if (state->slots[i].at.kind != sp.kind ||
            state->slots[i].at.offset >= sp.offset - bytes)
            state->slots[kept++] = state->slots[i];
    cut_slots(state, kept);
}

void
code_state_meet(struct code_state *state, const struct code_state *other)
{
    uint32_t kept = 0;
    for (unsigned i = 0; i < CODE_REGISTERS; i++)
        if (!code_state_is_same(state->registers[i], other->registers[i]))
            code_state_set(state, i, (struct code_value){0});
    for (uint32_t i = 0; i < state->count; i++)
        if (code_state_is_same(code_state_load(other, state->slots[i].at),
                               state->slots[i].value))
            state->slots[kept++] = state->slots[i];
    cut_slots(state, kept);
}
