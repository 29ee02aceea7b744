/* SPDX-License-Identifier: MIT */
/* code_edge.c -- see code_edge.h. */
#include <stdbool.h>
#include <string.h>

#include "code_edge.h"

/* Functions of assembly are aligned to ALIGNMENT bytes, or to a multiple of it.
 * The return before a function is less than FILLED_MOST bytes from it: code of
 * SIMD is aligned to 32 or 64, the size of a vector or of a line of the cache.
 */
enum { ALIGNMENT = 16, FILLED_MOST = 64 };

/* Limit of the places of returns that are looked at for one edge: 1 MiB of
 * code. */
enum { STEPS_MOST = 65536 };

/* How the code from START on ends before the fillers that precede END. *TARGET
 * becomes the target of a jump: an offset from START. */
enum way { GOES_ON, RETURNS, JUMPS };
typedef enum way way_function(const uint8_t *start, const uint8_t *end,
                              int64_t *target);

/* No target. */
#define NOWHERE INT64_MIN

/* The code of a section, from a symbol on. */
struct stretch {
    const uint8_t *start;
    int64_t size;
    int64_t low; /* its address */
    way_function *way;
    unsigned steps; /* of the places of returns */
};

/* The length of the filler at CODE: a nop or int3, or zeroes up to the end, 8
 * of them at least. 0: it is another instruction. LEFT bytes are there. (Intel
 * SDM, volume 2, "NOP".) */
static size_t
filler_x86(const uint8_t *code, size_t left)
{
    size_t at = 0, operand;
    while (at < left && code[at] == 0)
        at++;
    if (at != 0)
        return at == left && at >= 8 ? at : 0;
    if (left != 0 && code[0] == 0xcc)
        return 1;
    while (at < left && (code[at] == 0x66 || code[at] == 0x2e))
        at++;
    if (at < left && code[at] == 0x90)
        return at + 1;
    if (left - at < 3 || code[at] != 0x0f || code[at + 1] != 0x1f)
        return 0;
    operand = code[at + 2] >> 6 == 1 ? 1 : code[at + 2] >> 6 == 2 ? 4 : 0;
    at += 3 + ((code[at + 2] & 7) == 4) + operand;
    return at <= left ? at : 0;
}

/* Whether the byte at AT, which looks like a return, is the operand of a move
 * or of arithmetic. */
static bool
is_operand(const uint8_t *start, const uint8_t *at)
{
    uint8_t before = at > start ? at[-1] : 0;
    if (at - start >= 3 && at[-3] == 0x83 && at[-2] == 0xc4)
        return false;
    return before < 0x40 ? (before & 7) < 4 && before != 0
                         : before >= 0x84 && before <= 0x8b;
}

/* Whether only fillers lie from CODE to END. */
static bool
is_filled_x86(const uint8_t *code, const uint8_t *end)
{
    size_t length = 1;
    while (code < end && length != 0)
        code += length = filler_x86(code, (size_t)(end - code));
    return code == end;
}

/* The target of the jump at AT that ends at END: an offset from START. -1 if it
 * is no jump. (Intel SDM, volume 2, "JMP": EB cb, E9 cd.) */
static int64_t
jump_x86(const uint8_t *start, const uint8_t *at, const uint8_t *end)
{
    int32_t far;
    if (*at == 0xeb && end - at >= 2 && is_filled_x86(at + 2, end))
        return at + 2 - start + (int8_t)at[1];
    if (*at != 0xe9 || end - at < 5 || !is_filled_x86(at + 5, end))
        return NOWHERE;
    memcpy(&far, at + 1, sizeof(far));
    return at + 5 - start + far;
}

static enum way
way_x86(const uint8_t *start, const uint8_t *end, int64_t *target)
{
    const uint8_t *least =
        end - start > FILLED_MOST ? end - FILLED_MOST : start;
    for (const uint8_t *at = end; at-- > least;) {
        if (*at == 0xc3 && is_filled_x86(at + 1, end) && !is_operand(start, at))
            return RETURNS;
        *target = jump_x86(start, at, end);
        if (*target != NOWHERE)
            return JUMPS;
    }
    return GOES_ON;
}

/* ret and b; nop and zeroes fill gaps. (Arm ARM, "B": imm26 words from here.)
 */
static enum way
way_arm(const uint8_t *start, const uint8_t *end, int64_t *target)
{
    uint32_t word = 0;
    do {
        if (end - start < (long)sizeof(word))
            return GOES_ON;
        end -= sizeof(word);
        memcpy(&word, end, sizeof(word));
    } while (word == 0 || word == 0xd503201fu);
    *target = end - start + (int32_t)(word << 6) / 64 * 4;
    if (word >> 26 == 5)
        return JUMPS;
    return word == 0xd65f03c0u ? RETURNS : GOES_ON;
}

/* Find the code from LOW on in the section that also holds ADDRESS. */
static bool
find_stretch(const struct elf_view *view, uint64_t low, uint64_t address,
             struct stretch *stretch)
{
    const Elf64_Ehdr *header = (const void *)view->bytes;
    const Elf64_Shdr *section = elf_view_code(view, address);
    if (section == NULL || section != elf_view_code(view, low))
        return false;
    struct bytes code = elf_view_content(view, section);
    if (code.at == NULL)
        return false;
    *stretch = (struct stretch){
        .start = code.at + (low - section->sh_addr),
        .size = (int64_t)(section->sh_size - (low - section->sh_addr)),
        .low = (int64_t)low,
    };
    if (header->e_machine == EM_X86_64)
        stretch->way = way_x86;
    if (header->e_machine == EM_AARCH64)
        stretch->way = way_arm;
    return stretch->way != NULL;
}

/* The last offset above LOW, at most HIGH, that follows a return; else LOW. */
static int64_t
last_return(struct stretch *stretch, int64_t low, int64_t high)
{
    int64_t target, at = high - (stretch->low + high) % ALIGNMENT;
    for (; at > low && stretch->steps++ < STEPS_MOST; at -= ALIGNMENT)
        if (stretch->way(stretch->start, stretch->start + at, &target) ==
            RETURNS)
            return at;
    return low;
}

/* Whether the jump to TARGET that ends before AT leaves its function: a return
 * lies between, or the symbol's beginning, or the end of the section. A jump to
 * a loop that is aligned does not. */
static bool
leaves(struct stretch *stretch, int64_t at, int64_t target)
{
    if (target < 0 || target >= stretch->size)
        return true;
    return target < at ? target < last_return(stretch, 0, at - ALIGNMENT)
                       : last_return(stretch, at, target) > at;
}

uint64_t
code_edge_last(const struct elf_view *view, uint64_t low, uint64_t address)
{
    struct stretch stretch;
    int64_t target;
    if (!find_stretch(view, low, address, &stretch))
        return low;
    for (uint64_t at = address / ALIGNMENT * ALIGNMENT; at > low;
         at -= ALIGNMENT) {
        int64_t offset = (int64_t)(at - low);
        enum way way =
            stretch.way(stretch.start, stretch.start + offset, &target);
        if (way == RETURNS ||
            (way == JUMPS && leaves(&stretch, offset, target)))
            return stretch.steps <= STEPS_MOST ? at : low;
    }
    return low;
}
