/* SPDX-License-Identifier: MIT */
/*
 * code_effect.c -- see code_effect.h. What an instruction writes is from the
 * Intel SDM, volume 2. A register that it may write in part is not known after
 * it. Words that vector instructions write are not looked at: a function does
 * not overwrite what it will restore.
 */
#include <string.h>

#include "instruction.h"
#include "unwind/code_effect.h"
#include "base/poison.h"

enum { RAX, RCX, RDX, RBX, RSI = 6, RDI, R8, R11 = 11, R12, R15 = 15 };

/* Bytes below rsp that stay as they are (ABI for x86-64, section 3.2.2). */
#define RED_ZONE 128

static const struct code_value unknown = {VALUE_UNKNOWN, 0, 0};

/* The registers that a function must restore: rbx, rbp, r12 to r15. */
static bool
is_saved(unsigned number)
{
    return number == RBX || number == RBP || number >= R12;
}

void
code_effect_enter(struct code_state *state)
{
    for (unsigned i = 0; i < CODE_REGISTERS; i++)
        state->registers[i] =
            is_saved(i) ? (struct code_value){VALUE_ENTRY, (uint16_t)i, 0}
                        : unknown;
    state->registers[RSP] = (struct code_value){VALUE_CFA, 0, -8};
}

bool
code_effect_has_no_frame(const struct code_state *state)
{
    const struct code_value *sp = &state->registers[RSP];
    return sp->kind == VALUE_CFA && sp->offset == -8;
}

bool
code_effect_may_return(const struct code_state *state)
{
    for (unsigned i = 0; i < CODE_REGISTERS; i++)
        if (is_saved(i) && !code_state_is_entry(state->registers[i], i))
            return false;
    return code_effect_has_no_frame(state);
}

/* An instruction, and what it is about to change. */
struct step {
    const struct instruction *in;
    struct code_state *state;
};

static void
lose(struct code_state *state, unsigned number)
{
    code_state_set(state, number, unknown);
}

/* A register of one byte. Without REX, 4 to 7 are the second bytes of rax to
 * rbx. */
static void
lose_byte(const struct step *step, unsigned number)
{
    lose(step->state,
         !step->in->has_rex && number >= 4 && number < 8 ? number - 4 : number);
}

/* The address of the operand in memory. Unknown: not in the frame. */
static struct code_value
address_of(const struct step *step)
{
    const struct instruction *in = step->in;
    if (!in->has_base || in->has_index)
        return unknown;
    return code_state_plus(step->state->registers[in->base], in->displacement);
}

/* The operand in memory or register becomes something else. */
static void
lose_operand(const struct step *step, bool is_byte)
{
    if (step->in->mod != 3)
        code_state_store(step->state, address_of(step), unknown);
    else if (is_byte)
        lose_byte(step, step->in->rm);
    else
        lose(step->state, step->in->rm);
}

static struct code_value
operand(const struct step *step)
{
    return step->in->mod == 3 ? step->state->registers[step->in->rm]
                              : code_state_load(step->state, address_of(step));
}

static void
push(struct code_state *state, struct code_value value)
{
    struct code_value sp = code_state_plus(state->registers[RSP], -8);
    code_state_set(state, RSP, sp);
    code_state_store(state, sp, value);
}

static struct code_value
pop(struct code_state *state)
{
    struct code_value sp = state->registers[RSP];
    struct code_value value = code_state_load(state, sp);
    code_state_set(state, RSP, code_state_plus(sp, 8));
    return value;
}

/* A saved register that is restored is where it was at the entry. Its copy on
 * the stack no longer matters, and may be overwritten. */
static void
restore(struct code_state *state, unsigned number, struct code_value value)
{
    code_state_set(state, number, value);
    if (!code_state_is_entry(value, number))
        return;
    for (uint32_t i = state->count; i-- > 0;)
        if (code_state_is_entry(state->slots[i].value, number))
            code_state_store(state, state->slots[i].at, unknown);
}

/* mov and lea. */
static void
move(const struct step *step)
{
    const struct instruction *in = step->in;
    struct code_state *state = step->state;
    if (in->opcode == 0x8d)
        code_state_set(state, in->reg,
                       in->is_wide ? address_of(step) : unknown);
    else if (in->opcode == 0x8b)
        restore(state, in->reg, in->is_wide ? operand(step) : unknown);
    else if (in->mod == 3)
        restore(state, in->rm,
                in->is_wide ? state->registers[in->reg] : unknown);
    else
        code_state_store(state, address_of(step),
                         in->is_wide ? state->registers[in->reg] : unknown);
}

/* add, sub and others, with a constant. */
static void
arithmetic(const struct step *step)
{
    const struct instruction *in = step->in;
    unsigned operation = in->reg & 7;
    if (operation == 7)
        return;
    if (in->mod != 3 || !in->is_wide || (operation != 0 && operation != 5) ||
        in->opcode == 0x80) {
        lose_operand(step, in->opcode == 0x80);
        return;
    }
    int64_t amount = in->immediate;
    code_state_set(step->state, in->rm,
                   code_state_plus(step->state->registers[in->rm],
                                   operation == 0 ? amount : -amount));
}

static void
exchange(const struct step *step)
{
    const struct instruction *in = step->in;
    struct code_state *state = step->state;
    struct code_value other = operand(step), own = state->registers[in->reg];
    if (in->opcode == 0x86) {
        lose_operand(step, true);
        lose_byte(step, in->reg);
        return;
    }
    if (!in->is_wide || (in->reg == RSP && own.kind == VALUE_BASE))
        other = own = unknown;
    code_state_set(state, in->reg, other);
    if (in->mod == 3)
        code_state_set(state, in->rm, own);
    else
        code_state_store(state, address_of(step), own);
}

static enum code_step
call(struct code_state *state)
{
    static const uint8_t lost[] = {RAX, RCX, RDX, RSI, RDI, 8, 9, 10, 11};
    for (unsigned i = 0; i < sizeof(lost); i++)
        lose(state, lost[i]);
    code_state_trim(state, 0);
    return CODE_CALL;
}

/* Opcodes fe and ff. */
static enum code_step
group_five(const struct step *step)
{
    const struct instruction *in = step->in;
    switch (in->reg & 7) {
    case 0:
    case 1:
        lose_operand(step, in->opcode == 0xfe);
        return CODE_ON;
    case 2:
        return call(step->state);
    case 4:
        return in->mod != 3 && !in->has_base && !in->has_index ? CODE_LEAVE
                                                               : CODE_SWITCH;
    case 6:
        push(step->state, operand(step));
        return CODE_ON;
    default:
        return CODE_LOST;
    }
}

/* Opcodes f6 and f7: test, not, neg, mul, imul, div, idiv. */
static void
group_three(const struct step *step)
{
    unsigned operation = step->in->reg & 7;
    if (operation >= 4) {
        lose(step->state, RAX);
        lose(step->state, RDX);
    } else if (operation >= 2) {
        lose_operand(step, step->in->opcode == 0xf6);
    }
}

/* add to cmp with a register, 00 to 3f. */
static void
arithmetic_register(const struct step *step)
{
    unsigned op = step->in->opcode;
    bool is_byte = (op & 1) == 0;
    if ((op & 0x38) == 0x38)
        return;
    if ((op & 7) >= 4)
        lose(step->state, RAX);
    else if ((op & 2) == 0)
        lose_operand(step, is_byte);
    else if (is_byte)
        lose_byte(step, step->in->reg);
    else
        lose(step->state, step->in->reg);
}

static void
lose_string(struct code_state *state)
{
    lose(state, RSI);
    lose(state, RDI);
    lose(state, RCX);
    lose(state, RAX);
}

/* Opcodes 80 to 9f. */
static enum code_step
step_eight(const struct step *step)
{
    const struct instruction *in = step->in;
    struct code_state *state = step->state;
    unsigned op = in->opcode;
    if (op <= 0x83)
        arithmetic(step);
    else if (op == 0x86 || op == 0x87)
        exchange(step);
    else if (op == 0x88 || op == 0x8c)
        lose_operand(step, op == 0x88);
    else if (op == 0x8a)
        lose_byte(step, in->reg);
    else if (op == 0x89 || op == 0x8b || op == 0x8d)
        move(step);
    else if (op == 0x8f) {
        struct code_value value = pop(state);
        if (in->mod == 3)
            restore(state, in->rm, value);
        else
            code_state_store(state, address_of(step), value);
    } else if ((op & 0xf8) == 0x90 && (op != 0x90 || in->rm != RAX)) {
        struct code_value value = in->is_wide ? state->registers[RAX] : unknown;
        code_state_set(state, RAX,
                       in->is_wide ? state->registers[in->rm] : unknown);
        code_state_set(state, in->rm, value);
    } else if (op == 0x98 || op == 0x9f)
        lose(state, RAX);
    else if (op == 0x99)
        lose(state, RDX);
    else if (op == 0x9c)
        push(state, unknown);
    else if (op == 0x9d)
        (void)pop(state);
    return CODE_ON;
}

/* Opcodes c0 to ff but calls, jumps and returns. */
static enum code_step
step_high(const struct step *step)
{
    const struct instruction *in = step->in;
    struct code_state *state = step->state;
    unsigned op = in->opcode;
    if (op == 0xc8 || op == 0xca || op == 0xcb || op == 0xcf)
        return CODE_LOST;
    if (op == 0xcc || op == 0xcd || op == 0xf1 || op == 0xf4)
        return CODE_END;
    if (op <= 0xc1 || op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op <= 0xd3))
        lose_operand(step, (op & 1) == 0);
    else if (op == 0xc9) {
        code_state_set(state, RSP, state->registers[RBP]);
        restore(state, RBP, pop(state));
    } else if (op == 0xd7 || op == 0xdf || op == 0xe4 || op == 0xe5 ||
               op == 0xec || op == 0xed)
        lose(state, RAX);
    else if (op == 0xf6 || op == 0xf7)
        group_three(step);
    else if (op == 0xfe || op == 0xff)
        return group_five(step);
    return CODE_ON;
}

static enum code_step
step_one_byte(const struct step *step)
{
    const struct instruction *in = step->in;
    struct code_state *state = step->state;
    unsigned op = in->opcode;
    if (op < 0x40)
        arithmetic_register(step);
    else if (op < 0x58)
        push(state, state->registers[in->rm]);
    else if (op < 0x60)
        restore(state, in->rm, pop(state));
    else if (op == 0x63 || op == 0x69 || op == 0x6b)
        lose(state, in->reg);
    else if (op == 0x68 || op == 0x6a)
        push(state, unknown);
    else if (op >= 0x80 && op < 0xa0)
        return step_eight(step);
    else if ((op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf) ||
             (op & 0xfc) == 0x6c)
        lose_string(state);
    else if (op >= 0xb0 && op < 0xb8)
        lose_byte(step, in->rm);
    else if (op >= 0xb8 && op < 0xc0)
        lose(state, in->rm);
    else if (op >= 0xa0 && op < 0xa4)
        lose(state, RAX);
    else if (op >= 0xc0)
        return step_high(step);
    return CODE_ON;
}

/* Opcodes 0f a0 to 0f cf. */
static void
step_two_bytes_high(const struct step *step)
{
    const struct instruction *in = step->in;
    struct code_state *state = step->state;
    unsigned op = in->opcode;
    if (op == 0xa0 || op == 0xa8)
        push(state, unknown);
    else if (op == 0xa1 || op == 0xa9)
        (void)pop(state);
    else if (op == 0xa2) {
        for (unsigned i = RAX; i <= RBX; i++)
            lose(state, i);
    } else if (op == 0xab || op == 0xb3 || op == 0xbb || op == 0xa4 ||
               op == 0xa5 || op == 0xac || op == 0xad ||
               (op == 0xba && (in->reg & 7) > 4))
        lose_operand(step, false);
    else if (op == 0xae && in->mod == 3 && in->is_repeated)
        lose(state, in->rm);
    else if (op == 0xb0 || op == 0xb1) {
        lose_operand(step, op == 0xb0);
        lose(state, RAX);
    } else if (op == 0xc0 || op == 0xc1) {
        lose_operand(step, op == 0xc0);
        if (op == 0xc0)
            lose_byte(step, in->reg);
        else
            lose(state, in->reg);
    } else if (op == 0xc7) {
        if (in->mod == 3)
            lose(state, in->rm);
        lose(state, RAX);
        lose(state, RDX);
    } else if (op >= 0xc8)
        lose(state, in->rm);
    else if (op == 0xaf || op == 0xb2 || (op >= 0xb4 && op <= 0xb8) ||
             (op >= 0xbc && op <= 0xbf) || op == 0xc5)
        lose(state, in->reg);
}

/* A vector instruction of map 0f whose register is a general one. */
static void
lose_of_vector(const struct step *step)
{
    const struct instruction *in = step->in;
    unsigned op = in->opcode;
    if (op == 0x2c || op == 0x2d || op == 0x50 || op == 0xd7 || op == 0xc5 ||
        (in->is_vector && (op == 0x93 || op == 0x78 || op == 0x79)))
        lose(step->state, in->reg);
    else if (op == 0x7e && !in->is_repeated && in->mod == 3)
        lose(step->state, in->rm);
}

static enum code_step
step_two_bytes(const struct step *step)
{
    const struct instruction *in = step->in;
    struct code_state *state = step->state;
    unsigned op = in->opcode;
    if (op == 0x0b || op == 0xb9 || op == 0xff)
        return CODE_END;
    if (op == 0x05) {
        lose(state, RAX);
        lose(state, RCX);
        lose(state, R11);
    } else if (op <= 0x01 && in->mod == 3 && (op == 0 || in->reg == 4)) {
        /* sldt, str, smsw */
        lose(state, in->rm);
    } else if ((op == 0x01 && in->mod == 3) || (op >= 0x31 && op <= 0x33)) {
        lose(state, RAX);
        lose(state, RCX);
        lose(state, RDX);
    } else if ((op & 0xf0) == 0x40 || op == 0x02 || op == 0x03)
        lose(state, in->reg);
    else if ((op & 0xf0) == 0x90)
        lose_operand(step, true);
    else if (op == 0x1e && in->is_repeated && in->mod == 3)
        lose(state, in->rm);
    else if (op >= 0xa0 && op < 0xd0)
        step_two_bytes_high(step);
    else
        lose_of_vector(step);
    return CODE_ON;
}

/* Maps 0f 38 and 0f 3a, and EVEX map 5. */
static void
step_three_bytes(const struct step *step)
{
    const struct instruction *in = step->in;
    struct code_state *state = step->state;
    unsigned op = in->opcode;
    if (in->map == MAP_0F3A) {
        if (op >= 0x14 && op <= 0x17 && in->mod == 3)
            lose(state, in->rm);
        /* pcmpestri and pcmpistri */
        if (op == 0x61 || op == 0x63)
            lose(state, RCX);
        if (in->is_vector && op == 0xf0)
            lose(state, in->reg);
    } else if (in->map == 5) {
        lose_of_vector(step);
    } else if (op >= 0xf0 && op <= 0xf7 && op != 0xf3) {
        bool is_store = op == 0xf1 && !in->is_repne;
        if (!is_store)
            lose(state, in->reg);
        if (in->is_vector && op == 0xf6)
            lose(state, in->other);
    } else if (op == 0xf3 && in->is_vector) {
        lose(state, in->other);
    } else if (op == 0xfa || op == 0xfb ||
               (in->is_vector && (op & 0xf0) == 0xe0)) {
        /* encodekey and cmpccxadd */
        lose(state, in->reg);
    }
}

/* Whether IN, of one byte, moves rsp by two bytes, or is of AMD's XOP, which
 * begins like a pop. */
static bool
is_strange(const struct instruction *in)
{
    unsigned op = in->opcode;
    bool is_stack = (op & 0xf0) == 0x50 || op == 0x68 || op == 0x6a ||
                    op == 0x8f || op == 0x9c || op == 0x9d || op == 0xc9 ||
                    (op == 0xff && (in->reg & 7) == 6);
    return (is_stack && in->is_short) || (op == 0x8f && (in->reg & 7) != 0);
}

/* Jumps, calls and returns of one byte, or CODE_ON. */
static enum code_step
turn_of(const struct step *step)
{
    const struct instruction *in = step->in;
    unsigned op = in->opcode;
    if (in->is_vector || (in->map != MAP_ONE && in->map != MAP_0F))
        return CODE_ON;
    if (in->map == MAP_0F)
        return (op & 0xf0) == 0x80 ? CODE_BRANCH : CODE_ON;
    if (op == 0xc7 && in->mod == 3 && (in->reg & 7) == 7) {
        /* xbegin: its target is where an abort leads. */
        lose(step->state, RAX);
        return CODE_BRANCH;
    }
    if (is_strange(in))
        return CODE_LOST;
    if ((op & 0xf0) == 0x70 || op == 0xe3)
        return CODE_BRANCH;
    if (op >= 0xe0 && op <= 0xe2) {
        lose(step->state, RCX);
        return CODE_BRANCH;
    }
    if (op == 0xe8 && in->immediate == 0) {
        /* It reads its own address. */
        push(step->state, unknown);
        return CODE_JUMP;
    }
    if (op == 0xe8)
        return call(step->state);
    if (op == 0xe9 || op == 0xeb)
        return CODE_JUMP;
    return op == 0xc2 || op == 0xc3 ? CODE_RETURN : CODE_ON;
}

enum code_step
code_effect_step(struct code_state *state, const uint8_t *code, size_t left,
                 size_t *length, int64_t *target)
{
    struct instruction in;
    const struct step step = {&in, state};
    const int32_t before = state->registers[RSP].offset;
    *length = 1;
    *target = 0;
    if (!instruction_read(code, left, &in))
        return CODE_LOST;
    *length = in.length;
    *target = (int64_t)in.length + in.immediate;
    enum code_step turn = turn_of(&step);
    if (turn != CODE_ON)
        return turn;
    if (in.map == MAP_ONE && !in.is_vector)
        turn = step_one_byte(&step);
    else if (in.map == MAP_0F && !in.is_vector)
        turn = step_two_bytes(&step);
    else if (in.map == MAP_0F)
        lose_of_vector(&step);
    else
        step_three_bytes(&step);
    if (state->registers[RSP].offset > before)
        code_state_trim(state, RED_ZONE);
    return turn;
}

/* nop in all of its lengths, int3, and zeroes. */
bool
code_effect_is_padding(const uint8_t *code, size_t left, size_t *length)
{
    struct instruction in;
    if (!instruction_read(code, left, &in) || in.is_vector)
        return false;
    *length = in.length;
    return in.map == MAP_0F
               ? in.opcode == 0x1f
               : in.map == MAP_ONE && (in.opcode == 0x90 || in.opcode == 0xcc ||
                                       (code[0] == 0 && code[1] == 0));
}
