/* SPDX-License-Identifier: MIT */
/*
 * die.c -- small questions to libdw. Report side.
 *
 * The hard thing is trust: many entries of damaged DWARF can share one endless
 * range list. Hence the limits.
 */
#include <dwarf.h>
#include <limits.h>

#include "die.h"

/* The name of an inlined or out-of-line function stands in another entry.
 * dwarf_attr_integrate follows DW_AT_abstract_origin and DW_AT_specification to
 * it. */
const char *
die_text(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute value;
    if (dwarf_attr_integrate(die, attribute, &value) == NULL)
        return NULL;
    const char *text = dwarf_formstring(&value);
    return text != NULL && *text != '\0' ? text : NULL;
}

/* A linkage name is preferred. Demangled, it has the class and the arguments,
 * which DW_AT_name lacks. */
const char *
die_name(Dwarf_Die *die)
{
    const char *name = die_text(die, DW_AT_linkage_name);
    Dwarf_Half version = 0;
    /* The same attribute, before DWARF 4 gave it a name. */
    if (name == NULL &&
        dwarf_cu_info(die->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) ==
            0 &&
        version < 4)
        name = die_text(die, DW_AT_MIPS_linkage_name);
    return name != NULL ? name : die_text(die, DW_AT_name);
}

static unsigned
to_number(Dwarf_Attribute *attribute)
{
    Dwarf_Word number;
    if (attribute == NULL || dwarf_formudata(attribute, &number) != 0 ||
        number > UINT_MAX)
        return 0;
    return (unsigned)number;
}

unsigned
die_start_line(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    return to_number(dwarf_attr_integrate(die, DW_AT_decl_line, &attribute));
}

/* Only this entry is asked: the place of a call must not be taken from its
 * origin. */
unsigned
die_number(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute value;
    return to_number(dwarf_attr(die, attribute, &value));
}

long
die_add_ranges(Dwarf_Die *die, struct range_index *index, uint32_t value,
               uint32_t rank, long limit)
{
    struct range range = {.value = value, .rank = rank & RANGE_RANK_MAX};
    ptrdiff_t offset = 0;
    long added = 0;
    for (long seen = 0; seen < limit; seen++) {
        Dwarf_Addr base;
        offset = dwarf_ranges(die, offset, &base, &range.low, &range.high);
        if (offset <= 0)
            break;
        /* A linker that drops a function leaves its range at address 0. */
        if (range.low == 0)
            continue;
        if (range_index_add(index, &range) != 0)
            return -1;
        added++;
    }
    return added;
}
