/* SPDX-License-Identifier: MIT */
/*
 * text_ids.c -- see text_ids.h. Texts are told apart by 64 bits of hash, and
 * not kept: two of some thousands have the same with a chance of 1 in 10^12,
 * two of a million with one of 1 in 10^7. The table is doubled when it is half
 * full, up to some limit.
 */
#include <stddef.h>

#include "base/sys.h"
#include "text_ids.h"

#define FIRST_SIZE 16384u
#define SIZE_MOST (1u << 22)

struct entry {
    uint64_t hash;
    uint32_t number, reserved; /* NUMBER 0: empty */
};

static struct entry *entries;
static uint32_t size, count;

int
text_ids_begin(void)
{
    count = 0;
    if (entries == NULL)
        size = FIRST_SIZE;
    entries = sys_renew(entries, size * sizeof(*entries));
    return entries != NULL ? 0 : -1;
}

/* FNV-1a, then mixed, because only some bits choose the place. */
static uint64_t
hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return (hash ^ hash >> 29) * 0x9e3779b97f4a7c15u;
}

/* The place of HASH in TABLE: its entry, or an empty one. */
static struct entry *
find_place(struct entry *table, uint32_t table_size, uint64_t hash)
{
    uint32_t i = (uint32_t)(hash >> 40) % table_size;
    while (table[i].number != 0 && table[i].hash != hash)
        i = (i + 1) % table_size;
    return &table[i];
}

static int
grow(void)
{
    uint32_t doubled = size * 2;
    struct entry *bigger = doubled <= SIZE_MOST
                               ? sys_reserve_present(doubled * sizeof(*bigger))
                               : NULL;
    if (bigger == NULL)
        return -1;
    for (uint32_t i = 0; i < size; i++)
        if (entries[i].number != 0)
            *find_place(bigger, doubled, entries[i].hash) = entries[i];
    sys_release(entries, size * sizeof(*entries));
    entries = bigger;
    size = doubled;
    return 0;
}

uint32_t
text_ids_of(const char *text, bool *is_new)
{
    uint64_t hash = hash_of(text);
    struct entry *entry = find_place(entries, size, hash);
    *is_new = entry->number == 0;
    if (!*is_new)
        return entry->number;
    if (count >= size / 2) {
        if (grow() != 0)
            return 0;
        entry = find_place(entries, size, hash);
    }
    *entry = (struct entry){.hash = hash, .number = ++count};
    return count;
}
