/* SPDX-License-Identifier: MIT */
/*
 * answer_cache.h -- answers of earlier reports, kept in files by build-id. An
 * address that was looked up once is not looked up again, in this profile or in
 * the next one of the same file. Report side. Not thread-safe.
 *
 * SPROF_CACHE names the directory; by default it is "sprof" in $XDG_CACHE_HOME,
 * or in ~/.cache (XDG Base Directory Specification). It is used only if it
 * belongs to the effective user and no other user can write to it.
 */
#ifndef SYMBOL_ANSWER_CACHE_H
#define SYMBOL_ANSWER_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image.h"

struct answer_cache;

/* Open the answers for the file with BUILD_ID of LENGTH bytes. Returns NULL
 * without a directory, or if memory is short. A cache without answers is a
 * cache, too. */
struct answer_cache *answer_cache_open(const uint8_t *build_id, size_t length);

/* Fill ANSWER, which has room for LIMIT frames, for ADDRESS. Returns false if
 * it is not known. The strings belong to CACHE. */
bool answer_cache_find(const struct answer_cache *cache, uint64_t address,
                       struct image_answer *answer, unsigned limit);

/* Keep ANSWER about ADDRESS. It is a full answer, with all inlined calls. FLAGS
 * are the file's. */
void answer_cache_add(struct answer_cache *cache, unsigned flags,
                      uint64_t address, const struct image_answer *answer);

/* The file's flags, enum symbolizer_flags. */
unsigned answer_cache_flags(const struct answer_cache *cache);

/* Write the added answers, and free CACHE. A failure to write is no error: the
 * next report looks the addresses up again. */
void answer_cache_close(struct answer_cache *cache);

#endif
