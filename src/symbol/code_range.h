/* SPDX-License-Identifier: MIT */
/* code_range.h -- the code that an entry of DWARF covers. */
#ifndef SYMBOL_CODE_RANGE_H
#define SYMBOL_CODE_RANGE_H

#include "range_index.h"
#include "scan.h"
#include "sections.h"

/*
 * Add the ranges of ENTRY, the last entry that SCAN has read, to INDEX with
 * VALUE and RANK. At most LIMIT ranges are added. SECTIONS are those of the
 * unit's file, NULL if they are not known. Returns how many were added, or -1
 * with errno set if memory is short.
 */
long code_range_add(const struct sections *sections, const struct scan *scan,
                    const struct scan_entry *entry, struct range_index *index,
                    uint32_t value, uint32_t rank, long limit);

#endif
