/* SPDX-License-Identifier: MIT */
/*
 * load.h -- adds whole spools to a profile, with sentences for people about
 * what was wrong with them.
 */
#ifndef PROFILE_LOAD_H
#define PROFILE_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "profile.h"

/*
 * Add the spool or the pprof file at PATH. Returns 0, or -1 if there was
 * nothing to use: neither of them, no valid record, no memory. ERROR (of SIZE
 * bytes) is one line that says why, or what was wrong with the rest of the
 * file; "" if all was well.
 */
int load_file(struct profile *profile, const char *path, char *error,
              size_t size);

/* Whether the file at PATH is of a flight recorder, whose past load_file adds
 * as well (NAME.past.sprof beside NAME.sprof). */
bool load_is_recorder(const char *path);

/* The same for LENGTH bytes in memory, which sentences call NAME. */
int load_memory(struct profile *profile, const void *bytes, size_t length,
                const char *name, char *error, size_t size);

#endif
