/* SPDX-License-Identifier: MIT */
/*
 * listing_test.c -- what annotated source and machine code are made of: files
 * that may be anything, and sums by address.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "show/code_text.h"
#include "show/source_file.h"
#include "view/code.h"
#include "view/lines.h"
#include "view/tree.h"

#include "profile_maker.h"

static void
a_line_is_plain_text(void **state)
{
    const char *path = maker_path("source.c"), *problem;
    struct source_file source;
    FILE *file = fopen(path, "w");

    (void)state;
    assert_non_null(file);
    fputs("\ta\tb\r\nesc \x1b[1m\n", file);
    for (unsigned i = 0; i < 5000; i++)
        fputc('\t', file);
    fputs("\nlast", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(source_file_open(&source, path, &problem), 0);
    assert_true(source_file_next(&source));
    assert_string_equal(source.line, "        a       b");
    assert_true(source_file_next(&source));
    assert_string_equal(source.line, "esc ?[1m");
    assert_true(source_file_next(&source));
    assert_in_range(strlen(source.line), SOURCE_FILE_LINE - 16,
                    SOURCE_FILE_LINE - 1);
    assert_true(source_file_next(&source));
    assert_string_equal(source.line, "last");
    assert_int_equal(source.number, 4);
    assert_false(source_file_next(&source));
    source_file_close(&source);
}

/* A pipe that no process writes must not be waited for. */
static void
only_a_file_is_source(void **state)
{
    const char *pipe = maker_path("pipe"), *problem;
    struct source_file source;

    (void)state;
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(source_file_open(&source, pipe, &problem), -1);
    assert_string_equal(problem, "not a file");
    source_file_close(&source);
    assert_int_equal(source_file_open(&source, maker_path(""), &problem), -1);
    assert_int_equal(source_file_open(&source, maker_path("missing"), &problem),
                     -1);
    assert_string_equal(problem, "No such file or directory");
    source_file_close(&source);
}

/* main (0x10) calls walk (0x20), which calls itself at 0x20 and ends at 0x24;
 * leaf (0x30) is inlined into end. */
static struct profile *
example(void)
{
    maker_name(0x10, "main", NULL);
    maker_name(0x20, "walk", NULL);
    maker_name(0x24, "walk", NULL);
    maker_name(0x30, "end", "leaf");
    maker_add_head();
    maker_add_node(1, 0, 1, 0x11, NODE_RETURN);
    maker_add_node(2, 1, 1, 0x21, NODE_RETURN);
    maker_add_node(3, 2, 1, 0x21, NODE_RETURN);
    maker_add_node(4, 3, 1, 0x24, 0);
    maker_add_node(5, 2, 1, 0x24, 0);
    maker_add_node(6, 1, 1, 0x30, 0);
    maker_add_sample(1, 4, 2, 0);
    maker_add_sample(1, 5, 3, 0);
    maker_add_sample(2, 6, 5, 0);
    return maker_load(NULL);
}

/* Collect the code of the functions that TEXT selects. */
static void
collect(struct code_list *list, struct profile *profile, const char *text)
{
    struct tree *tree = tree_build(profile, TREE_FUNCTIONS);
    struct match match;
    char error[256];

    assert_non_null(tree);
    assert_int_equal(match_begin(&match, tree, text, error, sizeof error), 0);
    assert_int_equal(code_collect(list, profile, &match), 0);
    match_end(&match);
    tree_free(tree);
}

static void
an_address_counts_once_in_a_stack(void **state)
{
    struct profile *profile = example();
    struct code_list list;

    (void)state;
    collect(&list, profile, "walk");
    assert_int_equal(list.count, 1);
    assert_int_equal(list.inlined, 0);
    const struct code *code = &list.all[0];
    assert_string_equal(code->function, "walk");
    assert_int_equal(code->count, 2);
    assert_int_equal(code->places[0].offset, 0x20);
    assert_int_equal(code->places[0].flat[VALUE_SAMPLES], 0);
    assert_int_equal(code->places[0].cumulative[VALUE_SAMPLES], 5);
    assert_int_equal(code->places[1].offset, 0x24);
    assert_int_equal(code->places[1].flat[VALUE_SAMPLES], 5);
    assert_int_equal(code->places[1].cumulative[VALUE_CPU], 5000000);
    code_release(&list);
    profile_free(profile);
}

static void
inlined_code_is_its_callers(void **state)
{
    struct profile *profile = example();
    struct code_list list;

    (void)state;
    collect(&list, profile, "leaf");
    assert_int_equal(list.count, 0);
    assert_int_equal(list.inlined, 1);
    code_release(&list);
    collect(&list, profile, "end|main");
    assert_int_equal(list.count, 2);
    assert_string_equal(list.all[0].function, "main");
    assert_string_equal(list.all[1].function, "end");
    code_release(&list);
    profile_free(profile);
}

/* The names in the symbol table differ from those that are shown. */
static void
many_functions_are_told_apart(void **state)
{
    static char names[20][16];
    struct code_list list;

    (void)state;
    maker_add_head();
    for (unsigned i = 0; i < 20; i++) {
        snprintf(names[i], sizeof names[i], "f%u", i);
        maker_name(0x10 + i, names[i], NULL);
        maker_names[i].frames[0].linkage = "";
        if (i % 2 == 0)
            maker_names[i].frames[0].linkage = i % 4 == 0 ? "_Za" : "_Zb";
        maker_add_node(i + 1, i, 1, 0x10 + i, 0);
    }
    maker_add_sample(1, 20, 1, 0);
    struct profile *profile = maker_load(NULL);
    collect(&list, profile, "f1?[02468]$");
    /* Of one name in the symbol table there is one function. */
    assert_int_equal(list.count, 2);
    code_release(&list);
    collect(&list, profile, "f1?[13579]$");
    assert_int_equal(list.count, 10);
    for (uint32_t i = 0; i < list.count; i++)
        assert_int_equal(list.all[i].count, 1);
    code_release(&list);
    profile_free(profile);
}

/* The call at 0x1e to 0x22 has the samples of what it called. */
static void
an_instruction_has_its_samples(void **state)
{
    static const struct code_instruction instructions[] = {
        {0x1a, "first"},  {0x1e, "call"},   {0x23, "call 9 <_ZN1a3fooEi+0x4>"},
        {0x24, "second"}, {0x28, "behind"}, {0x29, "behind"},
        {0x2a, "behind"}, {0x2b, "last"},   {0x2c, "far"},
        {0x2d, "far"},
    };
    const struct text_report_options options = {.value = VALUE_CPU};
    struct profile *profile = example();
    struct code_list list;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    (void)state;
    collect(&list, profile, "walk");
    code_text_write(stream, profile, &list.all[0], instructions, 10, &options);
    assert_int_equal(fclose(stream), 0);
    assert_non_null(strstr(text, "walk (app), machine code\n"));
    assert_non_null(
        strstr(text,
               "    0.000    0.0     0.005   50.0            1e  call\n"));
    assert_non_null(
        strstr(text,
               "    0.005   50.0     0.005   50.0     36     24  second\n"));
    assert_non_null(strstr(text, "  call 9 <a::foo+0x4>\n"));
    assert_non_null(strstr(text, "    2b  last\n"));
    assert_null(strstr(text, "far"));
    assert_non_null(strstr(text, "(2 instructions)\n"));
    free(text);
    code_release(&list);
    profile_free(profile);
}

static void
all_functions_can_be_listed(void **state)
{
    struct profile *profile = example();
    struct table lines;
    char error[256];
    unsigned first, last;

    (void)state;
    assert_int_equal(lines_build(&lines, profile, NULL, error, sizeof error),
                     0);
    assert_int_equal(lines.count, 5);
    assert_string_equal(lines.rows[0].function, "end");
    assert_string_equal(lines.rows[4].function, "walk");
    assert_int_equal(lines_of_function(&lines, 3), 2);
    lines_range(&lines.rows[3], 2, &first, &last);
    assert_int_equal(first, 1);
    assert_int_equal(last, 0x24 + 3);
    table_release(&lines);
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        UNIT(a_line_is_plain_text),
        UNIT(only_a_file_is_source),
        UNIT(an_address_counts_once_in_a_stack),
        UNIT(inlined_code_is_its_callers),
        UNIT(many_functions_are_told_apart),
        UNIT(an_instruction_has_its_samples),
        UNIT(all_functions_can_be_listed),
    };

    return cmocka_run_group_tests(units, maker_begin, maker_end);
}
