/* SPDX-License-Identifier: MIT */
/*
 * intern.h -- small consecutive numbers for byte strings. Equal bytes get the
 * same number: 0, 1, 2, ... in the order of their first appearance. It merges
 * strings, samples, modules, stacks and output rows. The caller keeps an array
 * beside it, indexed by number. The table's memory serves other things with the
 * same life, too. Report side only; allocates; not thread-safe.
 */
#ifndef UTIL_INTERN_H
#define UTIL_INTERN_H

#include <stddef.h>
#include <stdint.h>

#define INTERN_NONE UINT32_MAX

struct intern_block;
struct intern_entry;
struct intern_slot;

/* All zero is an empty table. The fields are intern.c's. */
struct intern {
    struct intern_entry *entries; /* by number */
    struct intern_slot *slots;    /* at most half are in use */
    uint32_t count;
    uint32_t mask; /* slots - 1, a power of two less one */
    struct intern_block *blocks;
};

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
 * move as long as the table exists. */
const void *intern_bytes(const struct intern *intern, uint32_t number);

/* Returns the table's one copy of STRING. NULL with errno set if memory is
 * short. */
const char *intern_text(struct intern *intern, const char *string);

/* As printf: the table's one copy of the text. NULL with errno set if memory is
 * short. */
__attribute__((format(printf, 2, 3))) const char *
intern_format(struct intern *intern, const char *format, ...);

/* Returns SIZE bytes of zeros in the table's memory, aligned to 8. NULL with
 * errno set if memory is short. */
void *intern_space(struct intern *intern, size_t size);

/* Make the table empty and free its memory. */
void intern_clear(struct intern *intern);

/* The same for a table of intern_new, which is freed, too; it may be NULL. */
void intern_free(struct intern *intern);

#endif
