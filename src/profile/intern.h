/* SPDX-License-Identifier: MIT */
/*
 * intern.h -- small consecutive numbers for byte strings: equal bytes get the
 * same number, 0, 1, 2, ... in the order in which they first appear. The one
 * hash table of the report side: it merges strings, samples, modules, stacks
 * and output rows alike; whoever asks keeps an array beside it. Report side
 * only; allocates; not thread-safe.
 */
#ifndef PROFILE_INTERN_H
#define PROFILE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#define INTERN_NONE UINT32_MAX

struct intern;

/* An empty table, or NULL with errno set. */
struct intern *intern_new(void);

/* The number of LENGTH bytes, which are copied if they are new; INTERN_NONE if
 * memory is short (the table stays as it was). */
uint32_t intern_put(struct intern *intern, const void *bytes, size_t length);

/* The same for a string, without its NUL. */
uint32_t intern_string(struct intern *intern, const char *string);

/* The number of bytes that were put before, else INTERN_NONE. */
uint32_t intern_find(const struct intern *intern, const void *bytes,
                     size_t length);

/* How many numbers were given. */
uint32_t intern_count(const struct intern *intern);

/* The bytes of a number, aligned to 8 and followed by a NUL; they stay where
 * they are until intern_free. */
const void *intern_bytes(const struct intern *intern, uint32_t number);

void intern_free(struct intern *intern);

#endif
