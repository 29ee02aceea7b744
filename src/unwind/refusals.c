/* SPDX-License-Identifier: MIT */
/* refusals.c -- see refusals.h. */
#include "refusals.h"
#include "base/poison.h"

void
refusals_put_unwind_info(unw_addr_space_t as, unw_proc_info_t *info, void *arg)
{
    (void)as;
    (void)info;
    (void)arg;
}

int
refusals_get_dyn_info_list(unw_addr_space_t as, unw_word_t *list, void *arg)
{
    (void)as;
    (void)list;
    (void)arg;
    return -UNW_ENOINFO;
}

int
refusals_access_fpreg(unw_addr_space_t as, unw_regnum_t number,
                      unw_fpreg_t *value, int put, void *arg)
{
    (void)as;
    (void)number;
    (void)value;
    (void)put;
    (void)arg;
    return -UNW_EBADREG;
}

int
refusals_resume(unw_addr_space_t as, unw_cursor_t *at, void *arg)
{
    (void)as;
    (void)at;
    (void)arg;
    return -UNW_EINVAL;
}

int
refusals_get_proc_name(unw_addr_space_t as, unw_word_t address, char *name,
                       size_t size, unw_word_t *offset, void *arg)
{
    (void)as;
    (void)address;
    (void)name;
    (void)size;
    (void)offset;
    (void)arg;
    return -UNW_ENOINFO;
}
