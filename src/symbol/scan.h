/* SPDX-License-Identifier: MIT */
/*
 * scan.h -- reads the entries of one unit of DWARF from front to back. libdw
 * reads single entries. It takes ten times as long to read a whole unit, or to
 * skip a function's inside. The bytes may be damaged. A scan always moves
 * forward, stays inside the unit, and ends early at what it cannot read.
 */
#ifndef SYMBOL_SCAN_H
#define SYMBOL_SCAN_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

struct scan_shape;
struct scan_form;

/* The data that all scans of a unit share. All zero is a unit without entries.
 */
struct scan_unit {
    Dwarf_Die top;              /* its first entry */
    const uint8_t *start, *end; /* header included: siblings count from there */
    uint64_t base; /* addresses in lists of ranges count from here */
    uint8_t address_size, offset_size;
    uint16_t version;
    struct scan_shape *shapes; /* by abbreviation code - 1 */
    size_t count;
    struct scan_form *forms; /* of all shapes */
    size_t form_count;
};

/* The value of an attribute. */
struct scan_value {
    struct bytes bytes; /* from the value to the end of the unit */
    uint16_t name, form;
    uint32_t constant; /* its value, if it stands in the abbreviation */
};

struct scan {
    const struct scan_unit *unit;
    const uint8_t *next;
    unsigned depth;
};

struct scan_entry {
    const uint8_t *start, *sibling; /* SIBLING: NULL if unknown */
    const uint8_t *values;
    const struct scan_shape *shape;
    unsigned depth; /* levels below the entry where the scan began */
    int tag;
    bool has_children;
    bool has_code; /* has DW_AT_low_pc or DW_AT_ranges */
};

/* Prepare scans of the unit whose first entry is TOP. Returns 0, or -1 with
 * errno set if memory is short. */
int scan_unit_read(struct scan_unit *unit, const Dwarf_Die *top);

/* Begin a scan of the entry at AT, which is in UNIT, and of all entries below
 * it. */
struct scan scan_begin(const struct scan_unit *unit, const uint8_t *at);

/* Read the next entry; the first one is that at AT, with depth 0. False after
 * the last entry below it. */
bool scan_next(struct scan *scan, struct scan_entry *entry);

/* Skip everything below ENTRY, the last entry that was read. */
void scan_skip(struct scan *scan, const struct scan_entry *entry);

/* Limit of the values of an entry that are read. Those for its code and its
 * call are among the first ones. */
#define SCAN_VALUES 32

/* Read the first values of ENTRY, which is in UNIT. Returns how many; 0 if they
 * cannot be read. */
unsigned scan_values(const struct scan_unit *unit,
                     const struct scan_entry *entry,
                     struct scan_value values[SCAN_VALUES]);

/* The entry of the same unit that VALUE refers to. NULL if VALUE is no such
 * reference. */
const uint8_t *scan_reference(const struct scan_unit *unit,
                              const struct scan_value *value);

/* Returns the entry at AT as libdw's functions take it. */
Dwarf_Die scan_die(const struct scan_unit *unit, const uint8_t *at);

/* About how much memory UNIT takes, in bytes. */
size_t scan_unit_size(const struct scan_unit *unit);

void scan_unit_free(struct scan_unit *unit);

#endif
