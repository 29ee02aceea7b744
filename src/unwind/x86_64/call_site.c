/* SPDX-License-Identifier: MIT */
/*
 * call_site.c -- recognizes calls; see call_site.h. It runs on the sampler
 * thread. Code is read by system calls, because the module may be unmapped at
 * any instant. A module's code does not change while the module is loaded. Code
 * that is data to its program (generated, or the GOT) is read again each time.
 */
#include <stdbool.h>
#include <string.h>

#include "base/sys.h"
#include "process/modules.h"
#include "unwind/pages.h"
#include "unwind/call_site.h"
#include "base/poison.h"

/* Bytes of the longest call (ff, ModRM, SIB and four bytes), and of a PLT stub.
 */
#define CALL_BYTES 7
#define STUB_BYTES 16

/* Read LENGTH bytes of code at ADDRESS. */
static bool
read_code(uint64_t address, uint8_t *bytes, size_t length)
{
    switch (modules_code_kind(address)) {
    case CODE_MODULE:
        return pages_read(pages_learner, address, bytes, length);
    case CODE_ANONYMOUS:
        return sys_read_present(bytes, address, length) == (long)length;
    default:
        return false;
    }
}

static bool
read_word(uint64_t address, uint64_t *word)
{
    return sys_read_present(word, address, sizeof(*word)) == sizeof(*word);
}

/* The address to which the four bytes of an operand point, relative to NEXT,
 * the end of the instruction. */
static uint64_t
relative(const uint8_t *operand, uint64_t next)
{
    int32_t offset;
    memcpy(&offset, operand, sizeof(offset));
    return next + (uint64_t)(int64_t)offset;
}

/* Whether the code at TARGET is a PLT stub; it jumps to *FUNCTION. It is
 * endbr64 or not, then a jump through a word, with a BND prefix or not. */
static bool
read_stub(uint64_t target, uint64_t *function)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint8_t code[STUB_BYTES];
    size_t at = 0;
    if (!read_code(target, code, sizeof(code)))
        return false;
    if (memcmp(code, endbr64, sizeof(endbr64)) == 0)
        at += sizeof(endbr64);
    at += code[at] == 0xf2;
    return code[at] == 0xff && code[at + 1] == 0x25 &&
           read_word(relative(code + at + 2, target + at + 6), function);
}

/* Whether CODE is a call through register or memory of LENGTH bytes: ff /2. */
static bool
is_indirect(const uint8_t *code, size_t length)
{
    unsigned mod = code[1] >> 6, rm = code[1] & 7;
    if (code[0] != 0xff || (code[1] >> 3 & 7) != 2)
        return false;
    size_t size = 2;
    if (mod != 3 && rm == 4) {
        size++;
        if (mod == 0 && (code[2] & 7) == 5)
            size += 4;
    }
    if (mod == 1)
        size++;
    if (mod == 2 || (mod == 0 && rm == 5))
        size += 4;
    return size == length;
}

/* Read the bytes up to RETURN_ADDRESS. Returns false if they are no code. */
static bool
read_before(uint64_t return_address, uint8_t *code)
{
    return modules_code_kind(return_address - 1) != CODE_NONE &&
           read_code(return_address - CALL_BYTES, code, CALL_BYTES);
}

/* The function to which the call that ends at END leads. */
static bool
find_target(const uint8_t *end, uint64_t return_address, uint64_t *target)
{
    uint64_t word;
    if (end[-5] == 0xe8) {
        *target = relative(end - 4, return_address);
        if (modules_code_kind(*target) != CODE_NONE) {
            if (read_stub(*target, &word))
                *target = word;
            return true;
        }
    }
    return end[-6] == 0xff && end[-5] == 0x15 &&
           read_word(relative(end - 4, return_address), target);
}

bool
call_site_target(uint64_t return_address, uint64_t *target)
{
    uint8_t code[CALL_BYTES];
    return read_before(return_address, code) &&
           find_target(code + CALL_BYTES, return_address, target);
}

enum call_site
call_site_before(uint64_t return_address, uint64_t function)
{
    uint8_t code[CALL_BYTES + 1] = {0};
    uint64_t target;
    const uint8_t *end = code + CALL_BYTES;
    if (!read_before(return_address, code))
        return CALL_SITE_NONE;
    if (end[-5] == 0xe8 &&
        modules_code_kind(relative(end - 4, return_address)) != CODE_NONE)
        return function != 0 &&
                       (relative(end - 4, return_address) == function ||
                        (find_target(end, return_address, &target) &&
                         target == function))
                   ? CALL_SITE_OURS
                   : CALL_SITE_OTHER;
    if (function != 0 && find_target(end, return_address, &target) &&
        target == function)
        return CALL_SITE_OURS;
    for (size_t length = 2; length <= CALL_BYTES; length++)
        if (is_indirect(end - length, length))
            return CALL_SITE_OTHER;
    return CALL_SITE_NONE;
}
