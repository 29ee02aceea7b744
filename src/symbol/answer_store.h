/* SPDX-License-Identifier: MIT */
/*
 * answer_store.h -- memory for answers. It is handed out in small pieces that
 * never move, and is freed all at once. Equal strings are kept once, so that
 * callers may compare pointers.
 */
#ifndef SYMBOL_ANSWER_STORE_H
#define SYMBOL_ANSWER_STORE_H

#include <stddef.h>

struct answer_chunk;
struct answer_string;

/* All zero is an empty store. */
struct answer_store {
    struct answer_chunk *chunks;   /* the newest first */
    struct answer_string *strings; /* a hash set */
    size_t count, string_capacity; /* the capacity is a power of two, or 0 */
};

/* Returns SIZE bytes of zeros, aligned for any type. NULL with errno set if
 * memory is short. */
void *answer_store_space(struct answer_store *store, size_t size);

/* Returns the store's one copy of STRING. NULL with errno set if memory is
 * short. */
const char *answer_store_string(struct answer_store *store, const char *string);

void answer_store_free(struct answer_store *store);

#endif
