/* SPDX-License-Identifier: MIT */
/*
 * window.h -- what the processes of a fleet did between two instants, as one
 * profile. Used by the thread that owns the fleet.
 */
#ifndef CLI_SERVE_WINDOW_H
#define CLI_SERVE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "fleet.h"
#include "query.h"

struct profile;

/*
 * Make the profile of what the processes that QUERY wants did between FROM
 * and TO (CLOCK_MONOTONIC, ns), TO excluded. Its times begin at FROM. Returns
 * NULL with a sentence in ERROR (of SIZE bytes) if no process matches, or if
 * memory is short.
 */
struct profile *window_profile(const struct fleet *fleet,
                               const struct query *query, uint64_t from,
                               uint64_t to, char *error, size_t size);

#endif
