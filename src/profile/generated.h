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

/*
 * For processes that live: whether the map of one has changed since it was
 * opened; and forget all maps and the names that came from them, so that they
 * are read anew. Nobody may hold such a symbol then.
 */
bool generated_has_news(const struct profile *profile);
void generated_forget(struct profile *profile);

void generated_release(struct profile *profile);

#endif
