/* SPDX-License-Identifier: MIT */
/*
 * jitdump.h -- names for generated code from a jitdump (jit-PID.dump; `node
 * --perf-prof`, `python3 -X perf_jit`, .NET, wasmtime). Unlike a perf map it
 * says since when code lies at an address, and may have its source lines.
 * Report side only.
 */
#ifndef SYMBOL_JITDUMP_H
#define SYMBOL_JITDUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer.h"

struct jitdump;

/* A process that had a jitdump mapped. Times are ns. */
struct jitdump_process {
    uint32_t pid;
    uint64_t start;     /* since the epoch */
    uint64_t monotonic; /* its start on CLOCK_MONOTONIC */
};

/*
 * Read the file at PATH, which PROCESS had mapped at SEEN (CLOCK_MONOTONIC ns).
 * It is used if runtime_file_open allows that, and if it does not begin long
 * after SEEN: a later process may have the same pid. A file of another pid was
 * inherited by fork: it is used as it was when PROCESS started. Returns NULL
 * only if memory is short. A file that is missing or not usable gives an empty
 * dump.
 */
struct jitdump *jitdump_open(const char *path,
                             const struct jitdump_process *process,
                             uint64_t seen);

/* Whether the file has another size than when it was opened. */
bool jitdump_has_grown(const struct jitdump *dump);

/* Returns a number (from 0) for the code that lay at ADDRESS at TIME on
 * CLOCK_MONOTONIC, and sets *SINCE to its time. A time before the first code
 * there gives that code. TIME_INDEX_NONE if no code was there. */
uint32_t jitdump_find(const struct jitdump *dump, uint64_t address,
                      uint64_t time, uint64_t *since);

/* Whether the code at ADDRESS depends on the time. */
bool jitdump_has_several(const struct jitdump *dump, uint64_t address);

/* The function of CODE, a result of jitdump_find, with the line of ADDRESS.
 * NULL if memory is short. The same function and line give the same pointer,
 * which is valid until jitdump_close. */
const struct symbol *jitdump_symbol(struct jitdump *dump, uint32_t code,
                                    uint64_t address);

/* Why an existing file is not used, or not all of it, as a sentence. NULL if it
 * is used or does not exist. */
const char *jitdump_problem(const struct jitdump *dump);

/* NULL is allowed. */
void jitdump_close(struct jitdump *dump);

#endif
