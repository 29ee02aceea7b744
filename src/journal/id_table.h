/* SPDX-License-Identifier: MIT */
/*
 * id_table.h -- numbers keys: the same key has the same number. A key is a
 * text, or has two parts, as a node of the tree of stacks, which is a stack
 * under a parent. LOW is a hash of 64 bits, all of which are used.
 * Context: sampler.
 */
#ifndef JOURNAL_ID_TABLE_H
#define JOURNAL_ID_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct id_entry;

struct id_table {
    uint32_t first_size, most; /* entries: powers of two */
    struct id_entry *entries;
    uint32_t size, count, last;
};

/* Empty TABLE. The caller has set first_size and most; numbers begin at 1.
 * Returns 0, or -1 if memory is short. */
int id_table_begin(struct id_table *table);

/* Begin to fetch the place of the keys with LOW. */
void id_table_fetch(const struct id_table *table, uint64_t low);

/* Returns the number of the key (HIGH, LOW); *IS_NEW says that the key was
 * added. Returns 0 if memory is short, or if more than half of MOST entries
 * would be used. */
uint32_t id_table_of(struct id_table *table, uint32_t high, uint64_t low,
                     bool *is_new);

/* The same for TEXT. Texts are distinguished by 64 bits of hash, and are not
 * kept. The chance that two have the same hash is 1 in 10^12 among some
 * thousands of texts, and 1 in 10^7 among a million. */
uint32_t id_table_of_text(struct id_table *table, const char *text,
                          bool *is_new);

/* Forget all keys, because their meaning changes. Numbers go on. */
void id_table_forget(struct id_table *table);

#endif
