/* SPDX-License-Identifier: MIT */
/*
 * thread_word.c -- see thread_word.h. The function is followed instruction by
 * instruction, with the known values of its registers. The forms are those of
 * "ELF for the Arm 64-bit Architecture" (code sequences for thread-local
 * storage): with a distance in the code or in a word, with a descriptor, or
 * with a call of __tls_get_addr. All is read by system calls.
 */
#include <stddef.h>
#include <string.h>

#include "base/sys.h"
#include "instruction.h"
#include "unwind/thread_word.h"
#include "base/poison.h"

#define CODE_MOST 16u
#define REGISTERS 16u

#define NOP 0xd503201fu

/* Of the function that a descriptor names if the distance is its second word:
 * "ldr x0, [x0, #8]" and "ret", also with a landing pad in front (glibc's
 * _dl_tlsdesc_return). */
#define LOAD_SECOND 0xf9400400u
#define RETURN 0xd65f03c0u

/* The known value of a register. */
struct known {
    enum {
        NOTHING,
        NUMBER,  /* it is VALUE */
        POINTER, /* it is the thread pointer and VALUE */
        DATA,    /* it is the distance by the pair at VALUE */
        WORD     /* it is the thread's word */
    } kind;
    uint64_t value;
};

struct reading {
    struct thread_word *word;
    struct known at[REGISTERS];
    struct known other; /* any other register: not known */
};

/* The register with this NUMBER. */
static struct known *
known_of(struct reading *reading, uint32_t number)
{
    reading->other.kind = NOTHING;
    return number < REGISTERS ? &reading->at[number] : &reading->other;
}

/* The value loaded from AT, or from MORE bytes after it. */
static struct known
load(struct reading *reading, struct known at, uint64_t more)
{
    struct known loaded = {0};
    at.value += more;
    if (at.kind == NUMBER && sys_copy_memory(&loaded.value, at.value, 8))
        loaded.kind = NUMBER;
    if (at.kind == POINTER) {
        loaded.kind = WORD;
        reading->word->fixed = (int64_t)at.value;
    }
    if (at.kind == DATA) {
        loaded.kind = WORD;
        reading->word->index = at.value - more;
        reading->word->more = (int64_t)more;
    }
    return loaded;
}

/* The value of x0 after the function of the descriptor at ADDRESS. */
static struct known
ask_descriptor(uint64_t address)
{
    uint64_t words[2];
    uint32_t code[3];
    struct instruction first;
    if (!sys_copy_memory(words, address, sizeof(words)) ||
        !sys_copy_memory(code, words[0], sizeof(code)))
        return (struct known){0};
    instruction_read(code[0], &first);
    const uint32_t *at = code + (first.kind == IN_LANDING);
    if (at[0] == LOAD_SECOND && at[1] == RETURN)
        return (struct known){NUMBER, words[1]};
    return (struct known){DATA, words[1]};
}

/* Follow a call: of a descriptor's function, or of __tls_get_addr. */
static void
follow_call(struct reading *reading, const struct instruction *in)
{
    struct known *x0 = &reading->at[0];
    if (x0->kind != NUMBER)
        *x0 = (struct known){0};
    else if (in->kind == IN_CALL_REGISTER)
        *x0 = ask_descriptor(x0->value);
    else
        x0->kind = DATA;
}

/* The sum of A and B. The result of a descriptor's function counts from the
 * thread pointer. */
static struct known
sum_of(struct known a, struct known b)
{
    uint64_t sum = a.value + b.value;
    if (a.kind == NUMBER && (b.kind == NUMBER || b.kind == POINTER))
        return (struct known){b.kind, sum};
    if (a.kind == POINTER && b.kind == NUMBER)
        return (struct known){POINTER, sum};
    if (a.kind == POINTER && a.value == 0 && b.kind == DATA)
        return b;
    return (struct known){0};
}

/* Follow the instruction WORD at ADDRESS. Returns false if such a function does
 * not have it. */
static bool
follow(struct reading *reading, uint32_t word, uint64_t address)
{
    struct known *to = known_of(reading, word & 31);
    struct known *from = known_of(reading, word >> 5 & 31);
    struct known *index = known_of(reading, word >> 16 & 31);
    uint64_t half = (uint64_t)(word >> 5 & 0xffff) << (word >> 21 & 3) * 16;
    uint64_t immediate = word >> 10 & 0xfff;
    unsigned shift = (word >> 22 & 1) != 0 ? 12 : 0;
    if ((word & 0xffffffe0u) == 0xd53bd040u) /* mrs, tpidr_el0 */
        *to = (struct known){POINTER, 0};
    else if ((word & 0xff800000u) == 0xd2800000u) /* movz */
        *to = (struct known){NUMBER, half};
    else if ((word & 0xff800000u) == 0xf2800000u) /* movk */
        to->value |= half;
    else if ((word & 0x9f000000u) == 0x90000000u) { /* adrp */
        uint64_t pages =
            (uint64_t)(word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);
        *to =
            (struct known){NUMBER, (address & ~4095ull) +
                                       ((uint64_t)((int64_t)(pages << 43) >> 43)
                                        << 12)};
    } else if ((word & 0xff800000u) == 0x91000000u) /* add, a constant */
        *to = sum_of(*from, (struct known){NUMBER, immediate << shift});
    else if ((word & 0xffc00000u) == 0xf9400000u) /* ldr, a constant */
        *to = load(reading, *from, immediate * 8);
    else if ((word & 0xffe0fc00u) == 0xf8606800u) /* ldr, a register */
        *to = load(reading, sum_of(*from, *index), 0);
    else
        return false;
    return true;
}

bool
thread_word_read(struct thread_word *word, uint64_t address)
{
    uint32_t code[CODE_MOST];
    struct reading reading = {.word = word};
    *word = (struct thread_word){0};
    if (!sys_copy_memory(code, address, sizeof(code)))
        return false;
    for (size_t i = 0; i < CODE_MOST; i++) {
        struct instruction in;
        instruction_read(code[i], &in);
        if (in.kind == IN_RETURN)
            return reading.at[0].kind == WORD;
        if (in.kind == IN_CALL || in.kind == IN_CALL_REGISTER)
            follow_call(&reading, &in);
        /* Of the frame, and of signed return addresses. */
        else if (in.kind != IN_STORE && in.kind != IN_LOAD &&
                 in.kind != IN_SET_FP && in.kind != IN_LANDING &&
                 (code[i] & 0xfffff01fu) != NOP &&
                 !follow(&reading, code[i], address + i * 4))
            return false;
    }
    return false;
}
