/* SPDX-License-Identifier: MIT */
/* unwinder.c -- see unwinder.h. */
#include <sys/ucontext.h>

#include "process/modules.h"
#include "unwinder.h"

/* As in libunwind; no public header declares it. */
#define search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
int search_unwind_table(unw_addr_space_t, unw_word_t ip, unw_dyn_info_t *,
                        unw_proc_info_t *, int need, void *);

int
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
    int result = search_unwind_table(as, ip, &table, info, need, arg);
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
    if (put || number < 0 || number >= ARCH_REGISTERS)
        return -UNW_EBADREG;
    *value = unwinder->registers[number];
    return 0;
}

static void
put_unwind_info(unw_addr_space_t as, unw_proc_info_t *info, void *arg)
{
    (void)as;
    (void)info;
    (void)arg;
}

static int
get_dyn_info_list(unw_addr_space_t as, unw_word_t *list, void *arg)
{
    (void)as;
    (void)list;
    (void)arg;
    return -UNW_ENOINFO;
}

int
unwinder_begin(struct unwinder *unwinder)
{
    static unw_accessors_t accessors = {.find_proc_info = unwinder_find,
                                        .put_unwind_info = put_unwind_info,
                                        .get_dyn_info_list_addr =
                                            get_dyn_info_list,
                                        .access_mem = unwinder_memory,
                                        .access_reg = unwinder_register};

    pages_begin(&unwinder->pages);
    unwinder->space = unw_create_addr_space(&accessors, 0);
    if (unwinder->space == NULL)
        return -1;
    unw_set_caching_policy(unwinder->space, UNW_CACHE_NONE);
    return 0;
}

void
unwinder_context(struct unwinder *unwinder, const ucontext_t *context)
{
    for (unsigned i = 0; i < ARCH_REGISTERS; i++)
        unwinder->registers[i] = arch_register(context, i);
}

int
unwinder_start(struct unwinder *unwinder)
{
    return unw_init_remote(&unwinder->cursor, unwinder->space, unwinder) == 0
               ? 0
               : -1;
}

uint64_t
unwinder_get(struct unwinder *unwinder, int number)
{
    unw_word_t value;

    return unw_get_reg(&unwinder->cursor, number, &value) == 0 ? value : 0;
}
