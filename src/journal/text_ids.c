/* SPDX-License-Identifier: MIT */
/*
 * text_ids.c -- see text_ids.h. Texts are told apart by 64 bits of hash, and
 * are not kept. The chance that two have the same hash is 1 in 10^12 for some
 * thousands of texts, and 1 in 10^7 for a million.
 */
#include "id_table.h"
#include "text_ids.h"

static struct id_table hashes = {.first_size = 1u << 14, .most = 1u << 22};

int
text_ids_begin(void)
{
    return id_table_begin(&hashes);
}

/* FNV-1a. */
static uint64_t
hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

uint32_t
text_ids_of(const char *text, bool *is_new)
{
    return id_table_of(&hashes, 0, hash_of(text), is_new);
}
