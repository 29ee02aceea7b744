/* SPDX-License-Identifier: MIT */
/*
 * code_range.c -- see code_range.h. Report side.
 *
 * A function needs the ranges of every call inlined into it, and libdw takes
 * half a microsecond for each. The usual forms are read here: an address and a
 * length, and lists in .debug_ranges or .debug_rnglists. Other forms, such as
 * an index into a table of addresses, are left to libdw.
 */
#include <dwarf.h>

#include "die.h"
#include "code_range.h"

/* Most attributes of an entry that are read. Those that tell its code are among
 * the first ones. */
#define MOST_VALUES 32

/* The attributes that tell which code an entry covers. A form of 0 stands for a
 * missing attribute. */
struct code {
    struct scan_value low, high, ranges;
};

/* Where ranges go, and BASE, the address that the ranges of a list count from.
 */
struct target {
    struct range_index *index;
    struct range range;
    uint64_t base;
    long added, limit;
};

enum outcome { DONE, UNKNOWN, NO_MEMORY };

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
    uint64_t end;
    switch (code->high.form) {
    case DW_FORM_addr:
        end = bytes_number(&high, unit->address_size);
        break;
    case DW_FORM_data4:
        end = start + bytes_number(&high, 4);
        break;
    case DW_FORM_data8:
        end = start + bytes_number(&high, 8);
        break;
    case DW_FORM_udata:
        end = start + bytes_leb(&high);
        break;
    default:
        return UNKNOWN;
    }
    return low.at != NULL && high.at != NULL ? add_range(target, start, end)
                                             : DONE;
}

static struct code
read_code(const struct scan_unit *unit, const struct scan_entry *entry)
{
    struct scan_value values[MOST_VALUES];
    unsigned count = scan_values(unit, entry, values, MOST_VALUES);
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

/* If an unknown form turns up, the ranges added before it are removed. So libdw
 * adds no range a second time. */
long
code_range_add(const struct sections *sections, const struct scan *scan,
               const struct scan_entry *entry, struct range_index *index,
               uint32_t value, uint32_t rank, long limit)
{
    struct code code = read_code(scan->unit, entry);
    struct target target = {.index = index,
                            .range = {.value = value,
                                      .rank = rank & RANGE_RANK_MAX},
                            .limit = limit};
    size_t before = index->count;
    enum outcome outcome = UNKNOWN;
    Dwarf_Die die;
    if (sections != NULL && code.ranges.form != 0 && code.low.form == 0)
        outcome = add_list(&target, sections, scan->unit, &code.ranges);
    else if (sections != NULL && code.low.form != 0 && code.high.form != 0 &&
             code.ranges.form == 0)
        outcome = add_pair(&target, scan->unit, &code);
    if (outcome != UNKNOWN)
        return outcome == DONE ? target.added : -1;
    index->count = before;
    die = scan_die(scan, entry);
    return die_add_ranges(&die, index, value, rank, limit);
}
