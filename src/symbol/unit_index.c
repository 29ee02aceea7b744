/* SPDX-License-Identifier: MIT */
/*
 * unit_index.c -- all units of a file, by the code they cover. Report side.
 *
 * The ranges in the units' own entries are used first. Reading the top entry of
 * every unit costs 2 us a unit (4 ms for the 2,063 units of glibc). Nearly all
 * units have such ranges, while clang and others leave .debug_aranges out.
 * Units without ranges of their own (old compilers, assemblers) take theirs
 * from .debug_aranges, if it has them.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "util/array.h"
#include "die.h"
#include "unit_index.h"

#define MOST_RANGES 1000000
/* Limits of the bytes of memory, and of DWARF read, that the units may take.
 * Beyond the first, all units are forgotten; beyond the second, sections give
 * their memory back. */
#define MOST_KEPT ((size_t)64 << 20)
#define MOST_SEEN ((size_t)48 << 20)
/* Bytes that reading a unit's top entry brings into memory: the kernel also
 * maps the pages around it. */
#define SEEN_AROUND ((size_t)64 << 10)

/* Add one unit. A unit without code is kept too, because .debug_aranges may
 * list code for it. Returns 0, or -1 with errno set. */
static int
add_unit(struct unit_index *index, Dwarf_Die *die, Dwarf_Die *body)
{
    if (!ARRAY_GROW(index->units, index->count))
        return -1;
    if (dwarf_hasattr(die, DW_AT_stmt_list) != 0)
        index->has_lines = true;
    long ranges = die_add_ranges(die, &index->ranges, (uint32_t)index->count, 0,
                                 MOST_RANGES);
    if (ranges < 0)
        return -1;
    index->units[index->count++] = (struct unit){.die = *die,
                                                 .body = *body,
                                                 .has_ranges = ranges > 0,
                                                 .file = &index->file};
    return 0;
}

/* Count SIZE bytes of DWARF as read. Every MOST_SEEN bytes, the sections'
 * memory is given back. */
static void
count_read(struct unit_index *index, size_t size)
{
    index->seen += size;
    if (index->seen < MOST_SEEN)
        return;
    index->seen = 0;
    sections_rest(&index->file.sections);
}

/* Add the units that hold code. Units of types, and partial units that others
 * import, are skipped. A skeleton (DWARF 5, section 3.1.2) has its entries in
 * another file. They are in SPLIT if libdw found that file, and otherwise
 * perhaps in a package. Returns 0, or -1 with errno set. */
static int
read_units(struct unit_index *index, struct elf_file *file, Dwarf *dwarf)
{
    Dwarf_CU *unit = NULL;
    bool is_packed = false;
    Dwarf_Die die, split;
    uint8_t type;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &split) ==
           0) {
        if (type != DW_UT_compile && type != DW_UT_skeleton)
            continue;
        if (add_unit(index, &die, split.addr != NULL ? &split : &die) != 0)
            return -1;
        if (type == DW_UT_skeleton && split.addr == NULL)
            index->units[index->count - 1].is_packed = is_packed = true;
        count_read(index, SEEN_AROUND);
    }
    if (is_packed)
        package_open(&index->file.package, file, dwarf);
    return 0;
}

/* For bsearch: libdw has delivered the units in the order of their offsets. */
static int
compare_offset(const void *key, const void *element)
{
    Dwarf_Off wanted = *(const Dwarf_Off *)key;
    Dwarf_Die die = ((const struct unit *)element)->die;
    Dwarf_Off offset = dwarf_dieoffset(&die);
    return (wanted > offset) - (wanted < offset);
}

/* Add the ranges of .debug_aranges. A unit with ranges of its own gets none
 * here, because it would then be in the index twice. Returns 0, or -1 with
 * errno set. */
static int
read_aranges(struct unit_index *index, Dwarf *dwarf)
{
    Dwarf_Aranges *aranges;
    size_t count;
    if (index->count == 0 || dwarf_getaranges(dwarf, &aranges, &count) != 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        struct range range = {0};
        Dwarf_Word length;
        Dwarf_Off offset;
        if (dwarf_getarangeinfo(dwarf_onearange(aranges, i), &range.low,
                                &length, &offset) != 0)
            continue;
        struct unit *unit;
        unit = bsearch(&offset, index->units, index->count, sizeof(*unit),
                       compare_offset);
        if (unit == NULL || range.low == 0 || unit->has_ranges)
            continue;
        range.high = range.low + length;
        range.value = (uint32_t)(unit - index->units);
        if (range_index_add(&index->ranges, &range) != 0)
            return -1;
    }
    return 0;
}

int
unit_index_read(struct unit_index *index, struct elf_file *file)
{
    Dwarf *dwarf = elf_file_dwarf(file, &index->bias);
    if (dwarf == NULL)
        return 0;
    sections_read(&index->file.sections, dwarf);
    if (read_units(index, file, dwarf) != 0 || read_aranges(index, dwarf) != 0)
        return -1;
    range_index_seal(&index->ranges);
    return 0;
}

static void
forget_units(struct unit_index *index)
{
    for (size_t i = 0; i < index->count; i++)
        unit_forget(&index->units[i]);
    /* Origins are found by their address in memory, which a package gives back.
     */
    if (index->file.package.skeletons != NULL) {
        package_rest(&index->file.package);
        address_table_free(&index->file.origins);
    }
    index->kept = 0;
}

/* Like unit_find. Units may be forgotten afterwards: the answer needs nothing
 * of what is freed here. */
static unsigned
find_in_unit(struct unit_index *index, struct unit *unit, uint64_t address,
             struct unit_frame *frames, unsigned limit)
{
    size_t kept = unit->kept, seen = unit->seen;
    unsigned count = unit_find(unit, address, frames, limit);
    index->kept += unit->kept - kept;
    count_read(index, unit->seen - seen);
    if (index->kept > MOST_KEPT)
        forget_units(index);
    return count;
}

unsigned
unit_index_find(struct unit_index *index, uint64_t address,
                struct unit_frame *frames, unsigned limit)
{
    uint64_t in_dwarf = address + index->bias;
    const struct range *range = NULL;
    unsigned count = 0;
    /* Units may claim more code than they have. The nearest unit with an answer
     * counts. */
    while (count == 0 &&
           (range = range_index_find(&index->ranges, in_dwarf, range)) != NULL)
        count = find_in_unit(index, &index->units[range->value], in_dwarf,
                             frames, limit);
    return count;
}

void
unit_index_free(struct unit_index *index)
{
    forget_units(index);
    range_index_free(&index->ranges);
    package_close(&index->file.package);
    address_table_free(&index->file.origins);
    intern_clear(&index->file.store);
    free(index->units);
    *index = (struct unit_index){0};
}
