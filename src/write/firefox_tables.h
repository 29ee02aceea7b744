/* SPDX-License-Identifier: MIT */
/*
 * firefox_tables.h -- the tables that the threads of a Firefox profile share:
 * strings, functions, frames, stacks. Only for the firefox*.c files. A stack is
 * its innermost frame and the stack that called it:
 *
 *   stack   frame             prefix
 *   0       main              none
 *   1       parse             0
 *   2       next_token        1       inlined in parse: inlineDepth 1
 *   3       read, "Waiting"   0       a leaf has the category of its state
 *
 * Equal rows are one row. Rows are numbered in order of appearance.
 */
#ifndef WRITE_FIREFOX_TABLES_H
#define WRITE_FIREFOX_TABLES_H

#include <stdint.h>

#include "model/profile.h"

/* meta.categories; the first is the default. */
enum firefox_category {
    FIREFOX_OTHER,
    FIREFOX_RUNNING,
    FIREFOX_WAITING,
    FIREFOX_RUNNABLE,
};

/* Numbers are those of rows in other tables, or FIREFOX_NONE. */
#define FIREFOX_NONE UINT32_MAX

struct firefox_function {
    uint32_t name, resource, source;
};

struct firefox_frame {
    uint64_t address; /* in the library */
    uint32_t function, library, depth, line, category, subcategory;
};

struct firefox_stack {
    uint32_t prefix, frame;
};

struct firefox_tables {
    struct profile *profile;
    struct intern *strings, *sources, *resources, *functions, *frames, *stacks;
    struct intern *calls; /* strings: the system calls that threads waited in;
                             subcategories */
    uint32_t *libraries;  /* of each module: its number in libs */
    uint32_t *library_names; /* of each library: its string */
    uint32_t *stack_of;      /* of each node, as a caller */
    uint32_t *sample_stack;
    uint32_t library_count;
};

/* Make all tables. Returns 0, or -1 with errno set if memory is short; the
 * caller calls firefox_tables_release in both cases. */
int firefox_tables_build(struct firefox_tables *tables,
                         struct profile *profile);

/* The number of TEXT in the string table; a new text is added. 0 if memory is
 * short. Call it before the tables are written. */
uint32_t firefox_tables_string(struct firefox_tables *tables, const char *text);

void firefox_tables_release(struct firefox_tables *tables);

#endif
