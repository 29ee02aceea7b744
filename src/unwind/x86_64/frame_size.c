/* SPDX-License-Identifier: MIT */
/*
 * frame_size.c -- reads the code of a function; see frame_size.h. It runs on
 * the sampler thread, on a copy that cannot change meanwhile.
 *
 * The hard thing is to be sure. A function is followed from its first byte to
 * its last, instruction by instruction. An instruction that instruction.h does
 * not know ends the reading. Saves and one fixed subtraction before the first
 * jump make the frame. Arguments that are pushed later make its size a range.
 * Any other change of rsp, except one that gives the frame back, makes it
 * unknown.
 */
#include "instruction.h"
#include "unwind/frame_size.h"
#include "base/poison.h"

/* The effect of an instruction on rsp. */
enum effect {
    NOTHING,
    FRAME,   /* mov %rsp, %rbp */
    SAVE,    /* push of a callee-saved register */
    PUSH,    /* another push */
    RESERVE, /* subtracts a constant */
    GIVE_BACK,
    GO_ON,   /* call or conditional jump */
    GO_AWAY, /* jump or return */
    UNKNOWN, /* rsp is set to, or compared with, another value */
};

static enum effect
arithmetic_effect(const struct instruction *in, int32_t *amount)
{
    unsigned operation = in->reg & 7;
    bool adds = operation == 0, subtracts = operation == 5;
    if (in->mod != 3 || in->rm != RSP)
        return NOTHING;
    *amount = adds ? -in->immediate : in->immediate;
    if (!in->is_wide || (!adds && !subtracts))
        return UNKNOWN;
    return *amount > 0 ? RESERVE : GIVE_BACK;
}

/* An instruction with a register in ModRM.reg and another operand. */
static enum effect
move_effect(const struct instruction *in)
{
    bool to_reg = in->opcode == 0x63 || (in->opcode & 2) != 0;
    bool is_lea = in->opcode == 0x8d;
    if (in->opcode == 0x85 || in->opcode == 0x84)
        return NOTHING;
    if ((in->opcode == 0x89 && in->mod == 3 && in->reg == RSP &&
         in->rm == RBP) ||
        (in->opcode == 0x8b && in->mod == 3 && in->rm == RSP && in->reg == RBP))
        return FRAME;
    if (is_lea)
        return in->reg != RSP ? NOTHING : in->base == RBP ? GIVE_BACK : UNKNOWN;
    /* Copies of rsp are harmless. But code that compares with rsp loops over
     * the stack. */
    bool compares = (in->opcode & 0xfc) == 0x38;
    bool names_rm = in->mod == 3 && in->rm == RSP;
    if (compares)
        return in->reg == RSP || names_rm ? UNKNOWN : NOTHING;
    return (to_reg ? in->reg == RSP : names_rm) ? UNKNOWN : NOTHING;
}

static enum effect
push_effect(const struct instruction *in)
{
    bool is_saved = in->rm == 3 || in->rm >= 12;
    return is_saved ? SAVE : PUSH;
}

static enum effect
group_effect(const struct instruction *in)
{
    unsigned operation = in->reg & 7;
    if (in->opcode != 0xff)
        return NOTHING;
    if (operation == 6)
        return PUSH;
    if (operation == 2 || operation == 3)
        return GO_ON;
    return operation == 4 || operation == 5 ? GO_AWAY : NOTHING;
}

static enum effect
two_byte_effect(const struct instruction *in)
{
    if (in->map != MAP_0F)
        return NOTHING;
    if ((in->opcode & 0xf0) == 0x80)
        return GO_ON;
    if (in->opcode == 0xa0 || in->opcode == 0xa8)
        return PUSH;
    return (in->opcode & 0xf0) == 0x40 && in->reg == RSP ? UNKNOWN : NOTHING;
}

/* The effect of IN on rsp; *AMOUNT is the constant of a RESERVE. */
static enum effect
effect_of(const struct instruction *in, int32_t *amount)
{
    unsigned op = in->opcode;
    if (in->is_vector)
        return NOTHING;
    if (in->map != MAP_ONE)
        return two_byte_effect(in);
    if ((op & 0xf8) == 0x50)
        return push_effect(in);
    if (op == 0x68 || op == 0x6a || op == 0x9c)
        return PUSH;
    if (op == 0xc9)
        return GIVE_BACK;
    if ((op & 0xf8) == 0x58)
        return in->rm == RSP ? UNKNOWN : GIVE_BACK;
    if (op == 0x81 || op == 0x83)
        return arithmetic_effect(in, amount);
    if (op < 0x40 && (op & 7) >= 4)
        return NOTHING;
    if (op < 0x40 || op == 0x63 || (op >= 0x84 && op <= 0x8d))
        return move_effect(in);
    if ((op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3) || op == 0xe8)
        return GO_ON;
    if (op == 0xe9 || op == 0xeb || op == 0xc2 || op == 0xc3)
        return GO_AWAY;
    if ((op & 0xf8) == 0x90 || (op & 0xf0) == 0xb0)
        return in->rm == RSP && (op & 0xf8) != 0xb0 ? UNKNOWN : NOTHING;
    if (op == 0xc7 || op == 0xc1 || op == 0xd1 || op == 0xd3 || op == 0xf7)
        return in->mod == 3 && in->rm == RSP ? UNKNOWN : NOTHING;
    return group_effect(in);
}

/* A function as far as it was followed. */
struct reading {
    bool has_frame;  /* after mov %rsp, %rbp */
    bool has_left;   /* after the first jump or call */
    bool is_ending;  /* something was given back since the last jump */
    bool is_lower;   /* something was given back before a call */
    unsigned saved;  /* callee-saved registers, a bit each */
    uint64_t saves;  /* bytes of them */
    uint64_t locals; /* bytes reserved before the first jump */
    uint64_t pushes; /* bytes that may be on the stack at a call */
    size_t ready;    /* after the last save or reservation */
};

/* Note the effect of IN, which ends at END. Returns false if the frame cannot
 * be known after it. */
static bool
note_instruction(struct reading *reading, const struct instruction *in,
                 size_t end)
{
    int32_t amount = 8;
    enum effect effect = effect_of(in, &amount);
    if (!reading->has_frame || effect == FRAME) {
        /* Changes before the frame do not matter, but a second frame does. */
        bool is_second = reading->has_frame;
        reading->has_frame = effect == FRAME;
        return !is_second;
    }
    reading->is_lower |= effect == GO_ON && reading->is_ending;
    if (effect == GO_ON || effect == GO_AWAY) {
        reading->has_left = true;
        reading->is_ending = false;
    }
    if (effect == SAVE && !reading->has_left &&
        (reading->saved & 1u << in->rm) == 0) {
        reading->saved |= 1u << in->rm;
        reading->saves += 8;
        reading->ready = end;
    } else if (effect == RESERVE && !reading->has_left) {
        reading->locals += (uint64_t)amount;
        reading->ready = end;
    } else if (effect == SAVE || effect == PUSH || effect == RESERVE) {
        reading->pushes += (uint64_t)amount;
    }
    reading->is_ending |= effect == GIVE_BACK;
    return effect != UNKNOWN;
}

bool
frame_size_read(const uint8_t *code, size_t length, struct frame_size *frame)
{
    struct reading reading = {0};
    struct instruction in;
    for (size_t at = 0; at < length; at += in.length)
        if (!instruction_read(code + at, length - at, &in) ||
            !note_instruction(&reading, &in, at + in.length))
            return false;
    /* With pushes the function may have no locals: the reserved bytes may have
     * been the padding of pushed arguments. */
    frame->high = reading.saves + reading.locals + reading.pushes;
    frame->low = reading.is_lower      ? 0
                 : reading.pushes != 0 ? reading.saves
                                       : frame->high;
    frame->ready = reading.ready;
    return reading.has_frame;
}
