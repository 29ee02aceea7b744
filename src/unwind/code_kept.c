/* SPDX-License-Identifier: MIT */
/*
 * code_kept.c -- see code_kept.h. It runs on the sampler thread, on a copy of
 * the code.
 *
 * The order of the instructions does not matter: a register is kept if none of
 * them writes it. So a called function is one more way to follow. What follows
 * a call that does not return may be another function's. That can only make
 * more registers written.
 */
#include <stdbool.h>

#include "code_effect.h"
#include "code_kept.h"
#include "base/poison.h"

/* Limit of the places to which calls and jumps lead. */
#define PLACES 64u

struct reading {
    const uint8_t *code;
    size_t length;
    uint32_t places[PLACES]; /* each one once */
    uint32_t count, steps;
    uint32_t written; /* registers, a bit for each */
    bool returns;
};

/* Follow the code at TARGET, too. Returns false if that is not possible. */
static bool
add_place(struct reading *reading, int64_t target)
{
    if (target < 0 || target >= (int64_t)reading->length)
        return false;
    for (uint32_t i = 0; i < reading->count; i++)
        if (reading->places[i] == (uint32_t)target)
            return true;
    if (reading->count == PLACES)
        return false;
    reading->places[reading->count++] = (uint32_t)target;
    return true;
}

/* Each register is what it was before the instruction. */
static void
begin_step(struct code_state *state)
{
    *state = (struct code_state){.count = 0};
    code_effect_enter(state);
    for (unsigned i = 0; i < CODE_REGISTERS; i++)
        if (i != CODE_SP)
            state->registers[i] =
                (struct code_value){VALUE_ENTRY, (uint16_t)i, 0};
}

static void
note_written(struct reading *reading, const struct code_state *state)
{
    for (unsigned i = 0; i < CODE_REGISTERS; i++)
        if (!code_state_is_entry(state->registers[i], i))
            reading->written |= 1u << i;
}

/* Follow the code from AT on until it goes on elsewhere. Returns false if it
 * cannot be followed. */
static bool
follow(struct reading *reading, uint32_t at)
{
    struct code_state state;
    while (at < reading->length && reading->steps++ < CODE_KEPT_STEPS) {
        size_t size;
        int64_t target;
        begin_step(&state);
        enum code_step step =
            code_effect_step(&state, reading->code + at, reading->length - at,
                             &size, &target);
        bool leads =
            step == CODE_CALL || step == CODE_BRANCH || step == CODE_JUMP;
        /* A call through a register has no target. */
        bool is_computed =
            step == CODE_SWITCH || step == CODE_LEAVE ||
            (step == CODE_CALL && (target == 0 || target == (int64_t)size));
        if (step == CODE_LOST || is_computed ||
            (leads && !add_place(reading, at + target)))
            return false;
        /* The called function shows what it writes. */
        if (step != CODE_CALL)
            note_written(reading, &state);
        reading->returns |= step == CODE_RETURN;
        if (step == CODE_JUMP || step == CODE_RETURN || step == CODE_END)
            return true;
        at += (uint32_t)size;
    }
    return false;
}

uint32_t
code_kept_read(const uint8_t *code, size_t length, size_t entry,
               uint32_t *steps)
{
    struct reading reading = {.code = code, .length = length};
    bool is_whole = add_place(&reading, (int64_t)entry);
    for (uint32_t i = 0; is_whole && i < reading.count; i++)
        is_whole = follow(&reading, reading.places[i]);
    *steps += reading.steps;
    return is_whole && reading.returns ? ~(reading.written | 1u << CODE_SP) : 0;
}
