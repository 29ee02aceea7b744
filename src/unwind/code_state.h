/* SPDX-License-Identifier: MIT */
/*
 * code_state.h -- what code_flow.c knows of a frame before an instruction:
 * which registers hold a value of the caller's or an address in the frame, and
 * which words of the frame do.
 */
#ifndef UNWIND_CODE_STATE_H
#define UNWIND_CODE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rule_bits.h"

/* Registers, by their numbers in instructions (CODE_SP, CODE_FP). */
#define CODE_REGISTERS 32u

/* Saved words that are remembered. */
#define CODE_SLOTS 24u

enum code_value_kind {
    VALUE_UNKNOWN,
    VALUE_ENTRY, /* what register NUMBER was at the entry */
    VALUE_CFA,   /* CFA + OFFSET */
    VALUE_BASE,  /* sp as it was when it was last aligned, + OFFSET */
};

struct code_value {
    uint16_t kind, number;
    int32_t offset;
};

/* A word of the frame: at CFA or BASE + OFFSET. */
struct code_slot {
    struct code_value at, value;
};

/* What is known before an instruction. Unused slots, and unused bytes, are 0.
 */
struct code_state {
    struct code_value registers[CODE_REGISTERS];
    uint32_t count; /* of the slots, by address */
    struct code_slot slots[CODE_SLOTS];
};

bool code_state_is_same(struct code_value a, struct code_value b);

/* Whether VALUE is what register NUMBER was at the entry. */
bool code_state_is_entry(struct code_value value, unsigned number);

/* Forget in STATE what OTHER does not know as well. */
void code_state_meet(struct code_state *state, const struct code_state *other);

/* Let register NUMBER of STATE become VALUE. */
void code_state_set(struct code_state *state, unsigned number,
                    struct code_value value);

/* The word at AT of STATE's frame becomes VALUE. Nothing happens if AT is
 * neither at CFA nor at BASE. */
void code_state_store(struct code_state *state, struct code_value at,
                      struct code_value value);

/* The word at AT of STATE's frame. */
struct code_value code_state_load(const struct code_state *state,
                                  struct code_value at);

/* VALUE and OFFSET more bytes. */
struct code_value code_state_plus(struct code_value value, int64_t offset);

/* Forget what is saved more than BYTES below sp. */
void code_state_trim(struct code_state *state, int32_t bytes);

#endif
