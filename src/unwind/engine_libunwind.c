/* SPDX-License-Identifier: MIT */
/*
 * engine_libunwind.c -- see engine.h. libunwind is a private copy, so a
 * suspended thread never holds its locks. It reads only through pages and
 * views, so it never faults.
 */
#include <libunwind.h>

#include "process/modules.h"
#include "fde.h"
#include "pages.h"
#include "walk.h"
#include "engine.h"
#include "base/poison.h"

/* libunwind exports this, but declares it in no public header: a binary search
 * in .eh_frame_hdr, then the FDE. */
#define search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
int search_unwind_table(unw_addr_space_t, unw_word_t ip, unw_dyn_info_t *,
                        unw_proc_info_t *, int need, void *);

/* A table of one entry for libunwind: the FDE that fde_find has found. */
#define TABLE 0x5000000000000000ull

/* The context of one question to libunwind, which passes it on as "arg". */
struct question {
    struct fde fde; /* of the pc that find_proc_info was asked for */
    const struct hard_registers *origin;
    struct view *view;
};

static unw_addr_space_t space;
static unw_cursor_t cursor; /* 1 KiB: too much for a small stack */

/* The entry of the table at TABLE: start and FDE, relative to the FDE. */
static uint64_t
table_entry(const struct fde *fde)
{
    return (uint32_t)(fde->start - fde->address);
}

static int
find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info,
               int need, void *arg)
{
    struct question *question = arg;
    struct fde *fde = &question->fde;
    const struct module *module = modules_find(ip);
    if (module == NULL || !fde_find(pages_learner, module, ip, fde))
        return -UNW_ENOINFO;
    unw_dyn_info_t table = {.start_ip = module->start,
                            .end_ip = module->end,
                            .format = UNW_INFO_FORMAT_REMOTE_TABLE};
    table.u.rti.segbase = fde->address;
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
        *value = table_entry(&question->fde);
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

/* No code was registered with this copy of libunwind. */
static int
get_dyn_info_list(unw_addr_space_t as, unw_word_t *list, void *arg)
{
    (void)as;
    (void)list;
    (void)arg;
    return -UNW_ENOINFO;
}

int
engine_begin(void)
{
    /* No function that is called here needs the rest: vector registers,
     * changes, and names. */
    static unw_accessors_t accessors = {.find_proc_info = find_proc_info,
                                        .put_unwind_info = put_unwind_info,
                                        .get_dyn_info_list_addr =
                                            get_dyn_info_list,
                                        .access_mem = access_mem,
                                        .access_reg = access_reg};
    if (space == NULL) {
        space = unw_create_addr_space(&accessors, 0);
        if (space == NULL)
            return -1;
        unw_set_caching_policy(space, UNW_CACHE_NONE);
    }
    return 0;
}

/* The registers of libunwind's present frame. */
static int
read_regs(const struct hard_registers *origin, struct regs *regs)
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
engine_step(const struct hard_registers *origin, uint32_t depth,
            uint64_t expected_pc, struct view *view, struct regs *caller,
            bool *is_root)
{
    struct question question = {.origin = origin, .view = view};
    unw_word_t pc;
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
