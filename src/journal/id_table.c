/* SPDX-License-Identifier: MIT */
/*
 * id_table.c -- see id_table.h. A hash table that is doubled when it is half
 * full. Its memory comes from the kernel, not from the program's allocator.
 */
#include <stddef.h>

#include "base/sys.h"
#include "id_table.h"

struct id_entry {
    uint64_t low;
    uint32_t high, id; /* id 0: empty */
};
_Static_assert(sizeof(struct id_entry) == 16, "four entries a cache line");

/* Where the search for a key begins. */
static uint32_t
place_of(uint32_t size, uint64_t low)
{
    return (uint32_t)(low >> 32 ^ low) & (size - 1);
}

/* A table that has grown is given back, and a small one is taken. */
int
id_table_begin(struct id_table *table)
{
    size_t entry = sizeof(*table->entries);
    struct id_entry *small = table->entries;
    table->last = table->count = 0;
    if (table->size != table->first_size)
        small = sys_reserve_for_one(table->first_size * entry);
    if (small == NULL || small == table->entries) {
        table->entries = sys_renew(table->entries, table->size * entry);
        return table->entries != NULL ? 0 : -1;
    }
    sys_release(table->entries, table->size * entry);
    table->entries = small;
    table->size = table->first_size;
    return 0;
}

void
id_table_forget(struct id_table *table)
{
    if (table->count == 0)
        return;
    for (uint32_t i = 0; i < table->size; i++)
        table->entries[i].id = 0;
    table->count = 0;
}

/* Returns the entry of (HIGH, LOW) in ENTRIES, or the empty one where it
 * belongs. */
static struct id_entry *
find_entry(struct id_entry *entries, uint32_t size, uint32_t high, uint64_t low)
{
    uint32_t i = place_of(size, low);
    while (entries[i].id != 0 &&
           (entries[i].low != low || entries[i].high != high))
        i = (i + 1) & (size - 1);
    return &entries[i];
}

static int
grow_table(struct id_table *table)
{
    uint32_t doubled = table->size * 2;
    struct id_entry *bigger =
        doubled <= table->most ? sys_reserve_present(doubled * sizeof(*bigger))
                               : NULL;
    if (bigger == NULL)
        return -1;
    for (uint32_t i = 0; i < table->size; i++) {
        const struct id_entry *entry = &table->entries[i];
        if (entry->id != 0)
            *find_entry(bigger, doubled, entry->high, entry->low) = *entry;
    }
    sys_release(table->entries, table->size * sizeof(*bigger));
    table->entries = bigger;
    table->size = doubled;
    return 0;
}

void
id_table_fetch(const struct id_table *table, uint64_t low)
{
    __builtin_prefetch(&table->entries[place_of(table->size, low)]);
}

uint32_t
id_table_of(struct id_table *table, uint32_t high, uint64_t low, bool *is_new)
{
    if (table->count == 0)
        sys_populate(table->entries, table->size * sizeof(*table->entries));
    struct id_entry *entry = find_entry(table->entries, table->size, high, low);
    *is_new = entry->id == 0;
    if (!*is_new)
        return entry->id;
    if (table->count >= table->size / 2) {
        if (grow_table(table) != 0)
            return 0;
        entry = find_entry(table->entries, table->size, high, low);
    }
    *entry = (struct id_entry){low, high, ++table->last};
    table->count++;
    return entry->id;
}

/* The hash is FNV-1a. */
uint32_t
id_table_of_text(struct id_table *table, const char *text, bool *is_new)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return id_table_of(table, 0, hash, is_new);
}
