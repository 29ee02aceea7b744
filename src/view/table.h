/* SPDX-License-Identifier: MIT */
/*
 * table.h -- a profile as a table of functions. FLAT is what was spent in the
 * function itself, CUMULATIVE what was spent while it was on the stack. A stack
 * in which a function occurs several times counts once.
 */
#ifndef VIEW_TABLE_H
#define VIEW_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/profile.h"

struct tree;

/* The kind of rows. Threads, states, processes and labels are not on stacks:
 * there FLAT and CUMULATIVE are the same. */
enum table_by {
    TABLE_FUNCTION,
    TABLE_LINE,
    TABLE_MODULE,
    TABLE_THREAD,
    TABLE_STATE,
    TABLE_PROCESS,
    TABLE_EXE,      /* processes of the same executable file */
    TABLE_COMMAND,  /* processes with the same command line */
    TABLE_LABEL,    /* values of a label */
    TABLE_ACTIVITY, /* states, with what is waited on as MODULE; not for text */
};

/* The sum that rows are sorted by. */
enum table_order { TABLE_FLAT, TABLE_CUMULATIVE };

struct table_row {
    /* The name: of the function, or of whatever the row is. */
    const char *function;
    const char *module;  /* module of a function, "" if none */
    const char *file;    /* file of a line, "" if unknown */
    uint32_t line;       /* 0 if unknown */
    uint32_t start_line; /* first line of its function, 0 if unknown */
    uint32_t id;         /* tid of a thread, pid of a process, else 0 */
    uint32_t number;     /* of a thread or process in the profile */
    bool is_idle;        /* of an idle thread, or of all (model/idle.h) */
    bool is_last;        /* of all idle threads, which are folded */
    uint64_t flat[VALUE_COUNT];
    uint64_t cumulative[VALUE_COUNT];
    double flat_squares[VALUE_COUNT], cumulative_squares[VALUE_COUNT];
};

struct table {
    struct table_row *rows;
    uint32_t count;
};

/*
 * Make the rows of PROFILE of kind BY, those with the most flat VALUE first,
 * then by cumulative VALUE, by samples, by name. KEY is that of the label which
 * the program gave to samples, for TABLE_LABEL; samples without it have the row
 * TABLE_NO_LABEL. The row of idle threads that are folded (idle_fold) is the
 * last. Returns 0, or -1 with errno set if memory is short. PROFILE
 * must outlive TABLE.
 */
#define TABLE_NO_LABEL "[none]"
int table_build(struct table *table, struct profile *profile, enum table_by by,
                const char *key, enum value value);

/* As table_build, for the names of TREE as they are. */
int table_of_tree(struct table *table, const struct tree *tree,
                  enum value value);

/* The same, with the rows in the order of the names. */
int table_by_name(struct table *table, const struct tree *tree);

/* Sort the rows by ORDER of VALUE, the largest first. */
void table_sort(struct table *table, enum value value, enum table_order order);

void table_release(struct table *table);

#endif
