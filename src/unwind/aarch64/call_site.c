/* SPDX-License-Identifier: MIT */
/*
 * call_site.c -- recognizes calls; see call_site.h. It runs on the sampler
 * thread. Code is read by system calls, because the module may be unmapped at
 * any instant. A module's code does not change while the module is there. Code
 * that is data to its program (generated, or the GOT) is read anew each time.
 */
#include <stdbool.h>
#include <string.h>

#include "base/sys.h"
#include "process/modules.h"
#include "instruction.h"
#include "unwind/pages.h"
#include "unwind/call_site.h"
#include "base/poison.h"

/* Instructions of a PLT stub: bti c or not, adrp x16, ldr x17, add, br. */
#define STUB_WORDS 3

/* Read COUNT instructions at ADDRESS. */
static bool
read_code(uint64_t address, uint32_t *words, size_t count)
{
    size_t length = count * sizeof(*words);
    if (address % sizeof(*words) != 0)
        return false;
    switch (modules_code_kind(address)) {
    case CODE_MODULE:
        return pages_read(pages_learner, address, words, length);
    case CODE_ANONYMOUS:
        return sys_read_present(words, address, length) == (long)length;
    default:
        return false;
    }
}

/* Whether the code at TARGET is a PLT stub that jumps to FUNCTION. */
static bool
is_stub_of(uint64_t target, uint64_t function)
{
    uint32_t words[STUB_WORDS];
    uint64_t word, slot;
    struct instruction in;
    if (!read_code(target, words, STUB_WORDS))
        return false;
    instruction_read(words[0], &in);
    size_t at = in.kind == IN_LANDING;
    if (!instruction_slot(words + at, target + at * 4, &slot))
        return false;
    return sys_read_present(&word, slot, sizeof(word)) == (long)sizeof(word) &&
           word == function;
}

enum call_site
call_site_before(uint64_t return_address, uint64_t function)
{
    uint32_t word;
    struct instruction in;
    uint64_t call = return_address - 4;
    if (!read_code(call, &word, 1))
        return CALL_SITE_NONE;
    instruction_read(word, &in);
    if (in.kind == IN_CALL_REGISTER)
        return CALL_SITE_OTHER;
    uint64_t target = call + (uint64_t)in.target;
    if (in.kind != IN_CALL || modules_code_kind(target) == CODE_NONE)
        return CALL_SITE_NONE;
    return function != 0 && (target == function || is_stub_of(target, function))
               ? CALL_SITE_OURS
               : CALL_SITE_OTHER;
}
