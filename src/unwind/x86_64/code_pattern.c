/* SPDX-License-Identifier: MIT */
/* code_pattern.c -- see code_pattern.h. */
#include <string.h>

#include "base/sys.h"
#include "instruction.h"
#include "unwind/code_pattern.h"
#include "base/poison.h"

/* Limit of the code that ends a program at the bottom of a stack, in bytes. */
#define LAST_REACH 24u

/* Limit of the first code of a program, in bytes, and bytes of an instruction.
 */
#define FIRST_REACH 256u
#define LENGTH_MOST 16u

/* Whether the LENGTH bytes of CODE, 16 at most, are at PC. */
static bool
has_code(uint64_t pc, const uint8_t *code, size_t length)
{
    uint8_t bytes[16];
    return sys_copy_memory(bytes, pc, length) &&
           memcmp(bytes, code, length) == 0;
}

/* mov $SYS_rt_sigreturn, %rax; syscall: seven and two bytes. A thread may stand
 * before the second instruction, too. */
bool
code_pattern_is_restorer(uint64_t pc)
{
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00,
                                   0x00, 0x00, 0x0f, 0x05};
    return has_code(pc, code, sizeof(code)) ||
           has_code(pc + 1, code, sizeof(code)) ||
           has_code(pc - 7, code, sizeof(code));
}

/* endbr64. */
bool
code_pattern_is_entry(uint64_t pc)
{
    static const uint8_t code[] = {0xf3, 0x0f, 0x1e, 0xfa};
    return has_code(pc, code, sizeof(code));
}

/* jmp *...(%rip); push $...; jmp ...: six, five and five bytes. */
struct rule
code_pattern_stub(uint64_t pc)
{
    static const uint8_t starts[] = {0, 6, 11};
    uint8_t code[16];
    for (size_t i = 0; i < sizeof(starts); i++)
        if (sys_copy_memory(code, pc - starts[i], sizeof(code)) &&
            code[0] == 0xff && code[1] == 0x25 && code[6] == 0x68 &&
            code[11] == 0xe9)
            return rule_frame(RULE_CFA_SP, starts[i] == 11 ? 16 : 8,
                              RULE_FP_SAME, 0);
    return rule_make(RULE_NONE);
}

/* Whether IN leaves its row of instructions: a jump or a return. */
static bool
is_turn(const struct instruction *in)
{
    unsigned op = in->opcode;
    if (in->map == MAP_0F)
        return (op & 0xf0) == 0x80;
    return (op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0 || op == 0xe9 ||
           op == 0xeb || (op & 0xf6) == 0xc2 || op == 0xcc ||
           (op == 0xff && ((in->reg & 7) == 4 || (in->reg & 7) == 5));
}

/* Whether IN ends the program: ud2 or hlt. */
static bool
is_end(const struct instruction *in)
{
    return in->map == MAP_0F ? in->opcode == 0x0b
                             : in->map == MAP_ONE && in->opcode == 0xf4;
}

bool
code_pattern_is_last(uint64_t pc)
{
    uint8_t code[LAST_REACH];
    struct instruction in;
    size_t at = 0;
    if (!sys_copy_memory(code, pc, sizeof(code)))
        return false;
    while (at < sizeof(code) &&
           instruction_read(code + at, sizeof(code) - at, &in)) {
        if (is_end(&in))
            return true;
        if (in.is_vector || is_turn(&in))
            return false;
        at += in.length;
    }
    return false;
}

/* nop in all of its lengths: what follows it is another function. */
static bool
is_padding(const struct instruction *in)
{
    return in->map == MAP_0F ? in->opcode == 0x1f
                             : in->map == MAP_ONE && in->opcode == 0x90;
}

bool
code_pattern_is_first(uint64_t entry, uint64_t pc)
{
    uint8_t code[LENGTH_MOST];
    struct instruction in;
    for (uint64_t at = entry; pc >= at && at - entry < FIRST_REACH;
         at += in.length) {
        if (!sys_copy_memory(code, at, sizeof(code)) ||
            !instruction_read(code, sizeof(code), &in) || is_padding(&in))
            return false;
        if (pc - at < in.length)
            return true;
        if (is_turn(&in) || is_end(&in))
            return false;
    }
    return false;
}
