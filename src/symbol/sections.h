/* SPDX-License-Identifier: MIT */
/*
 * sections.h -- where the sections of debug information lie that are read here
 * and not by libdw alone.
 */
#ifndef SYMBOL_SECTIONS_H
#define SYMBOL_SECTIONS_H

#include <elfutils/libdw.h>

#include "bytes.h"

/* What the file lacks is empty. */
struct sections {
    struct bytes line, line_str, str, ranges, rnglists;
};

/* Find them in the file of DWARF, which stays open as long as they are used. */
void sections_read(struct sections *sections, Dwarf *dwarf);

#endif
