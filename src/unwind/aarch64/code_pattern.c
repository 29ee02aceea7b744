/* SPDX-License-Identifier: MIT */
/* code_pattern.c -- see code_pattern.h. */
#include <string.h>

#include "base/sys.h"
#include "instruction.h"
#include "unwind/code_pattern.h"
#include "base/poison.h"

/* Instructions that end a program at the bottom of a stack, at most. */
#define LAST_WORDS 6

/* Instructions that begin a program, at most. */
#define FIRST_WORDS 64u

#define NOP 0xd503201fu

/* mov x8, #SYS_rt_sigreturn; svc #0. */
#define RETURN_NUMBER 0xd2801168u
#define CALL 0xd4000001u

/* Read COUNT instructions at PC. */
static bool
read_words(uint64_t pc, uint32_t *words, size_t count)
{
    return pc % 4 == 0 && sys_copy_memory(words, pc, count * 4);
}

/* The code is found from the byte in front of it on. */
bool
code_pattern_is_restorer(uint64_t pc)
{
    uint32_t words[2];
    return read_words((pc + 1) & ~3ull, words, 2) &&
           words[0] == RETURN_NUMBER && words[1] == CALL;
}

bool
code_pattern_is_entry(uint64_t pc)
{
    uint32_t word;
    struct instruction in;
    if (!read_words(pc, &word, 1))
        return false;
    instruction_read(word, &in);
    return in.kind == IN_LANDING;
}

/* Whether the instruction WORD is one of a stub: adrp x16; ldr x17, [x16,
 * #...]; add x16, x16, #...; autia1716 or not; br x17. *LEFT becomes how many
 * instructions of the stub are after it, without the autia1716. */
static bool
is_of_stub(uint32_t word, unsigned *left)
{
    static const struct {
        uint32_t mask, word;
        unsigned left;
    } forms[] = {{0x9f00001f, 0x90000010, 3},
                 {0xffc003ff, 0xf9400211, 2},
                 {0xff8003ff, 0x91000210, 1},
                 {0xffffffff, 0xd503219f, 0},
                 {0xffffffff, 0xd61f0220, 0}};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if ((word & forms[i].mask) == forms[i].word) {
            *left = forms[i].left;
            return true;
        }
    return false;
}

/* The first stub pushes x16 and x30 for the dynamic loader, and the others
 * leave the stack alone. */
struct rule
code_pattern_stub(uint64_t pc)
{
    uint32_t words[2];
    uint64_t at = pc & ~3ull;
    unsigned left;
    if (!read_words(at, words, 1))
        return rule_make(RULE_NONE);
    if (words[0] == 0xa9bf7bf0u) /* stp x16, x30, [sp, #-16]! */
        return rule_entry();
    if (!is_of_stub(words[0], &left))
        return rule_make(RULE_NONE);
    /* The instruction in front of the adrp. */
    if (read_words(at - (3 - left) * 4 - 4, words, 1) &&
        words[0] == 0xa9bf7bf0u)
        return rule_frame(RULE_CFA_SP, 16, RULE_FP_SAME, 0);
    return rule_entry();
}

/* br and braa lead elsewhere. What is no code but data often looks like udf:
 * that counts after a call or a system call alone. */
bool
code_pattern_is_last(uint64_t pc)
{
    uint32_t words[LAST_WORDS];
    struct instruction in;
    bool is_behind_call = false;
    if (!read_words(pc, words, LAST_WORDS))
        return false;
    for (size_t i = 0; i < LAST_WORDS; i++) {
        instruction_read(words[i], &in);
        if (in.kind == IN_END)
            return words[i] >> 24 == 0xd4 ||
                   (words[i] >> 16 == 0 && is_behind_call);
        if (in.kind == IN_BRANCH || in.kind == IN_JUMP || in.kind == IN_RETURN)
            return false;
        is_behind_call |= in.kind == IN_CALL || in.kind == IN_CALL_REGISTER ||
                          words[i] == CALL;
    }
    return false;
}

bool
code_pattern_is_first(uint64_t entry, uint64_t pc)
{
    uint32_t word;
    struct instruction in;
    for (unsigned i = 0; i < FIRST_WORDS; i++) {
        uint64_t at = entry + 4ull * i;
        if (pc < at || !read_words(at, &word, 1) || word == NOP)
            return false;
        if (pc - at < 4)
            return true;
        instruction_read(word, &in);
        if (in.kind == IN_BRANCH || in.kind == IN_JUMP ||
            in.kind == IN_RETURN || in.kind == IN_END)
            return false;
    }
    return false;
}
