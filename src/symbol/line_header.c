/* SPDX-License-Identifier: MIT */
/*
 * line_header.c -- the headers of DWARF 2 to 5. Report side.
 *
 * The header of DWARF 5 lists the fields of its entries. In older versions, a
 * directory is a text, and a file is a text and three numbers. Both are counted
 * from 1. Number 0 is the unit's directory, and is no file.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "util/array.h"
#include "line_header.h"

#define MOST_FIELDS 16

/* One field of the entries of a DWARF 5 table. */
struct field {
    /* DW_LNCT_..., DW_FORM_... */
    uint64_t content, form;
};

/* The fields of each entry of a table, in this order (DWARF 5, section 6.2.4).
 * Offsets into other sections have 4 bytes, or 8 in 64-bit DWARF. */
struct format {
    struct field fields[MOST_FIELDS];
    unsigned count, offset_size;
    const struct sections *sections;
};

/* Names are not copied: they stay in the section. */
static int
add_directory(struct line_table *table, const char *name)
{
    if (!ARRAY_GROW(table->directories, table->directory_count))
        return -1;
    table->directories[table->directory_count++] = name;
    return 0;
}

static int
add_file(struct line_table *table, const char *name, uint64_t directory)
{
    if (!ARRAY_GROW(table->files, table->file_count))
        return -1;
    table->files[table->file_count++] =
        (struct line_file){.name = name, .directory = directory};
    return 0;
}

/* Read the lists of DWARF 2 to 4. */
static int
read_old_lists(struct line_table *table, struct bytes *header)
{
    if (add_directory(table, NULL) != 0 || add_file(table, NULL, 0) != 0)
        return -1;
    const char *name;
    while (*(name = bytes_text(header)) != '\0') {
        if (add_directory(table, name) != 0)
            return -1;
    }
    while (*(name = bytes_text(header)) != '\0') {
        uint64_t directory = bytes_leb(header);
        /* The file's time and length are not needed. */
        bytes_leb(header);
        bytes_leb(header);
        if (add_file(table, name, directory) != 0)
            return -1;
    }
    return 0;
}

/* Read the list of fields. For files it is usually (DW_LNCT_path,
 * DW_FORM_line_strp) and (DW_LNCT_directory_index, DW_FORM_udata). The number
 * of fields stands before it. */
static void
read_format(struct format *format, struct bytes *header)
{
    format->count = (unsigned)bytes_number(header, 1);
    if (format->count > MOST_FIELDS)
        header->at = NULL;
    for (unsigned i = 0; header->at != NULL && i < format->count; i++) {
        format->fields[i].content = bytes_leb(header);
        format->fields[i].form = bytes_leb(header);
    }
}

/* Read a field that is a text. It stands in the header or in a section of
 * texts. */
static const char *
read_text(const struct format *format, uint64_t form, struct bytes *header)
{
    struct bytes text;
    switch (form) {
    case DW_FORM_string:
        return bytes_text(header);
    case DW_FORM_line_strp:
        text = bytes_from(&format->sections->line_str,
                          bytes_number(header, format->offset_size));
        return bytes_text(&text);
    case DW_FORM_strp:
        text = bytes_from(&format->sections->str,
                          bytes_number(header, format->offset_size));
        return bytes_text(&text);
    default:
        header->at = NULL;
        return "";
    }
}

/* Read a field that is a number. A field with several numbers is skipped and
 * gives 0. */
static uint64_t
read_number(uint64_t form, struct bytes *header)
{
    switch (form) {
    case DW_FORM_udata:
        return bytes_leb(header);
    case DW_FORM_data1:
        return bytes_number(header, 1);
    case DW_FORM_data2:
        return bytes_number(header, 2);
    case DW_FORM_data4:
        return bytes_number(header, 4);
    case DW_FORM_data8:
        return bytes_number(header, 8);
    case DW_FORM_data16:
        bytes_skip(header, 16);
        return 0;
    case DW_FORM_block:
        bytes_skip(header, bytes_leb(header));
        return 0;
    default:
        header->at = NULL;
        return 0;
    }
}

/* Read one entry. Producers may add contents of their own, and MD5 sums are
 * common. The form is enough to skip them. */
static void
read_entry(const struct format *format, struct bytes *header,
           struct line_file *entry)
{
    *entry = (struct line_file){.name = ""};
    for (unsigned i = 0; i < format->count; i++) {
        const struct field *field = &format->fields[i];
        if (field->content == DW_LNCT_path)
            entry->name = read_text(format, field->form, header);
        else if (field->content == DW_LNCT_directory_index)
            entry->directory = read_number(field->form, header);
        else if (field->form == DW_FORM_string ||
                 field->form == DW_FORM_line_strp ||
                 field->form == DW_FORM_strp)
            read_text(format, field->form, header);
        else
            read_number(field->form, header);
    }
}

/* Read the lists of DWARF 5. Entries without fields would take no room, so that
 * their number could not be trusted: they are ignored. */
static int
read_lists(struct line_table *table, struct format *format,
           struct bytes *header)
{
    read_format(format, header);
    uint64_t count = bytes_leb(header);
    struct line_file entry;
    for (; header->at != NULL && format->count > 0 && count > 0; count--) {
        read_entry(format, header, &entry);
        if (header->at != NULL && add_directory(table, entry.name) != 0)
            return -1;
    }
    read_format(format, header);
    count = bytes_leb(header);
    for (; header->at != NULL && format->count > 0 && count > 0; count--) {
        read_entry(format, header, &entry);
        if (header->at != NULL &&
            add_file(table, entry.name, entry.directory) != 0)
            return -1;
    }
    return 0;
}

/* Read the numbers that the program is decoded with. True if it can be decoded.
 */
static bool
read_numbers(struct line_table *table, struct bytes *header)
{
    unsigned operations = 1;
    table->shortest = (uint8_t)bytes_number(header, 1);
    if (table->version >= 4)
        operations = (unsigned)bytes_number(header, 1);
    /* Whether rows are statements by default; all rows count here. */
    bytes_skip(header, 1);
    table->line_base = (int8_t)bytes_number(header, 1);
    table->line_range = (uint8_t)bytes_number(header, 1);
    table->opcode_base = (uint8_t)bytes_number(header, 1);
    table->lengths = header->at;
    bytes_skip(header, table->opcode_base != 0 ? table->opcode_base - 1u : 0);
    /* Several operations in an instruction (VLIW) are not decoded. */
    if (header->at == NULL || operations != 1 || table->line_range == 0 ||
        table->opcode_base == 0)
        return false;
    table->inverse = 65536 / table->line_range + 1;
    return true;
}

/* A damaged header, or one of a future version, leaves the table without a
 * program. This is no error: the unit then has no lines. A length of 0xffffffff
 * announces 64-bit DWARF (DWARF 5, section 7.4). */
int
line_header_read(struct line_table *table, const struct sections *sections,
                 uint64_t offset)
{
    struct format format = {.offset_size = 4, .sections = sections};
    struct bytes header = bytes_from(&sections->line, offset);
    uint64_t length = bytes_number(&header, 4);
    if (length == 0xffffffff) {
        format.offset_size = 8;
        length = bytes_number(&header, 8);
    }
    if (header.at == NULL || length > (uint64_t)(header.end - header.at))
        return 0;
    header.end = header.at + length;
    table->version = (uint16_t)bytes_number(&header, 2);
    if (table->version < 2 || table->version > 5)
        return 0;
    /* The sizes of an address and of a segment selector. */
    if (table->version >= 5)
        bytes_skip(&header, 2);
    length = bytes_number(&header, format.offset_size);
    struct bytes program = bytes_from(&header, length);
    if (program.at == NULL)
        return 0;
    header.end = program.at;
    if (!read_numbers(table, &header))
        return 0;
    int failed = table->version < 5 ? read_old_lists(table, &header)
                                    : read_lists(table, &format, &header);
    if (failed == 0)
        table->program = program;
    return failed;
}
