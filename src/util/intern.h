/* SPDX-License-Identifier: MIT */
/*
 * intern.h -- small consecutive numbers for byte strings. Equal bytes get the
 * same number: 0, 1, 2, ... in the order of their first appearance. It merges
 * strings, samples, modules, stacks and output rows. The caller keeps an array
 * beside it, indexed by number. Report side only; allocates; not thread-safe.
 */
#ifndef UTIL_INTERN_H
#define UTIL_INTERN_H

#include <stddef.h>
#include <stdint.h>

#define INTERN_NONE UINT32_MAX

struct intern;

/* Make an empty table. NULL with errno set if memory is short. */
struct intern *intern_new(void);

/* Returns the number of LENGTH bytes, which are copied if they are new.
 * INTERN_NONE if memory is short; the table is then unchanged. */
uint32_t intern_put(struct intern *intern, const void *bytes, size_t length);

/* The same for a string, without its NUL. */
uint32_t intern_string(struct intern *intern, const char *string);

/* Returns the number of bytes that were put before. INTERN_NONE if they were
 * not. */
uint32_t intern_find(const struct intern *intern, const void *bytes,
                     size_t length);

/* Returns how many numbers are in use. */
uint32_t intern_count(const struct intern *intern);

/* Returns the bytes of NUMBER, aligned to 8 and followed by a NUL. They do not
 * move until intern_free. */
const void *intern_bytes(const struct intern *intern, uint32_t number);

void intern_free(struct intern *intern);

#endif
