/* SPDX-License-Identifier: MIT */
/*
 * pages.h -- a small cache of pages of unwind tables. Pages are read by system
 * calls, because a library may be unmapped at any instant. Reading single words
 * would cost a system call each. Context: sampler.
 */
#ifndef UNWIND_PAGES_H
#define UNWIND_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number of pages in the cache, and bytes in a page. The tables of a large
 * compiler are 700 pages, and are usually read in order. A cache page that was
 * used before costs no fault. */
#define PAGES_COUNT 128
#define PAGES_SIZE 4096

/* Limit of the length of an FDE in bytes. Cython makes some of 9 KiB. */
#define PAGES_FDE (64u << 10)

struct pages {
    uint64_t stamp;             /* another one after each pages_begin */
    uint64_t tags[PAGES_COUNT]; /* page number + 1; 0: empty */
    uint8_t bytes[PAGES_COUNT][PAGES_SIZE];
    uint8_t fde[PAGES_FDE]; /* a copy of one that lies on several pages */
};

/* The learner's cache, which learn_begin reserves. */
extern struct pages *pages_learner;

/* Forget all pages. */
void pages_begin(struct pages *pages);

/* Copy LENGTH bytes at ADDRESS to TO. Returns false if not all can be read.
 * Context: sampler, in window. */
bool pages_read(struct pages *pages, uint64_t address, void *to, size_t length);

/* Returns LENGTH bytes at ADDRESS, at most PAGES_FDE, or NULL if not all can be
 * read. They stay until the next call for PAGES. Context: sampler, in window.
 */
const uint8_t *pages_bytes(struct pages *pages, uint64_t address,
                           size_t length);

/* Read the word at ADDRESS into *VALUE. It is nearly always on a page that was
 * read before. Returns false if it cannot be read. Context: sampler, in
 * window. */
static inline bool
pages_word(struct pages *pages, uint64_t address, uint64_t *value)
{
    uint64_t number = address / PAGES_SIZE, at = address % PAGES_SIZE;
    if (pages->tags[number % PAGES_COUNT] != number + 1 ||
        at > PAGES_SIZE - sizeof(*value))
        return pages_read(pages, address, value, sizeof(*value));
    __builtin_memcpy(value, pages->bytes[number % PAGES_COUNT] + at,
                     sizeof(*value));
    return true;
}

#endif
