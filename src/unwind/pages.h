/* SPDX-License-Identifier: MIT */
/*
 * pages.h -- a small cache of pages of unwind tables. Pages are read by system
 * calls, because a library may be unmapped at any instant. To read words one by
 * one would cost a system call each. Context: sampler.
 */
#ifndef UNWIND_PAGES_H
#define UNWIND_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number of pages in the cache, and bytes in a page. The tables of a large
 * compiler are 700 pages. Only memory for pages that were read is touched. */
#define PAGES_COUNT 1024
#define PAGES_SIZE 4096

/* Limit of the length of an FDE in bytes. Cython makes some of 9 KiB. */
#define PAGES_FDE (64u << 10)

struct pages {
    uint64_t stamp;             /* another one after each pages_begin */
    uint64_t tags[PAGES_COUNT]; /* page number + 1; 0: empty */
    uint64_t last;              /* address of the page read last */
    uint64_t last_span;         /* its words begin below this; 0: no page */
    const uint8_t *last_bytes;
    uint8_t bytes[PAGES_COUNT][PAGES_SIZE];
    uint8_t fde[PAGES_FDE]; /* a copy of the one that is being read */
};

/* The learner's cache, which learn_begin reserves. */
extern struct pages *pages_learner;

/* Forget all pages. */
void pages_begin(struct pages *pages);

/* Copy LENGTH bytes at ADDRESS to TO. Returns false if not all can be read.
 * Context: sampler, in window. */
bool pages_read(struct pages *pages, uint64_t address, void *to, size_t length);

/* Read the word at ADDRESS into *VALUE. It is nearly always on the page that
 * was read last. Returns false if it cannot be read. Context: sampler, in
 * window. */
static inline bool
pages_word(struct pages *pages, uint64_t address, uint64_t *value)
{
    if (address - pages->last >= pages->last_span)
        return pages_read(pages, address, value, sizeof(*value));
    __builtin_memcpy(value, pages->last_bytes + (address - pages->last),
                     sizeof(*value));
    return true;
}

#endif
