/* SPDX-License-Identifier: MIT */
/*
 * die.h -- what single entries of DWARF's tree say. Damaged data may lead
 * anywhere, but never without a limit.
 */
#ifndef SYMBOL_DIE_H
#define SYMBOL_DIE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "range_index.h"

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
