/* SPDX-License-Identifier: MIT */
/*
 * perf_map.h -- names for generated code. Runtimes that make machine code write
 * them to /tmp/perf-PID.map, one "START SIZE NAME" a line, numbers in
 * hexadecimal: Node, Java, .NET, LuaJIT, CPython. Report side only.
 *
 * The format has no time. Where addresses were used again, what a later line
 * says holds for all of the run; of an earlier line that is left which no later
 * one covers.
 */
#ifndef SYMBOL_PERF_MAP_H
#define SYMBOL_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "symbolizer.h"

struct perf_map;

/*
 * Read the file at PATH, if it is a regular file of this user or of root that
 * was last written from START to END (nanoseconds since the epoch; a minute
 * more is allowed): what an earlier or a later process of the same pid wrote is
 * not used. Returns NULL only if memory is short; a file that is missing or not
 * to be used makes an empty map.
 */
struct perf_map *perf_map_open(const char *path, uint64_t start, uint64_t end);

/* The same for TEXT of LENGTH bytes, whatever they are. */
struct perf_map *perf_map_parse(const char *text, size_t length);

/* What covers ADDRESS, NULL if nothing does or memory is short. The same
 * function gives the same pointer; stable until perf_map_close. */
const struct symbol *perf_map_find(struct perf_map *map, uint64_t address);

/* Why there is a file but it is not used, a sentence; NULL if all is well or
 * there is none. */
const char *perf_map_problem(const struct perf_map *map);

/* NULL is allowed. */
void perf_map_close(struct perf_map *map);

#endif
