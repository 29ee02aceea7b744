/* SPDX-License-Identifier: MIT */
/*
 * instruction.h -- reads one instruction of x86-64: its length, and operands
 * that show its effect on rsp and rbp. Intel SDM, volume 2.
 */
#ifndef UNWIND_X86_64_INSTRUCTION_H
#define UNWIND_X86_64_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of registers. */
#define RSP 4
#define RBP 5

/* Opcode maps as VEX numbers them. */
enum { MAP_ONE = 0, MAP_0F = 1, MAP_0F38 = 2, MAP_0F3A = 3 };

struct instruction {
    unsigned map, opcode;
    bool is_wide, is_short; /* REX.W; prefix 66 */
    bool is_repeated;       /* prefix f3 */
    bool is_repne;          /* prefix f2 */
    bool has_rex;
    bool is_vector;        /* VEX or EVEX: leaves rsp alone */
    unsigned other;        /* of a vector instruction: a further register */
    char form;             /* letter of the tables in instruction.c */
    unsigned mod, reg, rm; /* with the bits of REX, VEX or EVEX */
    unsigned base;         /* of the memory operand; rm without one */
    bool has_base, has_index;
    int32_t displacement;
    int32_t immediate;
    size_t length;
};

/* Read the instruction at CODE into *IN. LEFT bytes of code are there. Returns
 * false if it is not one that this code can follow. Context: any thread. */
bool instruction_read(const uint8_t *code, size_t left, struct instruction *in);

#endif
