/* SPDX-License-Identifier: MIT */
/*
 * jitdumps.h -- the jitdumps that were seen in the map of the process. A
 * runtime that writes one (jit-PID.dump) maps its first page as code, so that
 * profilers find it. The names in it are read by the report alone. Context:
 * sampler.
 */
#ifndef PROCESS_JITDUMPS_H
#define PROCESS_JITDUMPS_H

#include <stdint.h>

/* Forget all: a profile begins. */
void jitdumps_begin(void);

/* A file is mapped as code at PATH. It is noted if its name is that of a
 * jitdump. */
void jitdumps_see(const char *path);

/* Returns how many were noted since jitdumps_begin. */
uint32_t jitdumps_count(void);

/* Returns the path of number I, in the order in which they were seen. */
const char *jitdumps_path(uint32_t i);

#endif
