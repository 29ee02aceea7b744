/* SPDX-License-Identifier: MIT */
/*
 * perf_map.h -- names for generated code. Runtimes that make machine code write
 * them to /tmp/perf-PID.map: Node, Java, .NET, LuaJIT, CPython. Each line is
 * "START SIZE NAME", with numbers in hexadecimal. Report side only.
 *
 * The format has no time. Where addresses were used again, the later line holds
 * for the whole run. An earlier line keeps only the addresses that no later
 * line covers.
 */
#ifndef SYMBOL_PERF_MAP_H
#define SYMBOL_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "symbolizer.h"

struct perf_map;

/*
 * Read the file at PATH. It is used if it is a regular file of this user or of
 * root, last written from START to END (nanoseconds since the epoch; a minute
 * more is allowed). So a file of an earlier or later process with the same pid
 * is not used. Returns NULL only if memory is short. A file that is missing or
 * not usable gives an empty map.
 */
struct perf_map *perf_map_open(const char *path, uint64_t start, uint64_t end);

/* Returns the function that covers ADDRESS. NULL if none does or memory is
 * short. The same function gives the same pointer, which is valid until
 * perf_map_close. */
const struct symbol *perf_map_find(struct perf_map *map, uint64_t address);

/* Why an existing file is not used, or not all of it, as a sentence. NULL if it
 * is used or does not exist. */
const char *perf_map_problem(const struct perf_map *map);

/* NULL is allowed. */
void perf_map_close(struct perf_map *map);

#endif
