/* SPDX-License-Identifier: MIT */
/*
 * text_ids.c -- see text_ids.h. Texts are told apart by 64 bits of hash, and
 * not kept: two of some thousands have the same with a chance of 1 in 10^12.
 */
#include <stddef.h>

#include "base/sys.h"
#include "text_ids.h"

#define ENTRIES 16384u

static uint64_t *hashes; /* of the text whose number the other array has */
static uint32_t *numbers;
static uint32_t count;

int
text_ids_begin(void)
{
    count = 0;
    hashes = sys_renew(hashes, ENTRIES * sizeof(*hashes));
    numbers = sys_renew(numbers, ENTRIES * sizeof(*numbers));
    return hashes != NULL && numbers != NULL ? 0 : -1;
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

uint32_t
text_ids_of(const char *text, bool *is_new)
{
    uint64_t hash = hash_of(text);
    uint32_t i = (uint32_t)(hash >> 40) % ENTRIES;
    while (numbers[i] != 0 && hashes[i] != hash)
        i = (i + 1) % ENTRIES;
    *is_new = numbers[i] == 0;
    if (!*is_new)
        return numbers[i];
    if (count >= ENTRIES / 2)
        return 0;
    hashes[i] = hash;
    numbers[i] = ++count;
    return count;
}
