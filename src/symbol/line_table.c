/* SPDX-License-Identifier: MIT */
/*
 * line_table.c -- reads a table's header, and runs the program that makes its
 * rows. Report side.
 *
 * The header of DWARF 5 lists the fields of its entries. In older versions, a
 * directory is a text, and a file is a text and three numbers. Both are counted
 * from 1. Number 0 is the unit's directory, and is no file.
 *
 * The first run records where each sequence begins and ends. It also records a
 * mark for every ROWS_PER_MARK rows: the state of the program at that row. A
 * question finds the mark and runs the few rows after it. The addresses of a
 * sequence ascend. Where a damaged or odd row steps back, a new sequence
 * begins.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "util/array.h"
#include "line_table.h"

#define MOST_FIELDS 16
#define ROWS_PER_MARK 64
/* Limit of the bytes of a program that one question runs. Without damage, 64
 * rows take a few hundred bytes. */
#define LONGEST_RUN 65536

struct line_file {
    const char *name;
    uint64_t directory;
    const char *path; /* the whole path; NULL until line_table_file makes it */
};

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
add_directory(struct line_table *table, const struct line_file *entry)
{
    if (!ARRAY_GROW(table->directories, table->directory_count))
        return -1;
    table->directories[table->directory_count++] = entry->name;
    return 0;
}

static int
add_file(struct line_table *table, const struct line_file *entry)
{
    if (!ARRAY_GROW(table->files, table->file_count))
        return -1;
    table->files[table->file_count++] = *entry;
    return 0;
}

/* Read the lists of DWARF 2 to 4. */
static int
read_old_lists(struct line_table *table, struct bytes *header)
{
    struct line_file entry = {0};
    if (add_directory(table, &entry) != 0 || add_file(table, &entry) != 0)
        return -1;
    while (*(entry.name = bytes_text(header)) != '\0') {
        if (add_directory(table, &entry) != 0)
            return -1;
    }
    while (*(entry.name = bytes_text(header)) != '\0') {
        entry.directory = bytes_leb(header);
        /* The file's time and length are not needed. */
        bytes_leb(header);
        bytes_leb(header);
        if (add_file(table, &entry) != 0)
            return -1;
    }
    return 0;
}

/* Read the list of fields. For files it is usually (DW_LNCT_path,
 * DW_FORM_line_strp) and (DW_LNCT_directory_index, DW_FORM_udata). The number
 * of fields precedes it. */
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
    uint64_t number = 0;
    if (form == DW_FORM_data16)
        bytes_skip(header, 16);
    else if (form == DW_FORM_block)
        bytes_skip(header, bytes_leb(header));
    else if (!bytes_form(header, form, &number))
        header->at = NULL;
    return number;
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

/* Read a list of DWARF 5, and ADD each entry. Entries without fields would take
 * no room, so that their number could not be trusted: they are ignored. */
static int
read_list(struct line_table *table, struct format *format, struct bytes *header,
          int (*add)(struct line_table *, const struct line_file *))
{
    read_format(format, header);
    uint64_t count = bytes_leb(header);
    struct line_file entry;
    for (; header->at != NULL && format->count > 0 && count > 0; count--) {
        read_entry(format, header, &entry);
        if (header->at != NULL && add(table, &entry) != 0)
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

/* Read the header at OFFSET of SECTIONS' line section into TABLE. A damaged
 * header, or one of a future version, leaves the table without a program. This
 * is no error: the unit then has no lines. A length of 0xffffffff announces
 * 64-bit DWARF (DWARF 5, section 7.4). Returns 0, or -1 with errno set if
 * memory is short. */
static int
read_header(struct line_table *table, const struct sections *sections,
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
    if (table->version < 5
            ? read_old_lists(table, &header) != 0
            : read_list(table, &format, &header, add_directory) != 0 ||
                  read_list(table, &format, &header, add_file) != 0)
        return -1;
    table->program = program;
    return 0;
}

struct line_mark {
    struct line_row row;
    const uint8_t *next; /* the program's next opcode after the row */
};

enum step { NO_ROW, ROW, SEQUENCE_END };

/* The state in which each sequence begins (DWARF 5, section 6.2.2). */
static const struct line_row first_row = {.file = 1, .line = 1};

/* Like bytes_leb, but fast for one byte: there are millions of numbers, and
 * most have one byte. */
static inline uint64_t
read_leb(struct bytes *program)
{
    if (program->at != NULL && program->at < program->end &&
        *program->at < 0x80)
        return *program->at++;
    return bytes_leb(program);
}

/* Like bytes_signed_leb, but fast for one byte. */
static inline int64_t
read_signed_leb(struct bytes *program)
{
    if (program->at != NULL && program->at < program->end &&
        *program->at < 0x80)
        return (int64_t)(*program->at++ ^ 0x40) - 0x40;
    return bytes_signed_leb(program);
}

/* Run an extended opcode. Its length precedes it, so that unknown ones can be
 * skipped (DWARF 5, section 6.2.5.3). */
static inline enum step
run_extended(struct bytes *program, struct line_row *state)
{
    uint64_t length = read_leb(program);
    struct bytes operand = *program;
    if (operand.at == NULL || (uint64_t)(operand.end - operand.at) < length) {
        program->at = NULL;
        return NO_ROW;
    }
    program->at += length;
    if (length == 0)
        return NO_ROW;
    switch (*operand.at++) {
    case DW_LNE_end_sequence:
        return SEQUENCE_END;
    case DW_LNE_set_address:
        state->address =
            length <= 9 ? bytes_number(&operand, (unsigned)length - 1) : 0;
        return NO_ROW;
    default:
        return NO_ROW;
    }
}

static inline void
advance_address(const struct line_table *table, struct line_row *state,
                uint64_t count)
{
    state->address += table->shortest * count;
}

/* Run a standard opcode. Opcodes for columns, ends of prologues and the like do
 * not change the row and are skipped: the header has the number of their
 * operands, each a LEB128 (DWARF 5, section 6.2.5.2). */
static inline enum step
run_standard(const struct line_table *table, struct bytes *program,
             struct line_row *state, unsigned opcode)
{
    switch (opcode) {
    case 0:
        return run_extended(program, state);
    case DW_LNS_copy:
        return ROW;
    case DW_LNS_advance_pc:
        advance_address(table, state, read_leb(program));
        break;
    case DW_LNS_advance_line:
        state->line += (uint32_t)read_signed_leb(program);
        break;
    case DW_LNS_set_file:
        state->file = (uint32_t)read_leb(program);
        break;
    case DW_LNS_const_add_pc:
        advance_address(table, state,
                        (255u - table->opcode_base) / table->line_range);
        break;
    case DW_LNS_fixed_advance_pc:
        state->address += bytes_number(program, 2);
        break;
    default:
        for (unsigned i = table->lengths[opcode - 1]; i > 0; i--)
            read_leb(program);
        break;
    }
    return NO_ROW;
}

/* Run the next opcode. PROGRAM is not at its end. */
static inline enum step
run_opcode(const struct line_table *table, struct bytes *program,
           struct line_row *state)
{
    unsigned opcode = *program->at++;
    if (opcode < table->opcode_base)
        return run_standard(table, program, state, opcode);
    opcode -= table->opcode_base;
    /* For numbers below 256 this equals the division by LINE_RANGE. */
    unsigned quotient = opcode * table->inverse >> 16;
    advance_address(table, state, quotient);
    state->line += (uint32_t)(table->line_base + (int)opcode -
                              (int)(quotient * table->line_range));
    return ROW;
}

/* Add the sequence that has the marks from FIRST on and ends at END. Its rank
 * is the number of its marks. Code that a linker has dropped starts at address
 * 0 and is left out. Returns 0, or -1 with errno set. */
static int
add_sequence(struct line_table *table, size_t first, uint64_t end)
{
    struct range range = {.high = end, .value = (uint32_t)first};
    range.low = table->marks[first].row.address;
    range.rank = (table->mark_count - first) & RANGE_RANK_MAX;
    if (range.low > 0 && range.low < range.high)
        return range_index_add(&table->sequences, &range);
    table->mark_count = first;
    return 0;
}

/* Run the whole program and record its sequences and marks. Returns 0, or -1
 * with errno set. */
static int
read_marks(struct line_table *table)
{
    struct bytes program = table->program;
    struct line_row state = first_row;
    size_t first = 0, rows = 0; /* FIRST mark and number of ROWS of this
                                   sequence; 0 rows: none has begun */
    uint64_t last = 0;          /* the address of its last row */
    while (program.at != NULL && program.at < program.end) {
        enum step step = run_opcode(table, &program, &state);
        if (step == NO_ROW)
            continue;
        if (rows > 0 && (step == SEQUENCE_END || state.address < last)) {
            if (add_sequence(table, first,
                             state.address < last ? last : state.address) != 0)
                return -1;
            rows = 0;
        }
        if (step == SEQUENCE_END) {
            state = first_row;
            continue;
        }
        if (rows == 0)
            first = table->mark_count;
        if (rows++ % ROWS_PER_MARK == 0) {
            if (!ARRAY_GROW(table->marks, table->mark_count))
                return -1;
            table->marks[table->mark_count++] =
                (struct line_mark){state, program.at};
        }
        last = state.address;
    }
    range_index_seal(&table->sequences);
    return 0;
}

int
line_table_read(struct line_table *table, const struct sections *sections,
                uint64_t offset)
{
    if (read_header(table, sections, offset) != 0)
        return -1;
    return read_marks(table);
}

/* The last mark of SEQUENCE at or before ADDRESS. SEQUENCE covers ADDRESS, so
 * its first mark is not after it. */
static const struct line_mark *
find_mark(const struct line_table *table, const struct range *sequence,
          uint64_t address)
{
    size_t low = sequence->value, high = low + sequence->rank;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (table->marks[middle].row.address <= address)
            low = middle;
        else
            high = middle;
    }
    return &table->marks[low];
}

/* If several rows have the same address, the last one counts. */
bool
line_table_find(const struct line_table *table, uint64_t address,
                struct line_row *row)
{
    const struct range *sequence =
        range_index_find(&table->sequences, address, NULL);
    struct bytes program = table->program;
    if (sequence == NULL)
        return false;
    const struct line_mark *mark = find_mark(table, sequence, address);
    struct line_row state;
    *row = state = mark->row;
    program.at = mark->next;
    while (program.at != NULL && program.at < program.end &&
           program.at - mark->next < LONGEST_RUN) {
        enum step step = run_opcode(table, &program, &state);
        if (step == SEQUENCE_END || (step == ROW && state.address > address))
            break;
        if (step == ROW)
            *row = state;
    }
    return true;
}

/* "list.c" in directory 1, which is "/src/lib", is "/src/lib/list.c". The path
 * is made at the first question and kept. */
const char *
line_table_file(struct line_table *table, uint64_t number,
                const char *compiled_in, struct intern *store)
{
    const char *directory = NULL;
    if (number >= table->file_count)
        return NULL;
    struct line_file *file = &table->files[number];
    if (file->path != NULL || file->name == NULL)
        return file->path;
    if (*file->name != '/' && file->directory < table->directory_count)
        directory = table->directories[file->directory];
    if (directory == NULL && *file->name != '/' && file->directory == 0)
        directory = compiled_in;
    file->path = directory != NULL
                     ? intern_format(store, "%s/%s", directory, file->name)
                     : intern_text(store, file->name);
    return file->path;
}

size_t
line_table_size(const struct line_table *table)
{
    return table->mark_count * sizeof(*table->marks) +
           table->file_count * sizeof(*table->files) +
           table->sequences.count * sizeof(*table->sequences.ranges);
}

void
line_table_free(struct line_table *table)
{
    range_index_free(&table->sequences);
    free(table->marks);
    free(table->files);
    free(table->directories);
    *table = (struct line_table){0};
}
