/* SPDX-License-Identifier: MIT */
/*
 * package.h -- a package of split debug information (.dwp): one file with the
 * .dwo files that the compiler wrote for each unit (DWARF 5, section 7.3.5; for
 * DWARF 4 gcc.gnu.org/wiki/DebugFissionDWP). libdw reads packages since 0.191.
 * For older ones, a unit's .dwo is taken out of the package, and libdw reads
 * that. A .dwo that libdw cannot inflate is inflated here, and treated alike.
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
    struct inflated file; /* ELF is NULL: no package file */
    struct bytes index, info, abbrev, texts, text_offsets, ranges;
    struct elf_file *owner; /* it has the skeletons */
    Dwarf *dwarf;           /* of OWNER; NULL: no half is missing */
    Dwarf *skeletons;       /* our own file of the same skeletons, or NULL */
    struct package_skeleton *list; /* of SKELETONS, sorted by id */
    size_t count;
    int place; /* the descriptor that they name as their .dwo */
};

/* Open the package of FILE, if it exists. Its path is that of FILE, or of its
 * debug file, with ".dwp" after it. DWARF has the skeletons. FILE and DWARF
 * must stay open longer than the package. Here and in package_find,
 * FILE->unread is set if sections cannot be inflated. */
void package_open(struct package *package, struct elf_file *file, Dwarf *dwarf);

/* Find the entries that SKELETON, the first entry of a unit, represents. *BODY
 * gets the first one, which is valid up to package_rest. False if none are
 * found. */
bool package_find(struct package *package, const Dwarf_Die *skeleton,
                  Dwarf_Die *body);

/* Free the memory of everything that was found. */
void package_rest(struct package *package);

void package_close(struct package *package);

#endif
