/* SPDX-License-Identifier: MIT */
/*
 * pages.h -- a small cache of pages of unwind tables, read by system calls: a
 * library may be unmapped at any instant, and reading words one by one would
 * cost a system call each. Sampler thread alone.
 */
#ifndef CAPTURE_PAGES_H
#define CAPTURE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tables of a large compiler are 700 pages; no more is touched than is
 * read.
 */
#define PAGES_COUNT 1024
#define PAGES_SIZE 4096

struct pages {
    uint64_t tags[PAGES_COUNT]; /* page number + 1; 0: empty */
    uint64_t last;              /* address of the page that was read last */
    uint64_t last_span; /* words of it begin below this offset; 0: no page */
    const uint8_t *last_bytes;
    uint8_t bytes[PAGES_COUNT][PAGES_SIZE];
};

/* Forget all pages. */
void pages_begin(struct pages *pages);

/* Copy LENGTH bytes at ADDRESS. False if not all can be read. Context: sampler,
 * in window. */
bool pages_read(struct pages *pages, uint64_t address, void *to, size_t length);

/* The word at ADDRESS in *VALUE: nearly always of the page that was read last.
 * False if it cannot be read. Context: sampler, in window. */
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
