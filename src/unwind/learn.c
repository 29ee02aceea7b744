/* SPDX-License-Identifier: MIT */
/*
 * learn.c -- finds rules; see learn.h. It runs on the sampler thread, also
 * while a thread is parked.
 *
 * Most rules are rows of the unwind table (row_table.h). A row that no rule can
 * say is RULE_HARD, and libunwind undoes such a frame on the real registers.
 *
 * The hard thing is code that has no table, or a table that is not to be
 * believed: signal restorers, the beginnings of stacks, PLT stubs, and
 * assembly.
 */
#include <libunwind.h>

#include "base/sys.h"
#include "process/modules.h"
#include "call_site.h"
#include "cfi.h"
#include "code_pattern.h"
#include "code_rows.h"
#include "pages.h"
#include "row_table.h"
#include "untabled.h"
#include "walk.h"
#include "learn.h"
#include "base/poison.h"

/* libunwind exports this, but declares it in no public header: a binary search
 * in .eh_frame_hdr, then the FDE. */
#define search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
int search_unwind_table(unw_addr_space_t, unw_word_t ip, unw_dyn_info_t *,
                        unw_proc_info_t *, int need, void *);

/* Where libunwind finds a table of one entry: the FDE that fde_find has found
 * already. */
#define TABLE 0x5000000000000000ull

/* What is known of a pc in a module before libunwind is asked. */
struct place {
    uint64_t pc;
    bool is_return; /* pc is in the call before a return address */
    const struct module *module;
    bool has_fde;
    struct fde fde;
};

/* What one question to libunwind needs. libunwind passes it on as "arg". */
struct question {
    struct place place; /* of the pc that find_proc_info was asked for */
    const struct learn_origin *origin;
    struct view *view;
};

static unw_addr_space_t space;
static unw_cursor_t cursor; /* 1 KiB: too much for a small stack */

static void
find_place(uint64_t pc, struct place *place)
{
    place->pc = pc;
    place->module = modules_find(pc);
    place->has_fde = place->module != NULL &&
                     fde_find(pages_learner, place->module, pc, &place->fde);
}

/* The entry of the table at TABLE: start and FDE, relative to the FDE. */
static uint64_t
table_entry(const struct place *place)
{
    return (uint32_t)(place->fde.start - place->fde.address);
}

static int
find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info,
               int need, void *arg)
{
    struct question *question = arg;
    struct place *place = &question->place;
    if (place->pc != ip)
        find_place(ip, place);
    if (!place->has_fde)
        return -UNW_ENOINFO;
    unw_dyn_info_t table = {.start_ip = place->module->start,
                            .end_ip = place->module->end,
                            .format = UNW_INFO_FORMAT_REMOTE_TABLE};
    table.u.rti.segbase = place->fde.address;
    table.u.rti.table_data = TABLE;
    table.u.rti.table_len = 1;
    return search_unwind_table(as, ip, &table, info, need, arg);
}

static int
access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *value, int put,
           void *arg)
{
    struct question *question = arg;
    (void)as;
    if (put)
        return -UNW_EINVAL;
    if (address == TABLE) {
        *value = table_entry(&question->place);
        return 0;
    }
    /* A stack may lie in a module, and be a copy. */
    const struct view *view = question->view;
    bool is_copied = address >= view->window_start &&
                     address + sizeof(*value) <= view->window_end;
    if (!is_copied && (modules_holds(address) || modules_code_kind(address)))
        return pages_read(pages_learner, address, value, 8) ? 0 : -UNW_EINVAL;
    return view_read(question->view, address, value) ? 0 : -UNW_EINVAL;
}

static int
access_reg(unw_addr_space_t as, unw_regnum_t number, unw_word_t *value, int put,
           void *arg)
{
    struct question *question = arg;
    (void)as;
    if (put || number < 0 || number >= ARCH_REGISTERS)
        return -UNW_EBADREG;
    if ((question->origin->known & 1ull << number) == 0)
        return -UNW_EBADREG;
    *value = question->origin->registers.at[number];
    return 0;
}

static void
put_unwind_info(unw_addr_space_t as, unw_proc_info_t *info, void *arg)
{
    (void)as;
    (void)info;
    (void)arg;
}

/* There is no code of which the program has told libunwind. */
static int
get_dyn_info_list(unw_addr_space_t as, unw_word_t *list, void *arg)
{
    (void)as;
    (void)list;
    (void)arg;
    return -UNW_ENOINFO;
}

int
learn_begin(void)
{
    /* The rest is asked for by no function that is called here: vector
     * registers, changes, and names. */
    static unw_accessors_t accessors = {.find_proc_info = find_proc_info,
                                        .put_unwind_info = put_unwind_info,
                                        .get_dyn_info_list_addr =
                                            get_dyn_info_list,
                                        .access_mem = access_mem,
                                        .access_reg = access_reg};
    pages_learner = sys_renew(pages_learner, sizeof(*pages_learner));
    if (pages_learner == NULL)
        return -1;
    pages_begin(pages_learner);
    if (code_rows_begin() != 0)
        return -1;
    if (space == NULL) {
        space = unw_create_addr_space(&accessors, 0);
        if (space == NULL)
            return -1;
        unw_set_caching_policy(space, UNW_CACHE_NONE);
    }
    return 0;
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
 * program, where they have no FDE. With a link register, whether it is in the
 * first function: a table that does not say what that is shows an ordinary one.
 */
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

/* Whether PLACE is before a return address that no call has left, of code that
 * ends the program. It is the bottom of a stack that assembly has made, as
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

/* Whether a stack begins at the return address behind PLACE. That is a
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

/* Whether a function may begin at PLACE or behind it. The table of glibc's
 * restorer begins one byte early. */
static bool
is_edge(const struct place *place)
{
    return !place->has_fde || place->pc - place->fde.start <= 1 ||
           place->pc + 1 == place->fde.end;
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

/* The registers of the frame that libunwind stands in. */
static int
read_regs(const struct learn_origin *origin, struct regs *regs)
{
    if (unw_get_reg(&cursor, UNW_REG_IP, &regs->pc) != 0 ||
        unw_get_reg(&cursor, UNW_REG_SP, &regs->sp) != 0)
        return -1;
    regs->pc = arch_code(regs->pc);
    if (unw_get_reg(&cursor, ARCH_FP, &regs->fp) == 0)
        return 0;
    regs->fp = REGS_FP_UNKNOWN;
    return (origin->known & 1u << ARCH_FP) == 0 ? 0 : -1;
}

int
learn_step(const struct learn_origin *origin, uint32_t depth,
           uint64_t expected_pc, struct view *view, struct regs *caller,
           bool *is_root)
{
    struct question question = {.origin = origin, .view = view};
    unw_word_t pc;
    /* Pages of variables may hold stacks, which have changed. */
    pages_begin(pages_learner);
    if (unw_init_remote(&cursor, space, &question) != 0)
        return -1;
    for (uint32_t i = 0; i < depth; i++)
        if (unw_step(&cursor) <= 0)
            return -1;
    if (unw_get_reg(&cursor, UNW_REG_IP, &pc) != 0 || pc != expected_pc)
        return -1;
    int result = unw_step(&cursor);
    *is_root = result == 0;
    if (result < 0)
        return -1;
    return read_regs(origin, caller) == 0 || *is_root ? 0 : -1;
}
