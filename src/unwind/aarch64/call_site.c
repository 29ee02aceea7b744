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

/* Whether the code at TARGET is a PLT stub; it jumps to *FUNCTION. */
static bool
read_stub(uint64_t target, uint64_t *function)
{
    uint32_t words[STUB_WORDS];
    uint64_t slot;
    struct instruction in;
    if (!read_code(target, words, STUB_WORDS))
        return false;
    instruction_read(words[0], &in);
    size_t at = in.kind == IN_LANDING;
    return instruction_slot(words + at, target + at * 4, &slot) &&
           sys_read_present(function, slot, sizeof(*function)) ==
               (long)sizeof(*function);
}

/* Read the call before RETURN_ADDRESS. Returns false if there is no code. */
static bool
read_call(uint64_t return_address, struct instruction *in)
{
    uint32_t word;
    if (!read_code(return_address - 4, &word, 1))
        return false;
    instruction_read(word, in);
    return in->kind == IN_CALL || in->kind == IN_CALL_REGISTER;
}

/* Where the call IN before RETURN_ADDRESS leads to at first. */
static uint64_t
first_target(const struct instruction *in, uint64_t return_address)
{
    return return_address - 4 + (uint64_t)in->target;
}

bool
call_site_target(uint64_t return_address, uint64_t *target)
{
    struct instruction in;
    uint64_t function;
    if (!read_call(return_address, &in) || in.kind != IN_CALL)
        return false;
    *target = first_target(&in, return_address);
    if (read_stub(*target, &function))
        *target = function;
    return modules_code_kind(*target) != CODE_NONE;
}

enum call_site
call_site_before(uint64_t return_address, uint64_t function)
{
    struct instruction in;
    uint64_t target;
    if (!read_call(return_address, &in))
        return CALL_SITE_NONE;
    if (in.kind == IN_CALL_REGISTER)
        return CALL_SITE_OTHER;
    if (modules_code_kind(first_target(&in, return_address)) == CODE_NONE)
        return CALL_SITE_NONE;
    return function != 0 && (first_target(&in, return_address) == function ||
                             (call_site_target(return_address, &target) &&
                              target == function))
               ? CALL_SITE_OURS
               : CALL_SITE_OTHER;
}
