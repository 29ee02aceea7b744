/* SPDX-License-Identifier: MIT */
/*
 * generated.h -- names of code that lies in no module: code that runtimes
 * compile while they run. The names are in the perf map of the process
 * (symbol/perf_map.h), which is opened when the first of them is asked for.
 * For naming.c.
 */
#ifndef MODEL_GENERATED_H
#define MODEL_GENERATED_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

/* The symbol for NODE, NULL if the map of its process does not have it. It is
 * valid until generated_forget or profile_free. */
const struct symbol *generated_symbol(struct profile *profile, uint32_t node);

/* Why the map of process NUMBER exists but was not used, as a sentence. NULL if
 * the map is in use, does not exist, or was never asked for. */
const char *generated_problem(const struct profile *profile, uint32_t number);

/*
 * For processes that still run. generated_has_news: whether a map has changed
 * since it was opened. generated_forget: drop all maps and the names that came
 * from them, so that they are read anew; the caller must hold no such symbol.
 */
bool generated_has_news(const struct profile *profile);
void generated_forget(struct profile *profile);

#endif
