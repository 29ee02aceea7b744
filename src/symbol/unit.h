/* SPDX-License-Identifier: MIT */
/*
 * unit.h -- one compilation unit of DWARF: its line table, its functions by
 * address, and the calls inlined into them. Each part is read at its first use.
 */
#ifndef SYMBOL_UNIT_H
#define SYMBOL_UNIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/intern.h"
#include "address_table.h"
#include "line_table.h"
#include "package.h"
#include "range_index.h"
#include "scan.h"
#include "sections.h"

struct unit_function;

/* The data that the units of a file share. */
struct unit_file {
    struct sections sections;
    struct package package;
    struct intern store;          /* names of files and origins */
    struct address_table origins; /* key (0, entry); value struct unit_origin */
};

struct unit {
    Dwarf_Die die;   /* has the line table */
    Dwarf_Die body;  /* has the functions; differs from DIE in split DWARF */
    bool is_packed;  /* BODY, if it exists, is in the file's package */
    bool has_ranges; /* the unit's own entry has its ranges */
    struct unit_file *file; /* the file of DIE */
    size_t kept,
        seen; /* about the bytes of its memory and of the DWARF that it read */
    struct scan_unit scan; /* scan of BODY; read with the functions */
    bool lines_read, functions_read, all_functions_read;
    const char *directory; /* of compilation; NULL: unknown. Read with LINES */
    struct line_table lines;
    struct range_index ranges; /* values: indexes in FUNCTIONS */
    struct unit_function *functions;
    size_t function_count;
};

/* A place in the source. The strings belong to the DWARF or are kept in the
 * unit's FILE. NULL stands for unknown. */
struct unit_frame {
    const char *name;      /* linkage name, or the plain name if it has none */
    const char *directory; /* directory to which FILE is relative; NULL: none */
    const char *file;
    unsigned line, start_line;
};

/*
 * Find the source of the code at ADDRESS (in the DWARF's numbering). Fills up
 * to LIMIT (at least 1) FRAMES, innermost first. The last one is the function
 * that owns the code; its name is NULL if only the line is known. If more than
 * LIMIT exist, the calls next to that function are left out. With LIMIT 1 only
 * the function is returned, with the place in its own code. Returns the number
 * of frames, 0 if nothing is known.
 */
unsigned unit_find(struct unit *unit, uint64_t address,
                   struct unit_frame *frames, unsigned limit);

/* Free what was read. It is read again when needed. */
void unit_forget(struct unit *unit);

#endif
