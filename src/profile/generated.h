/* SPDX-License-Identifier: MIT */
/*
 * generated.h -- code that lies in no module: what runtimes compile while they
 * run. Its names are in the perf map of its process (symbol/perf_map.h), which
 * is opened when the first of them is asked for. Part of profile.c.
 */
#ifndef PROFILE_GENERATED_H
#define PROFILE_GENERATED_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

/* The symbol for NODE, NULL if the map of its process does not have it. */
const struct symbol *generated_symbol(struct profile *profile, uint32_t node);

/* Why the map of process NUMBER is there but was not used, a sentence; NULL if
 * all is well, there is none or it was never asked for. */
const char *generated_problem(const struct profile *profile, uint32_t number);

void generated_release(struct profile *profile);

#endif
