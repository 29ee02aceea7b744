/* SPDX-License-Identifier: MIT */
/*
 * call_entry.c -- see call_entry.h. Report side. This replaces libdw, which
 * searches for each attribute separately, and for a name in the entry, its
 * origin and beyond.
 */
#include <dwarf.h>

#include "call_entry.h"

#define MOST_VALUES 32

/* Whether VALUE is a number. *NUMBER then gets it. */
static bool
read_number(const struct scan_value *value, uint32_t *number)
{
    struct bytes bytes = value->bytes;
    uint64_t large = 0;
    switch (value->form) {
    case DW_FORM_implicit_const:
        large = value->constant;
        break;
    case DW_FORM_data1:
        large = bytes_number(&bytes, 1);
        break;
    case DW_FORM_data2:
        large = bytes_number(&bytes, 2);
        break;
    case DW_FORM_data4:
        large = bytes_number(&bytes, 4);
        break;
    case DW_FORM_udata:
        large = bytes_leb(&bytes);
        break;
    default:
        return false;
    }
    *number = (uint32_t)large;
    return bytes.at != NULL && large <= UINT32_MAX;
}

/* gcc and clang write a DW_TAG_inlined_subroutine with DW_AT_abstract_origin,
 * its code, DW_AT_call_file and DW_AT_call_line. An entry that also has a name
 * or a line of its own is not usual. */
bool
call_entry_read(const struct scan_unit *unit, const uint8_t *at,
                struct call_entry *call)
{
    Dwarf_Die die = unit->top;
    struct scan scan;
    unsigned count = 0;
    bool usual = true;
    *call = (struct call_entry){0};
    die.addr = (void *)(uintptr_t)at;
    scan = scan_begin(unit, &die);
    struct scan_value values[MOST_VALUES];
    struct scan_entry entry;
    if (scan_next(&scan, &entry))
        count = scan_values(unit, &entry, values, MOST_VALUES);
    for (unsigned i = 0; i < count; i++) {
        switch (values[i].name) {
        case DW_AT_abstract_origin:
            call->origin = scan_reference(unit, &values[i]);
            break;
        case DW_AT_call_file:
            call->has_file = read_number(&values[i], &call->file);
            usual = usual && call->has_file;
            break;
        case DW_AT_call_line:
            usual = usual && read_number(&values[i], &call->line);
            break;
        case DW_AT_name:
        case DW_AT_linkage_name:
        case DW_AT_MIPS_linkage_name:
        case DW_AT_decl_line:
            usual = false;
            break;
        default:
            break;
        }
    }
    return usual && call->origin != NULL;
}
