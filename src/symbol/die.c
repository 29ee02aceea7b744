/* SPDX-License-Identifier: MIT */
/*
 * die.c -- see die.h. Report side.
 *
 * The hard thing is trust: many entries of damaged DWARF can share one endless
 * range list. Hence the limits.
 *
 * A function needs the ranges of every call inlined into it, and libdw takes
 * half a microsecond for each. The usual forms are read here: an address and a
 * length, and lists in .debug_ranges or .debug_rnglists. Other forms, such as
 * an index into a table of addresses, are left to libdw.
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

/* Only this entry is read: the place of a call must not be taken from its
 * origin. */
unsigned
die_number(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute value;
    return to_number(dwarf_attr(die, attribute, &value));
}

/* The attributes for the code that an entry covers. A form of 0 means a missing
 * attribute. */
struct code {
    struct scan_value low, high, ranges;
};

/* The destination of ranges, and BASE, the address from which the ranges of a
 * list count. At most LIMIT ranges are read. */
struct target {
    struct range_index *index;
    struct range range;
    uint64_t base;
    long added, limit;
};

enum outcome { DONE, UNKNOWN, NO_MEMORY };

static struct target
begin_target(struct range_index *index, uint32_t value, uint32_t rank,
             long limit)
{
    return (
        struct target){.index = index,
                       .range = {.value = value, .rank = rank & RANGE_RANK_MAX},
                       .limit = limit};
}

/* Add one range. A linker that drops a function leaves its range at address 0;
 * that range is left out. */
static enum outcome
add_range(struct target *target, uint64_t low, uint64_t high)
{
    target->range.low = low;
    target->range.high = high;
    if (low == 0)
        return DONE;
    target->added++;
    return range_index_add(target->index, &target->range) != 0 ? NO_MEMORY
                                                               : DONE;
}

/* Add the next range of LIST, which is of DWARF 5. At the end of the list, AT
 * is NULL. */
static enum outcome
add_next_range(struct target *target, struct bytes *list, unsigned address_size)
{
    uint64_t low, high;
    switch (bytes_number(list, 1)) {
    case DW_RLE_end_of_list:
        list->at = NULL;
        return DONE;
    case DW_RLE_base_address:
        target->base = bytes_number(list, address_size);
        return DONE;
    case DW_RLE_offset_pair:
        low = target->base + bytes_leb(list);
        high = target->base + bytes_leb(list);
        break;
    case DW_RLE_start_end:
        low = bytes_number(list, address_size);
        high = bytes_number(list, address_size);
        break;
    case DW_RLE_start_length:
        low = bytes_number(list, address_size);
        high = low + bytes_leb(list);
        break;
    default:
        return UNKNOWN;
    }
    return list->at != NULL ? add_range(target, low, high) : DONE;
}

/* Add the next range of LIST, which is of DWARF 2 to 4. */
static enum outcome
add_next_old_range(struct target *target, struct bytes *list,
                   unsigned address_size)
{
    uint64_t highest = address_size == 8 ? UINT64_MAX : UINT32_MAX;
    uint64_t low = bytes_number(list, address_size);
    uint64_t high = bytes_number(list, address_size);
    if (low == highest) {
        target->base = high;
        return DONE;
    }
    if (low == 0 && high == 0)
        list->at = NULL;
    return list->at != NULL
               ? add_range(target, target->base + low, target->base + high)
               : DONE;
}

/* Add a list of ranges. DW_AT_ranges is an offset into .debug_rnglists, or
 * before DWARF 5 into .debug_ranges. Addresses count from the unit's
 * DW_AT_low_pc until the list sets another base (DWARF 5, section 2.17.3). */
static enum outcome
add_list(struct target *target, const struct sections *sections,
         const struct scan_unit *unit, const struct scan_value *ranges)
{
    bool is_old = unit->version < 5;
    struct bytes list = is_old ? sections->ranges : sections->rnglists;
    struct bytes offset = ranges->bytes;
    enum outcome outcome = DONE;
    if (ranges->form != DW_FORM_sec_offset)
        return UNKNOWN;
    target->base = unit->base;
    bytes_skip(&list, bytes_number(&offset, unit->offset_size));
    for (long i = 0; list.at != NULL && outcome == DONE && i < target->limit;
         i++)
        outcome = is_old ? add_next_old_range(target, &list, unit->address_size)
                         : add_next_range(target, &list, unit->address_size);
    return outcome;
}

/* Add one range, from LOW to HIGH, which is an address or a length. */
static enum outcome
add_pair(struct target *target, const struct scan_unit *unit,
         const struct code *code)
{
    struct bytes low = code->low.bytes, high = code->high.bytes;
    if (code->low.form != DW_FORM_addr)
        return UNKNOWN;
    uint64_t start = bytes_number(&low, unit->address_size);
    uint64_t end, length;
    if (code->high.form == DW_FORM_addr)
        end = bytes_number(&high, unit->address_size);
    else if (bytes_form(&high, code->high.form, &length))
        end = start + length;
    else
        return UNKNOWN;
    return low.at != NULL && high.at != NULL ? add_range(target, start, end)
                                             : DONE;
}

static struct code
read_code(const struct scan_unit *unit, const struct scan_entry *entry)
{
    struct scan_value values[SCAN_VALUES];
    unsigned count = scan_values(unit, entry, values);
    struct code code = {0};
    for (unsigned i = 0; i < count; i++) {
        if (values[i].name == DW_AT_low_pc)
            code.low = values[i];
        else if (values[i].name == DW_AT_high_pc)
            code.high = values[i];
        else if (values[i].name == DW_AT_ranges)
            code.ranges = values[i];
    }
    return code;
}

long
die_add_ranges(Dwarf_Die *die, struct range_index *index, uint32_t value,
               uint32_t rank, long limit)
{
    struct target target = begin_target(index, value, rank, limit);
    Dwarf_Addr base, low, high;
    ptrdiff_t offset = 0;
    for (long seen = 0; seen < limit; seen++) {
        offset = dwarf_ranges(die, offset, &base, &low, &high);
        if (offset <= 0)
            break;
        if (add_range(&target, low, high) != DONE)
            return -1;
    }
    return target.added;
}

/* At an unknown form, the ranges added before it are removed, so that libdw
 * adds no range a second time. */
long
die_add_entry(const struct sections *sections, const struct scan *scan,
              const struct scan_entry *entry, struct range_index *index,
              uint32_t value, uint32_t rank, long limit)
{
    struct code code = read_code(scan->unit, entry);
    struct target target = begin_target(index, value, rank, limit);
    size_t before = index->count;
    enum outcome outcome = UNKNOWN;
    if (sections != NULL && code.ranges.form != 0 && code.low.form == 0)
        outcome = add_list(&target, sections, scan->unit, &code.ranges);
    else if (sections != NULL && code.low.form != 0 && code.high.form != 0 &&
             code.ranges.form == 0)
        outcome = add_pair(&target, scan->unit, &code);
    if (outcome != UNKNOWN)
        return outcome == DONE ? target.added : -1;
    index->count = before;
    Dwarf_Die die = scan_die(scan->unit, entry->start);
    return die_add_ranges(&die, index, value, rank, limit);
}
