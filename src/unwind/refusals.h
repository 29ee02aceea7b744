/* SPDX-License-Identifier: MIT */
/*
 * refusals.h -- what libunwind may ask of an address space, and what is refused
 * here: vector registers, code that was generated at run time, and names. Any
 * change is refused, too. See libunwind's unw_create_addr_space(3).
 */
#ifndef UNWIND_REFUSALS_H
#define UNWIND_REFUSALS_H

#include <libunwind-x86_64.h>

void refusals_put_unwind_info(unw_addr_space_t as, unw_proc_info_t *info,
                              void *arg);
int refusals_get_dyn_info_list(unw_addr_space_t as, unw_word_t *list,
                               void *arg);
int refusals_access_fpreg(unw_addr_space_t as, unw_regnum_t number,
                          unw_fpreg_t *value, int put, void *arg);
int refusals_resume(unw_addr_space_t as, unw_cursor_t *at, void *arg);
int refusals_get_proc_name(unw_addr_space_t as, unw_word_t address, char *name,
                           size_t size, unw_word_t *offset, void *arg);

#endif
