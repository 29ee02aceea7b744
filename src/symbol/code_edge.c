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

/* A stretch of code, from BASE on. */
struct stretch {
    struct bytes code;
    uint64_t base;
};

/* Find the section with code that holds LOW and ADDRESS. */
static bool
find_stretch(const struct elf_view *view, uint64_t low, uint64_t address,
             struct stretch *stretch)
{
    const Elf64_Shdr *section = elf_view_code(view, address);
    if (section == NULL || section != elf_view_code(view, low))
        return false;
    *stretch =
        (struct stretch){elf_view_content(view, section), section->sh_addr};
    return stretch->code.at != NULL;
}

/* The length of what fills a gap at CODE: a nop or int3, or zeroes up to the
 * end, 8 of them at least. 0: it is another instruction. LEFT bytes are there.
 * (Intel SDM, volume 2, "NOP".) */
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

/* Whether a return, and then nothing but fillers, ends at END. */
static bool
begins_x86(const uint8_t *start, const uint8_t *end)
{
    const uint8_t *least =
        end - start > FILLED_MOST ? end - FILLED_MOST : start;
    for (const uint8_t *at = end; at-- > least;) {
        const uint8_t *next = at + 1;
        size_t length = 1;
        while (*at == 0xc3 && next < end && length != 0)
            next += length = filler_x86(next, (size_t)(end - next));
        if (*at == 0xc3 && next == end && !is_operand(start, at))
            return true;
    }
    return false;
}

/* ret; nop and zeroes fill gaps. */
static bool
begins_arm(const uint8_t *start, const uint8_t *end)
{
    uint32_t word = 0;
    do {
        if (end - start < (long)sizeof(word))
            return false;
        end -= sizeof(word);
        memcpy(&word, end, sizeof(word));
    } while (word == 0 || word == 0xd503201fu);
    return word == 0xd65f03c0u;
}

uint64_t
code_edge_last(const struct elf_view *view, uint64_t low, uint64_t address)
{
    const Elf64_Ehdr *header = (const void *)view->bytes;
    bool (*begins)(const uint8_t *, const uint8_t *) = NULL;
    struct stretch stretch;
    if (header != NULL && header->e_machine == EM_X86_64)
        begins = begins_x86;
    if (header != NULL && header->e_machine == EM_AARCH64)
        begins = begins_arm;
    if (begins == NULL || !find_stretch(view, low, address, &stretch))
        return low;
    const uint8_t *start = stretch.code.at + (low - stretch.base);
    for (uint64_t at = address & ~(uint64_t)(ALIGNMENT - 1); at > low;
         at -= ALIGNMENT)
        if (begins(start, start + (at - low)))
            return at;
    return low;
}
