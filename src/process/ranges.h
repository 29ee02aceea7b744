/* SPDX-License-Identifier: MIT */
/*
 * ranges.h -- the executable addresses of the process, sorted, each with the
 * module that it belongs to. Part of modules.c; sampler thread.
 */
#ifndef PROCESS_RANGES_H
#define PROCESS_RANGES_H

#include <stdint.h>

#define NO_MODULE UINT32_MAX

/* Shifts of a range of no file, and of another file than that of the ranges
 * around it. */
#define SHIFT_ANONYMOUS UINT64_MAX
#define SHIFT_FOREIGN (UINT64_MAX - 1)

struct range {
    uint64_t start, end;
    uint64_t shift;  /* address - shift = offset in the file */
    uint32_t module; /* index, or NO_MODULE */
};

/* Reserve room for them. Returns 0, or -1 if memory is short. */
int ranges_begin(void);

/* Forget all. */
void ranges_clear(void);

/* Add RANGE, which lies behind all others. A range for which there is no room
 * is left out. */
void ranges_add(const struct range *range);

uint32_t ranges_count(void);
struct range *ranges_at(uint32_t i);

/* Merge neighbouring ranges of one module, from number FIRST on: learning a
 * rule always searches them. */
void ranges_join(uint32_t first);

/* The range that holds ADDRESS, NULL if there is none. */
const struct range *ranges_find(uint64_t address);

#endif
