/* SPDX-License-Identifier: MIT */
/*
 * id_table.h -- numbers keys of two parts: the same key has the same number. A
 * node of the tree of stacks is a frame under a parent. Sampler thread alone.
 */
#ifndef AGENT_ID_TABLE_H
#define AGENT_ID_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct id_entry;

struct id_table {
    uint32_t first_size, most; /* entries: powers of two */
    struct id_entry *entries;
    uint32_t size, count, last;
};

/* Empty TABLE, of which FIRST_SIZE and MOST are given; numbers begin at 1.
 * Returns 0, or -1 if memory is short. */
int id_table_begin(struct id_table *table);

/* The number of the key (HIGH, LOW); *IS_NEW if it was not there before.
 * Returns 0 if memory is short, or if there are more than half of MOST. */
uint32_t id_table_of(struct id_table *table, uint32_t high, uint64_t low,
                     bool *is_new);

/* Keys mean something else from now on: none is found any more, numbers go on.
 */
void id_table_forget(struct id_table *table);

#endif
