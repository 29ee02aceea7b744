/* SPDX-License-Identifier: MIT */
/*
 * symbol_units_test.c -- what is read of a unit of DWARF: line programs made at
 * random against the rows they were made from, whole and cut off; and the same
 * answers before and after the memory of it was given back.
 */
#include <dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/elf_file.h"
#include "symbol/line_table.h"
#include "symbol/unit_index.h"

#define SEQUENCES 3
#define ROWS 400
#define OPCODE_BASE 13
#define LINE_BASE (-3)
#define FRAMES 8
#define CODE 64

extern const char __executable_start;

/* A line table in the making, and the rows that it stands for. */
struct program {
    uint8_t bytes[65536];
    size_t size;
    unsigned line_range;
    struct line_row rows[SEQUENCES][ROWS];
    uint64_t end[SEQUENCES];
};

static uint32_t
next_random(uint32_t limit)
{
    static uint64_t seed = 7;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % limit;
}

static void
put(struct program *program, uint64_t number, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        program->bytes[program->size++] = (uint8_t)(number >> (8 * i));
}

static void
put_text(struct program *program, const char *text)
{
    memcpy(program->bytes + program->size, text, strlen(text) + 1);
    program->size += strlen(text) + 1;
}

/* Signed; also right for numbers that are not. */
static void
put_leb(struct program *program, int64_t number)
{
    while (number < -64 || number > 63) {
        put(program, (uint64_t)(number & 0x7f) | 0x80, 1);
        number >>= 7;
    }
    put(program, (uint64_t)(number & 0x7f), 1);
}

/* A table of DWARF 4 with two files. */
static void
put_header(struct program *program)
{
    static const uint8_t lengths[OPCODE_BASE - 1] = {0, 1, 1, 1, 1, 0,
                                                     0, 0, 1, 0, 0, 1};
    program->size = 0;
    put(program, 0, 4); /* the length: see put_length */
    put(program, 4, 2);
    put(program, 0, 4);
    size_t start = program->size;
    put(program, 1, 1); /* shortest instruction, operations */
    put(program, 1, 1);
    put(program, 1, 1);
    put(program, (uint8_t)LINE_BASE, 1);
    put(program, program->line_range, 1);
    put(program, OPCODE_BASE, 1);
    memcpy(program->bytes + program->size, lengths, sizeof(lengths));
    program->size += sizeof(lengths);
    put_text(program, "/usr");
    put(program, 0, 1);
    for (unsigned i = 0; i < 2; i++) {
        put_text(program, i != 0 ? "two.c" : "one.c");
        put(program, i, 1); /* directory, time, length */
        put(program, 0, 2);
    }
    put(program, 0, 1);
    program->bytes[6] = (uint8_t)(program->size - start);
}

static void
put_length(struct program *program)
{
    uint32_t length = (uint32_t)program->size - 4;
    memcpy(program->bytes, &length, sizeof(length));
}

/* From row FROM to TO, by one of the ways that there are. */
static void
put_row(struct program *program, const struct line_row *from,
        const struct line_row *to)
{
    uint64_t distance = to->address - from->address;
    int64_t lines = (int64_t)to->line - from->line;
    uint64_t opcode = (uint64_t)(lines - LINE_BASE) +
                      program->line_range * distance + OPCODE_BASE;
    if (to->file != from->file) {
        put(program, DW_LNS_set_file, 1);
        put_leb(program, to->file);
    }
    if (next_random(4) == 0)
        put(program, 0x01040200, 4); /* a discriminator */
    if (next_random(4) > 0 && lines >= LINE_BASE &&
        lines - LINE_BASE < program->line_range && opcode <= 255) {
        put(program, opcode, 1);
        return;
    }
    put(program, DW_LNS_advance_line, 1);
    put_leb(program, lines);
    put(program,
        next_random(2) != 0 ? DW_LNS_advance_pc : DW_LNS_fixed_advance_pc, 1);
    if (program->bytes[program->size - 1] == DW_LNS_advance_pc)
        put_leb(program, (int64_t)distance);
    else
        put(program, distance, 2);
    put(program, DW_LNS_copy, 1);
}

/* Descending sequences of ascending rows. */
static void
make_program(struct program *program, unsigned line_range)
{
    program->line_range = line_range;
    put_header(program);
    for (unsigned i = 0; i < SEQUENCES; i++) {
        struct line_row last = {0x100000 * (SEQUENCES - i), 1, 1};
        put(program, 0x020900, 3);
        put(program, last.address, 8);
        for (unsigned j = 0; j < ROWS; j++) {
            struct line_row *row = &program->rows[i][j];
            *row = last;
            row->address += next_random(j % 20 != 0 ? 12 : 60);
            row->line = 1 + next_random(j % 3 != 0 ? 9 : 5000);
            row->file = 1 + next_random(2);
            put_row(program, &last, row);
            last = *row;
        }
        put(program, DW_LNS_advance_pc, 1);
        put_leb(program, 5);
        put(program, 0x010100, 3);
        program->end[i] = last.address + 5;
    }
    put_length(program);
}

/* A question for each address of sequence NUMBER. */
static void
check_sequence(const struct program *program, const struct line_table *table,
               unsigned number)
{
    const struct line_row *rows = program->rows[number];
    unsigned at = 0;
    struct line_row row;
    assert_false(line_table_find(table, rows[0].address - 1, &row));
    assert_false(line_table_find(table, program->end[number], &row));
    for (uint64_t address = rows[0].address; address < program->end[number];
         address++) {
        while (at + 1 < ROWS && rows[at + 1].address <= address)
            at++;
        assert_true(line_table_find(table, address, &row));
        assert_int_equal(row.address, rows[at].address);
        assert_int_equal(row.line, rows[at].line);
        assert_int_equal(row.file, rows[at].file);
    }
}

static void
line_programs_give_lines(void **state)
{
    static const unsigned line_ranges[] = {1, 3, 10, 14, 200, 242};
    struct program *program = malloc(sizeof(*program));
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        struct intern store = {0};
        struct line_table table = {0};
        struct sections sections = {0};
        make_program(program, line_ranges[i]);
        sections.line.at = program->bytes;
        sections.line.end = program->bytes + program->size;
        assert_int_equal(line_table_read(&table, &sections, 0), 0);
        for (unsigned j = 0; j < SEQUENCES; j++)
            check_sequence(program, &table, j);
        assert_string_equal(line_table_file(&table, 1, "/in", &store),
                            "/in/one.c");
        assert_string_equal(line_table_file(&table, 2, "/in", &store),
                            "/usr/two.c");
        assert_null(line_table_file(&table, 0, "/in", &store));
        assert_null(line_table_file(&table, 3, "/in", &store));
        line_table_free(&table);
        intern_clear(&store);
    }
    free(program);
}

/* The beginnings of a table say nothing, or what the whole one says. */
static void
a_table_that_is_cut_off_says_nothing_else(void **state)
{
    struct program *program = malloc(sizeof(*program));
    struct sections sections = {0};
    (void)state;
    make_program(program, 14);
    for (size_t size = 0; size < program->size; size++) {
        uint8_t *copy = malloc(size + 1);
        uint32_t length = size > 4 ? (uint32_t)size - 4 : 0;
        struct line_table table = {0};
        memcpy(copy, program->bytes, size);
        memcpy(copy, &length, size < 4 ? size : 4);
        sections.line.at = copy;
        sections.line.end = copy + size;
        assert_int_equal(line_table_read(&table, &sections, 0), 0);
        struct line_row row;
        if (line_table_find(&table, program->rows[0][ROWS - 1].address, &row))
            assert_int_equal(row.line, program->rows[0][ROWS - 1].line);
        line_table_free(&table);
        free(copy);
    }
    free(program);
}

/* What is known about CODE bytes of this program, as text. */
static void
describe(struct unit_index *index, uint64_t address, char *text, size_t size)
{
    size_t used = 0;
    for (unsigned i = 0; i < CODE; i++) {
        struct unit_frame frames[FRAMES];
        unsigned count = unit_index_find(index, address + i, frames, FRAMES);
        assert_true(count > 0);
        for (unsigned j = 0; j < count && used < size; j++)
            used += (size_t)snprintf(text + used, size - used, "%s %s:%u\n",
                                     frames[j].name, frames[j].file,
                                     frames[j].line);
    }
    assert_true(used < size);
}

static void
what_is_forgotten_is_read_again(void **state)
{
    uint64_t address = (uintptr_t)make_program - (uintptr_t)&__executable_start;
    static char before[65536], after[65536];
    struct unit_index index = {0};
    (void)state;
    struct elf_file file;
    assert_int_equal(elf_file_open(&file, "/proc/self/exe", NULL, 0), 0);
    assert_int_equal(unit_index_read(&index, &file), 0);
    describe(&index, address, before, sizeof(before));
    assert_non_null(strstr(before, "make_program"));
    assert_non_null(strstr(before, "symbol_units_test.c"));

    /* As if the section were a large one. */
    index.file.sections.large[0] = index.file.sections.info;
    index.file.sections.large_count = 1;
    sections_rest(&index.file.sections);
    for (size_t i = 0; i < index.count; i++)
        unit_forget(&index.units[i]);
    describe(&index, address, after, sizeof(after));
    assert_string_equal(after, before);
    unit_index_free(&index);
    elf_file_close(&file);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_programs_give_lines),
        cmocka_unit_test(a_table_that_is_cut_off_says_nothing_else),
        cmocka_unit_test(what_is_forgotten_is_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
