/* SPDX-License-Identifier: MIT */
/*
 * die.h -- reads single entries of DWARF's tree. Damaged data may lead
 * anywhere, but every search has a limit.
 */
#ifndef SYMBOL_DIE_H
#define SYMBOL_DIE_H

#include <elfutils/libdw.h>
#include <stdint.h>

#include "range_index.h"
#include "scan.h"
#include "sections.h"

/* The name by which a linker knows the function. The plain name if it has none,
 * and NULL if it has neither. The name may stand in the abstract instance or
 * the declaration of DIE. */
const char *die_name(Dwarf_Die *die);

/* The text ATTRIBUTE of DIE, or of the entry of which DIE is an instance. NULL
 * if it is missing or empty. */
const char *die_text(Dwarf_Die *die, unsigned attribute);

/* The line where the function is declared; 0 if unknown. */
unsigned die_start_line(Dwarf_Die *die);

/* The number ATTRIBUTE of DIE itself; 0 if it has none. */
unsigned die_number(Dwarf_Die *die, unsigned attribute);

/* Add the code ranges of DIE to INDEX, with VALUE and RANK. At most LIMIT
 * ranges are read. Returns how many were added, or -1 with errno set if memory
 * is short. */
long die_add_ranges(Dwarf_Die *die, struct range_index *index, uint32_t value,
                    uint32_t rank, long limit);

/* The same for ENTRY, the last entry that SCAN has read. SECTIONS are those of
 * the unit's file, NULL if they are not known. */
long die_add_entry(const struct sections *sections, const struct scan *scan,
                   const struct scan_entry *entry, struct range_index *index,
                   uint32_t value, uint32_t rank, long limit);

#endif
