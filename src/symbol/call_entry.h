/* SPDX-License-Identifier: MIT */
/*
 * call_entry.h -- what DWARF says of one inlined call.
 */
#ifndef SYMBOL_CALL_ENTRY_H
#define SYMBOL_CALL_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "scan.h"

struct call_entry {
    const uint8_t *origin; /* the entry of what is called, in the same unit */
    bool has_file;
    uint32_t file, line; /* where it is called from */
};

/* Read the entry at AT in UNIT. False if it is not of the usual form: then
 * libdw is to be asked. */
bool call_entry_read(const struct scan_unit *unit, const uint8_t *at,
                     struct call_entry *call);

#endif
