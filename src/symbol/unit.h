/* SPDX-License-Identifier: MIT */
/*
 * unit.h -- one compilation unit of DWARF: its line table, its functions by
 * address and the calls inlined into them, each read when first needed.
 */
#ifndef SYMBOL_UNIT_H
#define SYMBOL_UNIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "address_table.h"
#include "answer_store.h"
#include "line_table.h"
#include "package.h"
#include "range_index.h"
#include "scan.h"
#include "sections.h"

struct unit_function;

/* What the units of a file share. */
struct unit_file {
    struct sections sections;
    struct package package;
    struct answer_store store;    /* names of files; origins */
    struct address_table origins; /* (0, entry): struct unit_origin */
};

struct unit {
    Dwarf_Die die;   /* has the line table */
    Dwarf_Die body;  /* has the functions: differs from DIE in split DWARF */
    bool is_packed;  /* BODY, if there is one, is in the file's package */
    bool has_ranges; /* says itself what it covers */
    struct unit_file *file; /* that DIE is in */
    size_t kept, seen; /* bytes of memory and of DWARF that it took, about */
    struct scan_unit scan; /* of BODY; read with the functions */
    bool lines_read, functions_read, all_functions_read;
    const char *directory; /* it was compiled in; NULL: unknown. With LINES */
    struct line_table lines;
    struct range_index ranges; /* values: places in FUNCTIONS */
    struct unit_function *functions;
    size_t function_count, function_capacity;
};

/* A place in the source. The strings belong to the DWARF or are kept in the
 * unit's FILE; NULL: unknown. */
struct unit_frame {
    const char *name;      /* linkage name, or plain where it has none */
    const char *directory; /* that FILE is relative to; NULL: to none */
    const char *file;
    unsigned line, start_line;
};

/*
 * What the code at ADDRESS (in the DWARF's numbering) was made from: up to
 * LIMIT frames, innermost first; the last one is the function that owns the
 * code, its name NULL if only the line is known. Where there are more, calls
 * next to that function are left out: with LIMIT 1 it stands alone, with the
 * place in its own code. Returns how many, 0 if nothing is known.
 */
unsigned unit_find(struct unit *unit, uint64_t address,
                   struct unit_frame *frames, unsigned limit);

/* Give back what was read; it is read again when needed. */
void unit_forget(struct unit *unit);

#endif
