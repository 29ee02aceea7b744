/* SPDX-License-Identifier: MIT */
/*
 * places.h -- the places of a pprof profile: mappings, locations and functions.
 * A location or function is written when it is first needed. Mappings are
 * written last, when it is known which of them have symbols.
 */
#ifndef WRITE_PLACES_H
#define WRITE_PLACES_H

#include <stdint.h>

#include "model/profile.h"

struct pack;
struct intern;

struct places {
    struct pack *pack;
    struct profile *profile;
    struct intern *functions;
    struct intern *locations;
    uint64_t *by_node; /* location of each node of the profile; 0: not yet */
};

/* Returns 0, or -1 with errno set if memory is short; the caller calls
 * places_release in both cases. */
int places_begin(struct places *places, struct pack *pack,
                 struct profile *profile);

/* The location id of NODE; a new location is written with its functions. 0 if
 * memory is short. */
uint64_t places_location(struct places *places, uint32_t node);

/* Write all mappings, that of the program itself first. */
void places_write_mappings(struct places *places);

void places_release(struct places *places);

#endif
