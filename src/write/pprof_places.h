/* SPDX-License-Identifier: MIT */
/*
 * pprof_places.h -- the places of a pprof profile: mappings, locations and
 * functions. A location or function is written when it is first needed.
 * Mappings are written last, when it is known which of them have symbols.
 */
#ifndef WRITE_PPROF_PLACES_H
#define WRITE_PPROF_PLACES_H

#include <stdint.h>

#include "model/profile.h"

struct pprof_stream;
struct intern;

struct pprof_places {
    struct pprof_stream *stream;
    struct profile *profile;
    struct intern *functions;
    struct intern *locations;
    uint64_t *by_node; /* location of each node of the profile; 0: not yet */
};

/* Returns 0, or -1 with errno set if memory is short; the caller calls
 * pprof_places_release in both cases. */
int pprof_places_begin(struct pprof_places *places, struct pprof_stream *stream,
                       struct profile *profile);

/* The location id of NODE; a new location is written with its functions. 0 if
 * memory is short. */
uint64_t pprof_places_location(struct pprof_places *places, uint32_t node);

/* Write all mappings, that of the program itself first. */
void pprof_places_write_mappings(struct pprof_places *places);

void pprof_places_release(struct pprof_places *places);

#endif
