/* SPDX-License-Identifier: MIT */
/*
 * call_entry.h -- what a DWARF entry says of one inlined call.
 */
#ifndef SYMBOL_CALL_ENTRY_H
#define SYMBOL_CALL_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "scan.h"

struct call_entry {
    const uint8_t *origin; /* entry of the called function, same unit */
    bool has_file;
    uint32_t file, line; /* where the call stands */
};

/* Read the entry at AT in UNIT into *CALL. False if it does not have the usual
 * form. The caller then asks libdw. */
bool call_entry_read(const struct scan_unit *unit, const uint8_t *at,
                     struct call_entry *call);

#endif
