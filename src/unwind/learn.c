/* SPDX-License-Identifier: MIT */
/*
 * learn.c -- finds rules; see learn.h. It runs on the sampler thread, also
 * while a thread is parked.
 *
 * Most rules are rows of the unwind table (row_table.h). A row that no rule can
 * express is RULE_HARD, and hard.c undoes such a frame on the real registers.
 *
 * The hard thing is code without a table, or with a wrong one: signal
 * restorers, the beginnings of stacks, PLT stubs, and assembly.
 */
#include "base/sys.h"
#include "process/modules.h"
#include "call_site.h"
#include "cfi.h"
#include "code_pattern.h"
#include "code_rows.h"
#include "engine.h"
#include "pages.h"
#include "row_table.h"
#include "untabled.h"
#include "walk.h"
#include "learn.h"
#include "base/poison.h"

/* A pc in a module, before its rule is looked for. */
struct place {
    uint64_t pc;
    bool is_return; /* pc is in the call before a return address */
    const struct module *module;
    bool has_fde;
    struct fde fde;
};

static void
find_place(uint64_t pc, struct place *place)
{
    place->pc = pc;
    place->module = modules_find(pc);
    place->has_fde = place->module != NULL &&
                     fde_find(pages_learner, place->module, pc, &place->fde);
}

int
learn_begin(void)
{
    pages_learner = sys_renew(pages_learner, sizeof(*pages_learner));
    if (pages_learner == NULL)
        return -1;
    pages_begin(pages_learner);
    return code_rows_begin() | hard_begin() | engine_begin();
}

void
learn_ahead(void)
{
    row_table_ahead(pages_learner);
    code_rows_ahead(pages_learner);
}

void
learn_forget_pages(void)
{
    pages_begin(pages_learner);
}

static bool
is_call(uint64_t pc)
{
    uint8_t code[ARCH_CALL_SIZE];
    return sys_copy_memory(code, pc, sizeof(code)) && arch_is_call(code);
}

bool
learn_is_behind_table(uint64_t pc, uint64_t *last)
{
    struct place before;
    for (uint64_t at = pc; at >= pc - ARCH_CALL_SIZE; at -= ARCH_CALL_SIZE) {
        find_place(at - 1, &before);
        *last = at - 1;
        if (before.has_fde && before.fde.end == at && is_call(at))
            return true;
    }
    return false;
}

/* The rule that the code of a module without an FDE shows: Go's, and assembly.
 */
static struct rule
rule_by_code(const struct place *place)
{
    uint64_t end = fde_gap_end(pages_learner, place->module, place->pc);
    return untabled_put(place->pc, place->is_return, end, place->module->is_go);
}

/* Whether PLACE is among the first instructions of the dynamic loader or the
 * program, where they have no FDE. With a link register: whether it is in the
 * first function, because a table may show it as an ordinary one. */
static bool
is_first_code(const struct place *place)
{
    uint64_t entry = place->module->entry;
    struct fde fde;
    if (place->has_fde)
        return ARCH_HAS_LINK && place->fde.start == entry;
    return entry != 0 && code_pattern_is_first(entry, place->pc) &&
           !fde_find(pages_learner, place->module, entry, &fde);
}

/* Whether PLACE is before a return address that no call has left, to code that
 * ends the program. Assembly has made the bottom of such a stack, as
 * make_fcontext of Boost does. */
static bool
is_made_end(const struct place *place)
{
    uint64_t address = place->pc + 1;
    return place->is_return && call_site_before(address, 0) == CALL_SITE_NONE &&
           code_pattern_is_last(address);
}

/* The rule for code of a module without an FDE. That may be a PLT stub, .init,
 * or assembly that may keep a frame pointer. It may also be the first
 * instructions of the dynamic loader or the program. */
static struct rule
rule_without_table(const struct place *place)
{
    uint64_t last;
    if (learn_is_behind_table(place->pc, &last))
        return rule_make(RULE_HARD);
    if (is_first_code(place) || is_made_end(place))
        return rule_make(RULE_ROOT);
    if (code_pattern_is_entry(place->pc))
        return rule_entry();
    struct rule stub = code_pattern_stub(place->pc);
    return rule_kind(stub) != RULE_NONE ? stub : rule_by_code(place);
}

/* The row that holds PC, among those that are visited. */
struct search {
    uint64_t pc;
    struct rule rule;
};

static void
take_row(void *to, const struct cfi_row *row)
{
    struct search *search = to;
    if (search->pc >= row->start && search->pc < row->end)
        search->rule = row->rule;
}

/* The rule of the row that holds PLACE. Some rows are in no piece
 * (row_table.c). */
static struct rule
rule_by_table(const struct place *place)
{
    struct search search = {place->pc, rule_make(RULE_NONE)};
    struct rule rule = row_table_learn(pages_learner, place->module, place->pc);
    if (rule_kind(rule) != RULE_NONE)
        return rule;
    (void)cfi_rows(pages_learner, &place->fde, place->pc, place->pc + 1,
                   take_row, &search);
    return rule_kind(search.rule) != RULE_NONE ? search.rule
                                               : rule_make(RULE_HARD);
}

/* Whether a stack begins at the return address after PLACE. That is a
 * function's first instruction, to which no call returns. The byte in front of
 * it belongs to no function. makecontext puts such an address under a new
 * stack. */
static bool
is_stack_start(const struct place *place)
{
    struct fde fde;
    return !place->has_fde &&
           fde_find(pages_learner, place->module, place->pc + 1, &fde) &&
           fde.start == place->pc + 1;
}

/* Whether a function may begin at PLACE or after it, or a restorer makes its
 * system call there. The table of glibc's restorer begins one byte early. */
static bool
is_edge(const struct place *place)
{
    uint64_t at = place->has_fde ? place->pc - place->fde.start : 0;
    return at <= 1 || at == 7 || at == 8 || place->pc + 1 == place->fde.end;
}

/* The rule for a place in a module. */
static struct rule
learn_in_module(const struct place *place)
{
    if (is_edge(place) && code_pattern_is_restorer(place->pc))
        return rule_make(RULE_SIGNAL);
    if (is_stack_start(place) || (place->has_fde && is_first_code(place)))
        return rule_make(RULE_ROOT);
    return place->has_fde ? rule_by_table(place) : rule_without_table(place);
}

struct rule
learn_rule(uint64_t pc, bool is_return)
{
    struct rule rule;
    struct place place = {.is_return = is_return};
    find_place(pc, &place);
    switch (modules_code_kind(pc)) {
    case CODE_MODULE:
        rule = learn_in_module(&place);
        break;
    case CODE_ANONYMOUS:
        rule = untabled_put_generated(pc, is_return);
        break;
    default:
        rule = rule_make(RULE_NOWHERE);
    }
    /* A pc that is in the table of rows needs no rule of its own. The pc comes
     * last: rules_put_row may empty a full table. */
    if (row_table_find(pc).word != rule.word)
        rules_put(pc, rule);
    return rule;
}

bool
learn_function(uint64_t pc, struct fde *function)
{
    const struct module *module = modules_find(pc);
    return module != NULL && fde_find(pages_learner, module, pc, function);
}

/* Undo the frame of REGISTERS. IS_RETURN: it stands before a return address. */
static enum hard_outcome
undo(struct hard_registers *registers, bool is_return, struct view *view)
{
    uint64_t pc = registers->registers.at[ARCH_PC] - is_return;
    struct place place;
    struct rule rule = rules_find(pc);
    if (rule_kind(rule) == RULE_NONE)
        rule = learn_rule(pc, is_return);
    find_place(pc, &place);
    bool is_row = rule_kind(rule) == RULE_FRAME || rule_kind(rule) == RULE_HARD;
    return place.has_fde && is_row
               ? hard_by_table(pages_learner, &place.fde, pc, view, registers)
               : hard_by_rule(rule, view, registers);
}

/* learn_step by our own code. */
static enum hard_outcome
step(const struct hard_registers *origin, uint32_t depth, uint64_t expected_pc,
     struct view *view, struct regs *caller)
{
    struct hard_registers registers = *origin;
    enum hard_outcome outcome = HARD_CAUGHT;
    for (uint32_t i = 0; i <= depth; i++) {
        if (i == depth && registers.registers.at[ARCH_PC] != expected_pc)
            return HARD_FAILED;
        outcome = undo(&registers, outcome == HARD_ON, view);
        if (outcome == HARD_FAILED || (outcome == HARD_ROOT && i != depth))
            return HARD_FAILED;
    }
    bool has_fp = (registers.known >> ARCH_FP & 1) != 0;
    *caller = (struct regs){.pc = registers.registers.at[ARCH_PC],
                            .sp = registers.registers.at[ARCH_SP],
                            .fp = has_fp ? registers.registers.at[ARCH_FP]
                                         : REGS_FP_UNKNOWN};
    return outcome;
}

int
learn_step(const struct hard_registers *origin, uint32_t depth,
           uint64_t expected_pc, struct view *view, struct regs *caller,
           bool *is_root)
{
    /* Pages of variables may hold stacks that have changed. */
    pages_begin(pages_learner);
    enum hard_outcome outcome = step(origin, depth, expected_pc, view, caller);
    *is_root = outcome == HARD_ROOT;
    return outcome != HARD_FAILED
               ? 0
               : engine_step(origin, depth, expected_pc, view, caller, is_root);
}
