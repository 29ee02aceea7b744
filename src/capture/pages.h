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

#define PAGES_COUNT 256
#define PAGES_SIZE 4096

struct pages {
    uint64_t tags[PAGES_COUNT]; /* page number + 1; 0: empty */
    uint8_t bytes[PAGES_COUNT][PAGES_SIZE];
};

/* Forget all pages. */
void pages_begin(struct pages *pages);

/* Copy LENGTH bytes at ADDRESS. False if not all can be read. Context: sampler,
 * in window. */
bool pages_read(struct pages *pages, uint64_t address, void *to, size_t length);

#endif
