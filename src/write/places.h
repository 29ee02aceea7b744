/* SPDX-License-Identifier: MIT */
/*
 * places.h -- the part of a pprof profile that says where: mappings, locations
 * and functions. Each is written when it is first needed; mappings come last,
 * when it is known which of them have symbols.
 */
#ifndef WRITE_PLACES_H
#define WRITE_PLACES_H

#include <stdint.h>

#include "profile/profile.h"

struct pack;
struct intern;

struct places {
    struct pack *pack;
    struct profile *profile;
    struct intern *functions;
    struct intern *locations;
    uint64_t *by_node; /* location of each node of the profile, 0: not yet */
};

/* Returns 0, or -1 with errno set if memory is short; places_release is due in
 * both cases. */
int places_begin(struct places *places, struct pack *pack,
                 struct profile *profile);

/* The location id of NODE, written with its functions if it is new; 0 if memory
 * is short. */
uint64_t places_location(struct places *places, uint32_t node);

/* Write all mappings, that of the program itself first. */
void places_write_mappings(struct places *places);

void places_release(struct places *places);

#endif
