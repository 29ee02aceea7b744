/* SPDX-License-Identifier: MIT */
/*
 * die.h -- reading single entries of DWARF's tree, safely: damaged data may
 * lead anywhere, but these always move forward and never without a limit.
 */
#ifndef SYMBOL_DIE_H
#define SYMBOL_DIE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "range_index.h"

/* A walk over a tree, parents before children: all zero at its start. */
struct die_walk {
    const void *furthest; /* the last entry that it came to */
};

/* Set *CHILD to the first child of DIE, false if there is none. */
bool die_first(struct die_walk *walk, Dwarf_Die *die, Dwarf_Die *child);

/* Move *DIE to its next sibling, false at the last one. */
bool die_next(struct die_walk *walk, Dwarf_Die *die);

/* The name a linker knows the function by, else its plain name, else NULL. It
 * may stand in the abstract instance or the declaration of DIE. */
const char *die_name(Dwarf_Die *die);

/* An attribute of DIE, or of what it is an instance of, that is a text; NULL if
 * there is none or it is empty. */
const char *die_text(Dwarf_Die *die, unsigned attribute);

/* The line where the function is declared, 0 if unknown. */
unsigned die_start_line(Dwarf_Die *die);

/* An attribute of DIE itself that is a number, 0 if it has none. */
unsigned die_number(Dwarf_Die *die, unsigned attribute);

/* Adds the code ranges of DIE to INDEX, with VALUE and RANK. At most LIMIT of
 * them. Returns how many, or -1 with errno set if memory is short. */
long die_add_ranges(Dwarf_Die *die, struct range_index *index, uint32_t value,
                    uint32_t rank, long limit);

#endif
