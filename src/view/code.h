/* SPDX-License-Identifier: MIT */
/* code.h -- the machine code of some functions, with what was spent at each
 * address. */
#ifndef VIEW_CODE_H
#define VIEW_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/profile.h"
#include "match.h"

/* An address with samples. For a caller it is in its call. FLAT is of samples
 * that were taken there, CUMULATIVE also of those below the call. */
struct code_place {
    uint64_t offset; /* in the numbering of the module's file */
    uint64_t flat[VALUE_COUNT], cumulative[VALUE_COUNT];
};

/* A function that has code of its own. */
struct code {
    uint32_t module;
    const char *function;      /* clean */
    const char *linkage;       /* as in the symbol table */
    struct code_place *places; /* by offset */
    uint32_t count;
};

struct code_list {
    struct code *all; /* the most time first */
    uint32_t count;
    uint32_t inlined; /* frames of selected functions in code of others */
};

/* Collect the functions that MATCH selects. Returns 0, or -1 with errno set if
 * memory is short. PROFILE must outlive LIST, which code_release releases. */
int code_collect(struct code_list *list, struct profile *profile,
                 const struct match *match);

void code_release(struct code_list *list);

#endif
