/* SPDX-License-Identifier: MIT */
/*
 * scan.h -- the entries of one unit of DWARF, from front to back. libdw is
 * asked for single entries; to look at all of a unit, or to skip a function's
 * inside, takes it ten times as long. The bytes may be damaged: a scan always
 * moves forward, stays inside the unit, and ends early at what it cannot read.
 */
#ifndef SYMBOL_SCAN_H
#define SYMBOL_SCAN_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scan_shape;

/* What all scans of a unit share. All zero is a unit without entries. */
struct scan_unit {
    Dwarf_Die top;              /* its first entry */
    const uint8_t *start, *end; /* header included: siblings count from there */
    uint64_t base; /* that addresses in lists of ranges count from */
    uint8_t address_size, offset_size;
    uint16_t version;
    struct scan_shape *shapes; /* by abbreviation code - 1 */
    size_t count;
    uint16_t *forms; /* of all shapes */
    size_t form_count, form_capacity;
};

/* A value of an attribute; AT is NULL if the entry has none. */
struct scan_value {
    const uint8_t *at;
    unsigned form;
};

/* What code an entry covers. */
struct scan_code {
    struct scan_value low, high, ranges;
};

struct scan {
    const struct scan_unit *unit;
    const uint8_t *next;
    unsigned depth;
};

struct scan_entry {
    const uint8_t *start, *sibling; /* SIBLING: NULL if it is not told */
    const uint8_t *values;
    const struct scan_shape *shape;
    unsigned depth; /* below the entry that the scan began at */
    int tag;
    bool has_children;
    bool has_code; /* of its own: DW_AT_low_pc or DW_AT_ranges */
};

/* Prepare for scans of the unit that TOP is the first entry of. Returns 0, or
 * -1 with errno set if memory is short. */
int scan_unit_read(struct scan_unit *unit, const Dwarf_Die *top);

/* A scan of DIE, which is in UNIT, and of all below it. */
struct scan scan_begin(const struct scan_unit *unit, const Dwarf_Die *die);

/* The next entry; the first one is DIE itself, with depth 0. False at the end
 * of what lies below it. */
bool scan_next(struct scan *scan, struct scan_entry *entry);

/* Go on behind everything below ENTRY, the last one that was read. */
void scan_skip(struct scan *scan, const struct scan_entry *entry);

/* The attributes of ENTRY that tell what code it covers. */
struct scan_code scan_entry_code(const struct scan *scan,
                                 const struct scan_entry *entry);

/* ENTRY for libdw. */
Dwarf_Die scan_die(const struct scan *scan, const struct scan_entry *entry);

/* How much memory UNIT takes, about. */
size_t scan_unit_size(const struct scan_unit *unit);

void scan_unit_free(struct scan_unit *unit);

#endif
