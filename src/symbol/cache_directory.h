/* SPDX-License-Identifier: MIT */
/*
 * cache_directory.h -- the directory in which names are kept between reports:
 * SPROF_CACHE, or "sprof" in $XDG_CACHE_HOME or ~/.cache. It is used only if it
 * belongs to the effective user and no other user can write to it. Report side.
 */
#ifndef SYMBOL_CACHE_DIRECTORY_H
#define SYMBOL_CACHE_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether there is such a directory, or it could be made. */
bool cache_directory_is_there(void);

/* Read the file NAME, of at most MOST bytes. Returns its bytes, to be freed,
 * and *SIZE; or NULL. A file that is read counts as used today. */
uint8_t *cache_directory_read(const char *name, size_t most, size_t *size);

/* Write a file NAME of COUNT parts. It appears whole, or not at all. When all
 * files take too much, those that were not used for longest are removed. */
struct cache_directory_part {
    const void *bytes;
    size_t size;
};
void cache_directory_write(const char *name,
                           const struct cache_directory_part *parts,
                           unsigned count);

#endif
