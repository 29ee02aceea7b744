/* SPDX-License-Identifier: MIT */
/*
 * table.h -- a profile as a table of functions: FLAT is what was spent in the
 * function itself, CUMULATIVE what was spent while it was on the stack. A stack
 * in which a function occurs several times counts once.
 */
#ifndef PROFILE_TABLE_H
#define PROFILE_TABLE_H

#include <stdint.h>

#include "profile.h"

struct table_row {
    const char *function, *module;
    uint64_t flat[VALUE_COUNT];
    uint64_t cumulative[VALUE_COUNT];
};

struct table {
    struct table_row *rows;
    uint32_t count;
};

/*
 * The functions of PROFILE, those with the most flat VALUE first; then by
 * cumulative VALUE, by samples, by name. Returns 0, or -1 with errno set if
 * memory is short. The profile must outlive the table.
 */
int table_build(struct table *table, struct profile *profile, enum value value);

void table_release(struct table *table);

#endif
