/* SPDX-License-Identifier: MIT */
/*
 * scan.c -- skips over entries. Report side.
 *
 * Every entry names an abbreviation, which lists the forms of its attributes. A
 * form determines the length of the value. So a table of the unit's
 * abbreviations is enough to get from one entry to the next. Where lengths are
 * constant, the table has their sum. libdw decodes the abbreviations
 * themselves.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "bytes.h"
#include "sections.h"
#include "scan.h"

/* Greatest code of an abbreviation that is read, and most forms of one. Real
 * tables have some hundred codes. */
#define MOST_SHAPES 100000
#define MOST_FORMS 256
#define NO_VALUE UINT32_MAX

/* An abbreviation: DWARF 5, section 7.5.3. */
struct scan_shape {
    uint16_t tag;            /* 0: no such code */
    uint16_t count;          /* number of forms */
    uint32_t first;          /* its first form in the unit's FORMS */
    uint32_t size;           /* bytes of all values, if IS_FIXED */
    uint32_t sibling;        /* which value is DW_AT_sibling */
    uint32_t sibling_offset; /* where that value is, if IS_FIXED */
    bool has_children, has_code, is_fixed;
};

struct scan_form {
    uint16_t name, form; /* DW_AT_..., DW_FORM_... */
    int32_t size;        /* of the value, or VARIABLE */
    uint32_t constant;   /* of DW_FORM_implicit_const */
};

/* Marks a form whose length is in the data. */
#define VARIABLE (-1)

/* The length of a value of FORM in bytes, or VARIABLE if it is not constant in
 * UNIT. */
static int
fixed_size(const struct scan_unit *unit, unsigned form)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
        return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        return 8;
    case DW_FORM_data16:
        return 16;
    case DW_FORM_addr:
        return unit->address_size;
    case DW_FORM_ref_addr:
        return unit->version < 3 ? unit->address_size : unit->offset_size;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        return unit->offset_size;
    default:
        return VARIABLE;
    }
}

/* Returns the place after the value of FORM at AT. NULL if FORM is unknown or
 * the value does not fit. */
static const uint8_t *
skip_value(const struct scan_unit *unit, unsigned form, const uint8_t *at)
{
    struct bytes bytes = {at, unit->end};
    int size = fixed_size(unit, form);
    uint64_t length = 0;
    if (size != VARIABLE)
        return unit->end - at >= size ? at + size : NULL;
    switch (form) {
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        bytes_leb(&bytes);
        break;
    case DW_FORM_string:
        bytes_text(&bytes);
        break;
    case DW_FORM_block1:
        length = bytes_number(&bytes, 1);
        break;
    case DW_FORM_block2:
        length = bytes_number(&bytes, 2);
        break;
    case DW_FORM_block4:
        length = bytes_number(&bytes, 4);
        break;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        length = bytes_leb(&bytes);
        break;
    case DW_FORM_indirect:
        form = (unsigned)bytes_leb(&bytes);
        return bytes.at != NULL && form != DW_FORM_indirect
                   ? skip_value(unit, form, bytes.at)
                   : NULL;
    default:
        return NULL;
    }
    bytes_skip(&bytes, length);
    return bytes.at;
}

/* The entry that a reference of FORM at AT leads to. NULL if it is not in the
 * unit or does not lie ahead. */
static const uint8_t *
follow_reference(const struct scan_unit *unit, unsigned form, const uint8_t *at)
{
    struct scan_value value = {.bytes = {at, unit->end},
                               .form = (uint16_t)form};
    const uint8_t *to = scan_reference(unit, &value);
    return to > at ? to : NULL;
}

/* Like skip_value, but FORM's size is known already. */
static const uint8_t *
skip_form(const struct scan_unit *unit, const struct scan_form *form,
          const uint8_t *at)
{
    if (form->size == VARIABLE)
        return skip_value(unit, form->form, at);
    return unit->end - at >= form->size ? at + form->size : NULL;
}

/* Add a form. The forms of all shapes lie in one array, which moves when it
 * grows. So a shape keeps the number of its first form. A form beyond 16 bits
 * is unknown like any other, and ends the scan at its first use. */
static int
add_form(struct scan_unit *unit, unsigned name, unsigned form, int size,
         int64_t constant)
{
    if (!ARRAY_GROW(unit->forms, unit->form_count))
        return -1;
    unit->forms[unit->form_count++] = (struct scan_form){
        .name = (uint16_t)(name <= UINT16_MAX ? name : 0),
        .form = (uint16_t)(form <= UINT16_MAX ? form : UINT16_MAX),
        .size = size,
        .constant = (uint32_t)constant,
    };
    return 0;
}

/* Put the abbreviation into *SHAPE. The attributes are read up to the first
 * that fails, because dwarf_getattrcnt miscounts if there are implicit
 * constants. */
static int
read_shape(struct scan_unit *unit, struct scan_shape *shape,
           Dwarf_Abbrev *abbrev)
{
    unsigned name = 0, form = 0;
    Dwarf_Sword constant = 0;
    *shape = (struct scan_shape){
        .tag = (uint16_t)dwarf_getabbrevtag(abbrev),
        .first = (uint32_t)unit->form_count,
        .sibling = NO_VALUE,
        .has_children = dwarf_abbrevhaschildren(abbrev) != 0,
        .is_fixed = true,
    };
    while (shape->count < MOST_FORMS &&
           dwarf_getabbrevattr_data(abbrev, shape->count, &name, &form,
                                    &constant, NULL) == 0) {
        int size = fixed_size(unit, form);
        if (add_form(unit, name, form, size, constant) != 0)
            return -1;
        if (name == DW_AT_sibling) {
            shape->sibling = shape->count;
            shape->sibling_offset = shape->size;
        }
        if (name == DW_AT_low_pc || name == DW_AT_ranges)
            shape->has_code = true;
        if (size == VARIABLE)
            shape->is_fixed = false;
        else
            shape->size += (uint32_t)size;
        shape->count++;
    }
    return 0;
}

/* Add shapes until there are WANTED. Codes may have gaps. New shapes have the
 * tag 0, which says that the unit's table lacks the code. */
static int
add_shapes(struct scan_unit *unit, size_t wanted)
{
    while (unit->count < wanted) {
        if (!ARRAY_GROW(unit->shapes, unit->count))
            return -1;
        unit->shapes[unit->count++] = (struct scan_shape){0};
    }
    return 0;
}

/* Read all abbreviations. They follow one another, and LENGTH leads to the
 * next. A code that is left out here ends the scan at its first use. */
static int
read_shapes(struct scan_unit *unit)
{
    Dwarf_Off offset = 0;
    for (;;) {
        size_t length = 0;
        Dwarf_Abbrev *abbrev = dwarf_getabbrev(&unit->top, offset, &length);
        if (abbrev == NULL || abbrev == DWARF_END_ABBREV || length == 0)
            return 0;
        size_t code = dwarf_getabbrevcode(abbrev);
        offset += length;
        if (code == 0 || code > MOST_SHAPES)
            continue;
        if (add_shapes(unit, code) != 0 ||
            read_shape(unit, &unit->shapes[code - 1], abbrev) != 0)
            return -1;
    }
}

/* Whether the SIZE bytes at START lie in the section of entries that holds
 * START. A header may promise more bytes than exist. */
static bool
is_inside(Elf *elf, const uint8_t *start, uint64_t size)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    const char *name;
    while ((section = sections_next(elf, section, &header, &name)) != NULL) {
        if (strstr(name, "debug_info") == NULL &&
            strstr(name, "debug_types") == NULL)
            continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        const uint8_t *bytes = data != NULL ? data->d_buf : NULL;
        if (bytes != NULL && start >= bytes && start < bytes + data->d_size)
            return size <= (size_t)(bytes + data->d_size - start);
    }
    return false;
}

/* If the header promises more than exists, the unit stays without START. This
 * is no error: scan_begin then finds nothing in it. */
int
scan_unit_read(struct scan_unit *unit, const Dwarf_Die *top)
{
    Dwarf_Die die = *top;
    Dwarf *dwarf = dwarf_cu_getdwarf(die.cu);
    Dwarf_Off offset = dwarf_dieoffset(&die), in_unit = dwarf_cuoffset(&die);
    const uint8_t *start = (const uint8_t *)die.addr - in_unit;
    *unit = (struct scan_unit){.top = die};
    Dwarf_Off next;
    size_t header;
    Dwarf_Half version;
    if (dwarf_next_unit(dwarf, offset - in_unit, &next, &header, &version, NULL,
                        &unit->address_size, &unit->offset_size, NULL,
                        NULL) != 0)
        return 0;
    next -= offset - in_unit; /* now the unit's length */
    if (!is_inside(dwarf_getelf(dwarf), start, next))
        return 0;
    unit->version = version;
    unit->start = start;
    unit->end = start + next;
    if (dwarf_lowpc(&die, &unit->base) != 0)
        unit->base = 0;
    return read_shapes(unit);
}

struct scan
scan_begin(const struct scan_unit *unit, const uint8_t *at)
{
    bool is_inside = unit->start != NULL && at >= unit->start && at < unit->end;
    return (struct scan){.unit = unit, .next = is_inside ? at : NULL};
}

/* Returns the place after the values of ENTRY, which begin at AT, and sets its
 * sibling. */
static const uint8_t *
skip_values(const struct scan_unit *unit, const struct scan_shape *shape,
            struct scan_entry *entry, const uint8_t *at)
{
    if (shape->is_fixed) {
        if ((size_t)(unit->end - at) < shape->size)
            return NULL;
        if (shape->sibling != NO_VALUE)
            entry->sibling = follow_reference(
                unit, unit->forms[shape->first + shape->sibling].form,
                at + shape->sibling_offset);
        return at + shape->size;
    }
    for (unsigned i = 0; at != NULL && i < shape->count; i++) {
        const struct scan_form *form = &unit->forms[shape->first + i];
        if (i == shape->sibling)
            entry->sibling = follow_reference(unit, form->form, at);
        at = skip_form(unit, form, at);
    }
    return at;
}

/* Read an entry into *ENTRY. False at the end of a list of children. */
static bool
read_entry(struct scan *scan, struct scan_entry *entry)
{
    const struct scan_unit *unit = scan->unit;
    const uint8_t *start = scan->next;
    struct bytes bytes = {start, unit->end};
    /* Most codes are of one byte. */
    uint64_t code =
        start < unit->end && *start < 0x80 ? *bytes.at++ : bytes_leb(&bytes);
    scan->next = bytes.at;
    if (scan->next == NULL || code > unit->count)
        goto end;
    if (code == 0) {
        if (scan->depth <= 1)
            goto end;
        scan->depth--;
        return false;
    }
    const struct scan_shape *shape = &unit->shapes[code - 1];
    *entry = (struct scan_entry){.start = start,
                                 .values = scan->next,
                                 .shape = shape,
                                 .depth = scan->depth,
                                 .tag = shape->tag,
                                 .has_children = shape->has_children,
                                 .has_code = shape->has_code};
    if (shape->tag == 0)
        goto end;
    scan->next = skip_values(unit, shape, entry, scan->next);
    if (shape->has_children)
        scan->depth++;
    else if (scan->depth == 0)
        scan->next = NULL;
    return true;

end:
    scan->next = NULL;
    return false;
}

bool
scan_next(struct scan *scan, struct scan_entry *entry)
{
    while (scan->next != NULL) {
        if (read_entry(scan, entry))
            return true;
    }
    return false;
}

/* DW_AT_sibling leads past all children at once (DWARF 5, section 2.3). If a
 * producer leaves it out, or it leads backwards, the children are read. Each
 * child then skips its own children if it can. */
void
scan_skip(struct scan *scan, const struct scan_entry *entry)
{
    if (scan->next != NULL && entry->sibling != NULL &&
        entry->sibling >= scan->next) {
        scan->next = entry->depth > 0 ? entry->sibling : NULL;
        scan->depth = entry->depth;
    }
    while (scan->next != NULL && scan->depth > entry->depth) {
        struct scan_entry inner;
        if (read_entry(scan, &inner) && inner.sibling != NULL)
            scan_skip(scan, &inner);
    }
}

/* If a value cannot be skipped, the ones before it are doubtful, and none are
 * returned. */
unsigned
scan_values(const struct scan_unit *unit, const struct scan_entry *entry,
            struct scan_value values[SCAN_VALUES])
{
    const struct scan_shape *shape = entry->shape;
    const uint8_t *at = entry->values;
    unsigned count = 0;
    for (; at != NULL && count < shape->count && count < SCAN_VALUES; count++) {
        const struct scan_form *form = &unit->forms[shape->first + count];
        values[count] = (struct scan_value){.bytes = {at, unit->end},
                                            .name = form->name,
                                            .form = form->form,
                                            .constant = form->constant};
        at = skip_form(unit, form, at);
    }
    return at != NULL ? count : 0;
}

const uint8_t *
scan_reference(const struct scan_unit *unit, const struct scan_value *value)
{
    struct bytes bytes = value->bytes;
    uint64_t offset = 0;
    if (value->form == DW_FORM_ref_udata)
        offset = bytes_leb(&bytes);
    else if (value->form == DW_FORM_ref1 || value->form == DW_FORM_ref2 ||
             value->form == DW_FORM_ref4 || value->form == DW_FORM_ref8)
        offset = bytes_number(&bytes, (unsigned)fixed_size(unit, value->form));
    if (bytes.at == NULL || offset == 0 ||
        offset >= (uint64_t)(unit->end - unit->start))
        return NULL;
    return unit->start + offset;
}

/* libdw needs only the unit and the address. If ABBREV is NULL, it looks for
 * the abbreviation again. */
Dwarf_Die
scan_die(const struct scan_unit *unit, const uint8_t *at)
{
    Dwarf_Die die = unit->top;
    die.addr = (void *)(uintptr_t)at;
    die.abbrev = NULL;
    return die;
}

size_t
scan_unit_size(const struct scan_unit *unit)
{
    return unit->count * sizeof(*unit->shapes) +
           unit->form_count * sizeof(*unit->forms);
}

void
scan_unit_free(struct scan_unit *unit)
{
    free(unit->shapes);
    free(unit->forms);
    *unit = (struct scan_unit){0};
}
