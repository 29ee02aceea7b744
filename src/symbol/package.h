/* SPDX-License-Identifier: MIT */
/*
 * package.h -- a package of split debug information (.dwp): what the compiler
 * wrote into one .dwo for each unit, in one file (DWARF 5, section 7.3.5; for
 * DWARF 4 gcc.gnu.org/wiki/DebugFissionDWP). libdw reads packages since 0.191;
 * for an older one a unit's .dwo is taken out again, and it reads that.
 */
#ifndef SYMBOL_PACKAGE_H
#define SYMBOL_PACKAGE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "elf_file.h"
#include "inflate.h"

struct package_skeleton;

/* All zero is no package. */
struct package {
    Elf *elf; /* NULL: there is none */
    struct inflated copy;
    struct bytes index, info, abbrev, texts, text_offsets, ranges;
    Dwarf *dwarf;     /* that has the skeletons */
    Dwarf *skeletons; /* the same ones, as a file of our own; or NULL */
    struct package_skeleton *list; /* of SKELETONS, by id */
    size_t count;
    int place; /* the descriptor that they have for their .dwo */
};

/* Open the package of FILE, if there is one: beside it, or beside its debug
 * file, called as that with ".dwp" behind. DWARF has the skeletons; both
 * stay open for longer than the package. */
void package_open(struct package *package, const struct elf_file *file,
                  Dwarf *dwarf);

/* The entries that SKELETON, the first entry of a unit, stands for: the first
 * one in *BODY, which holds up to package_rest. False if there are none. */
bool package_find(struct package *package, const Dwarf_Die *skeleton,
                  Dwarf_Die *body);

/* Give back the memory of everything that was found. */
void package_rest(struct package *package);

void package_close(struct package *package);

#endif
