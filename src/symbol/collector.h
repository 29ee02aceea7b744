/* SPDX-License-Identifier: MIT */
/*
 * collector.h -- finds the function that collects garbage in a file of CPython.
 * It has a name in the file's table of symbols, which distributions remove. But
 * PyGC_Collect, which calls it, is always exported. Report side only.
 */
#ifndef SYMBOL_COLLECTOR_H
#define SYMBOL_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the function is, in the file's own numbering: from LOW to HIGH - 1. */
struct collector {
    uint64_t low, high;
};

/* Find the collector of the file at PATH with BUILD_ID of LENGTH bytes (0:
 * any). Returns false if the file is not CPython's or its collector is not
 * found. */
bool collector_find(struct collector *collector, const char *path,
                    const uint8_t *build_id, size_t length);

/* Whether a function called NAME collects the garbage of CPython or of PHP. */
bool collector_is_name(const char *name);

#endif
