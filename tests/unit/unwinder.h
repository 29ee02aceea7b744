/* SPDX-License-Identifier: MIT */
/*
 * unwinder.h -- libunwind by itself, as the answer to compare with: it walks
 * from any registers, finds tables by the module map and reads memory by system
 * calls. Shares nothing with capture/learn.c. Usable in a signal handler, by
 * one thread at a time. Functions in a header, because each test is a program
 * of one source file.
 */
#ifndef TESTS_UNIT_UNWINDER_H
#define TESTS_UNIT_UNWINDER_H

#include <libunwind-x86_64.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ucontext.h>

#include "capture/pages.h"
#include "capture/refusals.h"
#include "target/modules.h"

/* As in libunwind-x86_64; no public header declares it. */
int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t, unw_word_t ip,
                                       unw_dyn_info_t *, unw_proc_info_t *,
                                       int need, void *);

#define UNWINDER_REGISTERS 17

struct unwinder {
    uint64_t registers[UNWINDER_REGISTERS]; /* by number of DWARF */
    bool has_table; /* the last frame that was looked up has an FDE */
    unw_addr_space_t space;
    unw_cursor_t cursor;
    struct pages pages; /* memory as it was when the walk began, or later */
};

static int
unwinder_find(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info,
              int need, void *arg)
{
    struct unwinder *unwinder = arg;
    const struct module *module = modules_find(ip);
    uint32_t head[3];

    unwinder->has_table = false;
    if (module == NULL || module->table == 0 ||
        !pages_read(&unwinder->pages, module->table, head, sizeof(head)))
        return -UNW_ENOINFO;
    unw_dyn_info_t table = {.start_ip = module->start,
                            .end_ip = module->end,
                            .format = UNW_INFO_FORMAT_REMOTE_TABLE};
    table.u.rti.segbase = module->table;
    table.u.rti.table_data = module->table + 12;
    table.u.rti.table_len = head[2];
    int result =
        _Ux86_64_dwarf_search_unwind_table(as, ip, &table, info, need, arg);
    unwinder->has_table = result == 0;
    return result;
}

static int
unwinder_memory(unw_addr_space_t as, unw_word_t address, unw_word_t *value,
                int put, void *arg)
{
    struct unwinder *unwinder = arg;

    (void)as;
    return !put && pages_read(&unwinder->pages, address, value, 8)
               ? 0
               : -UNW_EINVAL;
}

static int
unwinder_register(unw_addr_space_t as, unw_regnum_t number, unw_word_t *value,
                  int put, void *arg)
{
    struct unwinder *unwinder = arg;

    (void)as;
    if (put || number < 0 || number >= UNWINDER_REGISTERS)
        return -UNW_EBADREG;
    *value = unwinder->registers[number];
    return 0;
}

/* Make the address space. Returns 0, or -1. */
static inline int
unwinder_begin(struct unwinder *unwinder)
{
    static unw_accessors_t accessors = {
        .find_proc_info = unwinder_find,
        .put_unwind_info = refusals_put_unwind_info,
        .get_dyn_info_list_addr = refusals_get_dyn_info_list,
        .access_mem = unwinder_memory,
        .access_reg = unwinder_register,
        .access_fpreg = refusals_access_fpreg,
        .resume = refusals_resume,
        .get_proc_name = refusals_get_proc_name};

    pages_begin(&unwinder->pages);
    unwinder->space = unw_create_addr_space(&accessors, 0);
    if (unwinder->space == NULL)
        return -1;
    unw_set_caching_policy(unwinder->space, UNW_CACHE_NONE);
    return 0;
}

/* Take the registers that a signal interrupted. */
static inline void
unwinder_context(struct unwinder *unwinder, const ucontext_t *context)
{
    static const int8_t order[UNWINDER_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX,
                                                     REG_RBX, REG_RSI, REG_RDI,
                                                     REG_RBP, REG_RSP, REG_R8,
                                                     REG_R9,  REG_R10, REG_R11,
                                                     REG_R12, REG_R13, REG_R14,
                                                     REG_R15, REG_RIP};

    for (int i = 0; i < UNWINDER_REGISTERS; i++)
        unwinder->registers[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
}

/* Stand in the frame that the registers are of. Returns 0, or -1. */
static inline int
unwinder_start(struct unwinder *unwinder)
{
    return unw_init_remote(&unwinder->cursor, unwinder->space, unwinder) == 0
               ? 0
               : -1;
}

/* A register of the frame where the cursor stands; 0 if it is not known. */
static inline uint64_t
unwinder_get(struct unwinder *unwinder, int number)
{
    unw_word_t value;

    return unw_get_reg(&unwinder->cursor, number, &value) == 0 ? value : 0;
}

#endif
