/* SPDX-License-Identifier: MIT */
/*
 * link.c -- see link.h. It runs on the sampler thread.
 *
 * A thread waits in a stub that makes a system call and has no frame. All calls
 * of the stub in all modules are looked up once. Each shows a caller and how
 * large the caller's frame is, and so where its own return address must be. A
 * call is the right one only if a return address is there, after a call of this
 * caller or through a register.
 *
 * The hard thing is that words of earlier calls lie on the stack. So a result
 * counts only if exactly one call fits.
 */
#include <stddef.h>
#include <string.h>

#include "base/sys.h"
#include "process/modules.h"
#include "instruction.h"
#include "unwind/call_site.h"
#include "unwind/frame_size.h"
#include "unwind/learn.h"
#include "unwind/pages.h"
#include "unwind/rules.h"
#include "unwind/walk.h"
#include "unwind/link.h"
#include "base/poison.h"

/* Limits: the stubs that are remembered, the calls of each, and the bytes of
 * code that are searched for them. */
#define STUBS 16u
#define SITES 256u
#define CODE_MOST (32u << 20)

/* Number of instructions that are read at a time. */
#define PIECE 8192u

struct stub {
    uint64_t function; /* address of its first instruction; 0: unused */
    uint32_t newest;   /* module at the time of the search */
    uint32_t count;
    bool is_whole; /* all calls are known */
    uint64_t sites[SITES];
};

/* Reserved at the first search. */
static struct memory {
    struct stub stubs[STUBS];
    uint32_t next;
    uint32_t code[PIECE];
} * memory;

/* A search in the modules for the calls of STUB. */
struct search {
    struct stub *stub;
    uint64_t plt; /* the address of the present module's stub of a PLT, or 0 */
    uint64_t left;
};

/* Whether the two instructions at AT jump through a word that holds FUNCTION.
 */
static bool
is_plt_of(const uint32_t *words, uint64_t at, uint64_t function)
{
    uint64_t word, slot;
    return instruction_slot(words, at, &slot) &&
           sys_read_present(&word, slot, sizeof(word)) == (long)sizeof(word) &&
           word == function;
}

/* Note the calls among the COUNT instructions in memory, which are those at
 * START. */
static void
search_piece(struct search *search, uint64_t start, size_t count)
{
    struct stub *stub = search->stub;
    for (size_t i = 0; i < count; i++) {
        uint32_t word = memory->code[i];
        uint64_t at = start + i * 4;
        struct instruction in;
        if (i + 1 < count && is_plt_of(&memory->code[i], at, stub->function))
            search->plt = at;
        if (word >> 26 != 0x25)
            continue;
        instruction_read(word, &in);
        uint64_t target = at + (uint64_t)in.target;
        /* A landing pad may come before the stub's instructions. */
        if (target != stub->function &&
            (search->plt == 0 || search->plt - target > 4))
            continue;
        if (stub->count < SITES)
            stub->sites[stub->count++] = at + 4;
        else
            stub->is_whole = false;
    }
}

/* Search the code of MODULE from START to END. */
static void
search_code(struct search *search, uint64_t start, uint64_t end)
{
    if (end - start > search->left) {
        search->stub->is_whole = false;
        return;
    }
    search->left -= end - start;
    for (uint64_t at = start; at < end; at += sizeof(memory->code)) {
        uint64_t size = end - at;
        size = size < sizeof(memory->code) ? size : sizeof(memory->code);
        long got = sys_read_memory(memory->code, at, size);
        if (got > 0)
            search_piece(search, at, (size_t)got / 4);
    }
}

static void
search_module(void *to, const struct module *module)
{
    struct search *search = to;
    search->plt = 0;
    for (unsigned i = 0; i < module->load_count; i++)
        if (module->loads[i].executable)
            search_code(search, module->loads[i].start, module->loads[i].end);
}

/* The calls of FUNCTION; NULL if memory is short. */
static const struct stub *
find_calls(uint64_t function)
{
    if (memory == NULL)
        memory = sys_reserve_for_one(sizeof(*memory));
    if (memory == NULL)
        return NULL;
    for (size_t i = 0; i < STUBS; i++)
        if (memory->stubs[i].function == function &&
            memory->stubs[i].newest == modules_state.newest)
            return &memory->stubs[i];
    struct stub *stub = &memory->stubs[memory->next++ % STUBS];
    struct search search = {.stub = stub, .left = CODE_MOST};
    stub->function = function;
    stub->newest = modules_state.newest;
    stub->count = 0;
    stub->is_whole = true;
    modules_each(search_module, &search);
    return stub;
}

/* Find how far fp is above sp in FUNCTION. */
static bool
find_size(const struct fde *function, uint64_t pc, uint64_t *size)
{
    struct frame_size frame;
    uint64_t length = function->end - function->start;
    if (length > sizeof(memory->code) ||
        !pages_read(pages_learner, function->start, memory->code, length) ||
        !frame_size_read((const uint8_t *)memory->code, length, &frame) ||
        frame.low != frame.high || pc - function->start < frame.ready)
        return false;
    *size = frame.low;
    return true;
}

/* Whether a call before ADDRESS may have called FUNCTION: CALL_SITE_OURS if
 * that is sure. */
static enum call_site
calls(uint64_t address, uint64_t function)
{
    uint32_t word;
    struct instruction in;
    enum call_site kind = call_site_before(address, function);
    if (kind != CALL_SITE_OTHER)
        return kind;
    if (!pages_read(pages_learner, address - 4, &word, sizeof(word)))
        return CALL_SITE_NONE;
    instruction_read(word, &in);
    return in.kind == IN_CALL_REGISTER ? CALL_SITE_OTHER : CALL_SITE_NONE;
}

/* The evidence that the stub, whose caller has SP, was called before SITE. */
static enum call_site
weigh_site(uint64_t site, uint64_t sp, struct view *view)
{
    struct fde caller;
    uint64_t base = sp, size, address;
    struct rule rule = learn_rule(site - 1, true);
    if (rule_kind(rule) != RULE_FRAME || rule_is_linked(rule) ||
        !learn_function(site - 1, &caller))
        return CALL_SITE_NONE;
    if (rule_cfa(rule) == RULE_CFA_FP && find_size(&caller, site - 1, &size))
        base += size;
    else if (rule_cfa(rule) != RULE_CFA_SP)
        return CALL_SITE_NONE;
    uint64_t cfa = base + (uint64_t)rule_cfa_offset(rule);
    return view_read(view, rule_return_slot(rule, cfa), &address)
               ? calls(arch_code(address), caller.start)
               : CALL_SITE_NONE;
}

bool
link_find(const struct walk *walk, struct view *view, uint64_t *link)
{
    struct fde function;
    struct rule rule = rules_find(walk->regs.pc);
    unsigned sure = 0, other = 0;
    uint64_t sp = walk->regs.sp + (uint64_t)rule_cfa_offset(rule);
    if (walk->is_return || walk->depth != 1 || rule_cfa(rule) != RULE_CFA_SP ||
        !learn_function(walk->regs.pc, &function))
        return false;
    const struct stub *stub = find_calls(function.start);
    if (stub == NULL || !stub->is_whole)
        return false;
    view_guess(view);
    for (uint32_t i = 0; i < stub->count; i++) {
        enum call_site kind = weigh_site(stub->sites[i], sp, view);
        if (kind == CALL_SITE_OURS || (kind == CALL_SITE_OTHER && sure == 0))
            *link = stub->sites[i];
        sure += kind == CALL_SITE_OURS;
        other += kind == CALL_SITE_OTHER;
    }
    return sure == 1 || (sure == 0 && other == 1);
}
