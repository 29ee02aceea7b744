/* SPDX-License-Identifier: MIT */
/*
 * inflate.h -- a file of debug information whose sections are compressed, as
 * one in memory where they are not.
 */
#ifndef SYMBOL_INFLATE_H
#define SYMBOL_INFLATE_H

#include <stdbool.h>
#include <stddef.h>

struct inflated {
    void *bytes;
    size_t size;
};

/*
 * Make the ELF file FD one with its sections inflated, several at a time where
 * there are CPUs for it, and without those that nobody here reads (where
 * variables are). FD is not needed afterwards. False if nothing is compressed,
 * or not by zlib, or other files belong to it, or it is damaged, or memory is
 * short: then FD itself is to be used.
 */
bool inflate_file(struct inflated *inflated, int fd);

void inflate_free(struct inflated *inflated);

#endif
