/* SPDX-License-Identifier: MIT */
/*
 * instruction.h -- the effect of an instruction of aarch64 on sp, x29 and x30,
 * and where the code goes on. Arm ARM, section C4.1. Each has 4 bytes.
 */
#ifndef UNWIND_AARCH64_INSTRUCTION_H
#define UNWIND_AARCH64_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of registers; 31 is sp where an instruction takes an address. */
enum { REG_FP = 29, REG_LINK = 30, REG_STACK = 31 };

enum instruction_kind {
    IN_OTHER,    /* leaves sp alone, and goes on */
    IN_STORE,    /* stores FIRST, and SECOND, at sp + OFFSET */
    IN_LOAD,     /* loads them from there */
    IN_MOVE,     /* sp becomes sp + OFFSET */
    IN_SET_FP,   /* x29 becomes sp + OFFSET */
    IN_USE_FP,   /* sp becomes x29 + OFFSET */
    IN_WRITE_FP, /* x29 becomes something else, or x30 not from the stack */
    IN_CALL,
    IN_CALL_REGISTER,
    IN_BRANCH, /* to TARGET, or on */
    IN_JUMP,   /* to TARGET */
    IN_RETURN,
    IN_END,     /* ends the program, or the way is not known */
    IN_LANDING, /* a landing pad for calls */
    IN_UNKNOWN, /* does something else to sp */
};

struct instruction {
    enum instruction_kind kind;
    uint8_t first, second; /* registers; 255: none, or of vectors */
    bool is_writing_back;  /* sp moves, too, by MOVE */
    int32_t offset;        /* from sp as it was before, in bytes */
    int32_t move;
    int64_t target; /* relative to the instruction, in bytes */
};

/* Read the instruction WORD. Context: any thread. */
void instruction_read(uint32_t word, struct instruction *in);

/* Set *SLOT to the address of the word through which a stub of a PLT jumps. Its
 * instructions WORDS, "adrp x16" and "ldr x17, [x16, ...]", are at AT. Returns
 * false if they are other instructions. Context: any thread. */
bool instruction_slot(const uint32_t words[2], uint64_t at, uint64_t *slot);

#endif
