/* SPDX-License-Identifier: MIT */
/*
 * expression.c -- see expression.h. It runs on the sampler thread, also while a
 * thread is parked. Every step is bounded: the stack, the number of steps, and
 * the jumps, which stay in the code.
 */
#include <string.h>

#include "cfi_bytes.h"
#include "expression.h"
#include "base/poison.h"

/* Limit of the values on the stack, as in libgcc (unwind-dw2.c). */
#define STACK_MAX 64u

/* Limit of the steps. Tables have no loops; the longest expressions, of signal
 * restorers and PLTs, have some 10 steps. */
#define STEPS_MAX 1000u

/* Operations (DWARF 5, table 7.9). */
enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST1S,
    OP_CONST2U,
    OP_CONST2S,
    OP_CONST4U,
    OP_CONST4S,
    OP_CONST8U,
    OP_CONST8S,
    OP_CONSTU,
    OP_CONSTS,
    OP_DUP,
    OP_DROP,
    OP_OVER,
    OP_PICK,
    OP_SWAP,
    OP_ROT,
    OP_ABS = 0x19,
    OP_AND,
    OP_DIV,
    OP_MINUS,
    OP_MOD,
    OP_MUL,
    OP_NEG,
    OP_NOT,
    OP_OR,
    OP_PLUS,
    OP_PLUS_UCONST,
    OP_SHL,
    OP_SHR,
    OP_SHRA,
    OP_XOR,
    OP_BRA,
    OP_EQ,
    OP_GE,
    OP_GT,
    OP_LE,
    OP_LT,
    OP_NE,
    OP_SKIP,
    OP_LIT0 = 0x30,
    OP_REG0 = 0x50,
    OP_BREG0 = 0x70,
    OP_REGX = 0x90,
    OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOP = 0x96,
};

struct machine {
    const struct expression_source *source;
    const uint8_t *start;
    struct bytes code;
    uint64_t stack[STACK_MAX];
    unsigned depth;
    bool bad; /* nonsense, or not known */
};

static void
push(struct machine *machine, uint64_t value)
{
    if (machine->depth == STACK_MAX)
        machine->bad = true;
    else
        machine->stack[machine->depth++] = value;
}

static uint64_t
pop(struct machine *machine)
{
    if (machine->depth == 0) {
        machine->bad = true;
        return 0;
    }
    return machine->stack[--machine->depth];
}

/* Push the value that is COUNT below the top. */
static void
push_again(struct machine *machine, unsigned count)
{
    if (count >= machine->depth)
        machine->bad = true;
    else
        push(machine, machine->stack[machine->depth - 1 - count]);
}

/* Push register NUMBER plus OFFSET. */
static void
push_register(struct machine *machine, uint64_t number, int64_t offset)
{
    uint64_t value = 0;
    if (!machine->source->get(machine->source->from, number, &value))
        machine->bad = true;
    push(machine, value + (uint64_t)offset);
}

/* Replace the address on top by the SIZE bytes there. */
static void
load(struct machine *machine, uint64_t size)
{
    uint64_t address = pop(machine), word = 0;
    if (size == 0 || size > sizeof(word) || machine->bad ||
        !machine->source->load(machine->source->from, address, &word))
        machine->bad = true;
    else if (size < sizeof(word))
        word &= (1ull << 8 * size) - 1;
    push(machine, word);
}

/* Take a signed number of SIZE bytes. */
static int64_t
take_number(struct bytes *bytes, unsigned size)
{
    unsigned unused = 64 - 8 * size;
    return (int64_t)(take_bytes(bytes, size) << unused) >> unused;
}

/* Continue DISTANCE bytes after the next operation. */
static void
jump(struct machine *machine, int64_t distance)
{
    int64_t back = machine->start - machine->code.at;
    int64_t ahead = machine->code.end - machine->code.at;
    if (distance < back || distance > ahead)
        machine->bad = true;
    else
        machine->code.at += distance;
}

/* Carry out OPCODE if it pushes a constant. */
static bool
push_constant(struct machine *machine, unsigned opcode)
{
    struct bytes *code = &machine->code;
    unsigned size = 1u << (opcode - OP_CONST1U) / 2;
    if (opcode >= OP_LIT0 && opcode < OP_LIT0 + 32)
        push(machine, opcode - OP_LIT0);
    else if (opcode == OP_ADDR)
        push(machine, take_bytes(code, 8));
    else if (opcode == OP_CONSTU)
        push(machine, take_unsigned(code));
    else if (opcode == OP_CONSTS)
        push(machine, (uint64_t)take_signed(code));
    else if (opcode < OP_CONST1U || opcode > OP_CONST8S)
        return false;
    else if (opcode % 2 == 0)
        push(machine, take_bytes(code, size));
    else
        push(machine, (uint64_t)take_number(code, size));
    return true;
}

/* Carry out OPCODE if it pushes a register or what a register points near. */
static bool
push_of_register(struct machine *machine, unsigned opcode)
{
    struct bytes *code = &machine->code;
    if (opcode >= OP_REG0 && opcode < OP_REG0 + 32) {
        push_register(machine, opcode - OP_REG0, 0);
    } else if (opcode >= OP_BREG0 && opcode < OP_BREG0 + 32) {
        push_register(machine, opcode - OP_BREG0, take_signed(code));
    } else if (opcode == OP_REGX) {
        push_register(machine, take_unsigned(code), 0);
    } else if (opcode == OP_BREGX) {
        uint64_t number = take_unsigned(code);
        push_register(machine, number, take_signed(code));
    } else {
        return false;
    }
    return true;
}

/* Carry out OPCODE if it moves values on the stack, or jumps. */
static bool
move(struct machine *machine, unsigned opcode)
{
    struct bytes *code = &machine->code;
    uint64_t top, second, third;
    switch (opcode) {
    case OP_DUP:
        push_again(machine, 0);
        break;
    case OP_DROP:
        pop(machine);
        break;
    case OP_OVER:
        push_again(machine, 1);
        break;
    case OP_PICK:
        push_again(machine, take_byte(code));
        break;
    case OP_SWAP:
        top = pop(machine);
        second = pop(machine);
        push(machine, top);
        push(machine, second);
        break;
    case OP_ROT:
        top = pop(machine);
        second = pop(machine);
        third = pop(machine);
        push(machine, top);
        push(machine, third);
        push(machine, second);
        break;
    case OP_SKIP:
        jump(machine, take_number(code, 2));
        break;
    case OP_BRA: {
        int64_t distance = take_number(code, 2);
        if (pop(machine) != 0)
            jump(machine, distance);
        break;
    }
    case OP_NOP:
        break;
    default:
        return false;
    }
    return true;
}

/* Carry out OPCODE if it changes the value on top. */
static bool
change(struct machine *machine, unsigned opcode)
{
    uint64_t top;
    switch (opcode) {
    case OP_DEREF:
        load(machine, 8);
        break;
    case OP_DEREF_SIZE:
        load(machine, take_byte(&machine->code));
        break;
    case OP_ABS:
        top = pop(machine);
        push(machine, (int64_t)top < 0 ? -top : top);
        break;
    case OP_NEG:
        push(machine, -pop(machine));
        break;
    case OP_NOT:
        push(machine, ~pop(machine));
        break;
    case OP_PLUS_UCONST:
        top = pop(machine);
        push(machine, top + take_unsigned(&machine->code));
        break;
    default:
        return false;
    }
    return true;
}

/* The quotient of two signed numbers, which wraps as the sum of two does. */
static uint64_t
quotient(struct machine *machine, uint64_t a, uint64_t b)
{
    machine->bad |= b == 0;
    if (b == 0 || b == UINT64_MAX)
        return -a;
    return (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t
rest(struct machine *machine, uint64_t a, uint64_t b)
{
    machine->bad |= b == 0;
    return b == 0 ? 0 : a % b;
}

/* A shifted to the right by B bits; IS_SIGNED: with copies of its sign. */
static uint64_t
shift_right(uint64_t a, uint64_t b, bool is_signed)
{
    if (is_signed)
        return (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
    return b < 64 ? a >> b : 0;
}

/* Carry out OPCODE if it combines two values: B is the upper one. */
static bool
combine(struct machine *machine, unsigned opcode)
{
    if (opcode < OP_AND || opcode > OP_NE || opcode == OP_BRA)
        return false;
    uint64_t b = pop(machine), a = pop(machine), value = 0;
    int64_t signed_a = (int64_t)a, signed_b = (int64_t)b;
    switch (opcode) {
    case OP_AND:
        value = a & b;
        break;
    case OP_DIV:
        value = quotient(machine, a, b);
        break;
    case OP_MINUS:
        value = a - b;
        break;
    case OP_MOD:
        value = rest(machine, a, b);
        break;
    case OP_MUL:
        value = a * b;
        break;
    case OP_OR:
        value = a | b;
        break;
    case OP_PLUS:
        value = a + b;
        break;
    case OP_SHL:
        value = b < 64 ? a << b : 0;
        break;
    case OP_SHR:
    case OP_SHRA:
        value = shift_right(a, b, opcode == OP_SHRA);
        break;
    case OP_XOR:
        value = a ^ b;
        break;
    case OP_EQ:
        value = a == b;
        break;
    case OP_GE:
        value = signed_a >= signed_b;
        break;
    case OP_GT:
        value = signed_a > signed_b;
        break;
    case OP_LE:
        value = signed_a <= signed_b;
        break;
    case OP_LT:
        value = signed_a < signed_b;
        break;
    case OP_NE:
        value = a != b;
        break;
    }
    push(machine, value);
    return true;
}

bool
expression_run(const uint8_t *code, size_t length,
               const struct expression_source *source, const uint64_t *first,
               uint64_t *result)
{
    struct machine machine = {.source = source,
                              .start = code,
                              .code = {code, code + length, false}};
    if (first != NULL)
        push(&machine, *first);
    for (unsigned steps = 0; machine.code.at < machine.code.end; steps++) {
        unsigned opcode = take_byte(&machine.code);
        if (steps == STEPS_MAX ||
            (!push_constant(&machine, opcode) &&
             !push_of_register(&machine, opcode) && !move(&machine, opcode) &&
             !change(&machine, opcode) && !combine(&machine, opcode)))
            return false;
        if (machine.bad || machine.code.bad)
            return false;
    }
    *result = pop(&machine);
    return !machine.bad;
}
