/* SPDX-License-Identifier: MIT */
/*
 * report_test.c -- the views of a report: tables of other things than
 * functions, the call tree, callers, annotated source, and rows for programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "view/filter.h"
#include "view/lines.h"
#include "view/match.h"
#include "view/tree.h"
#include "show/truncate.h"
#include "show/text_report.h"
#include "show/data_report.h"

#include "profile_maker.h"

/* main -> run -> work 6 (of them 2 in work's line 0x31), main -> run -> work ->
 * work 3, main -> run -> read 4 waiting (worker), main -> idle 1. */
static struct profile *
example(void)
{
    maker_name(0x10, "main", NULL);
    maker_name(0x20, "run", NULL);
    maker_name(0x30, "work", NULL);
    maker_name(0x31, "work", NULL);
    maker_name(0x40, "read", NULL);
    maker_name(0x50, "idle", NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x11, NODE_RETURN);
    maker_add_node(2, 1, 1, 0x21, NODE_RETURN);
    maker_add_node(3, 2, 1, 0x30, 0);
    maker_add_node(4, 2, 1, 0x31, 0);
    maker_add_node(5, 2, 1, 0x32, NODE_RETURN);
    maker_add_node(6, 5, 1, 0x30, 0);
    maker_add_node(7, 2, 2, 0x40, 0);
    maker_add_node(8, 1, 1, 0x50, 0);
    maker_add_sample(1, 3, 4, 0);
    maker_add_sample(1, 4, 2, 0);
    maker_add_sample(1, 6, 3, 0);
    maker_add_sample(2, 7, 4, 202);
    maker_add_sample(1, 8, 1, 0);
    return maker_load(NULL);
}

/* What was printed since print_begin; the caller frees it. */
static char *printed;
static size_t printed_size;
static FILE *
print_begin(void)
{
    FILE *stream = open_memstream(&printed, &printed_size);

    assert_non_null(stream);
    return stream;
}

static void
expect_printed(FILE *stream, const char *expected)
{
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(printed, expected);
    free(printed);
}

/* The table by BY of the example is EXPECTED. */
static void
expect_table(enum table_by by, unsigned columns, const char *expected)
{
    const struct text_report_options options = {.value = VALUE_CPU,
                                                .by = by,
                                                .columns = columns};
    struct profile *profile = example();
    FILE *stream = print_begin();

    assert_int_equal(text_report_table(stream, profile, &options), 0);
    expect_printed(stream, expected);
    profile_free(profile);
    maker_forget(NULL);
}

static void
tables_have_their_rows(void **state)
{
    (void)state;
    expect_table(
        TABLE_MODULE, 0,
        " cpu flat      %    ±   cpu cum      %  wall flat   wall cum  module\n"
        "    0.010  100.0 27.8     0.010  100.0      0.010      0.014  app\n"
        "    0.000    0.0 27.8     0.000    0.0      0.004      0.004  "
        "libx.so\n");
    expect_table(TABLE_THREAD, 0,
                 " cpu time      %    ±  wall time      %  thread\n"
                 "    0.010  100.0 27.8      0.010   71.4  main (4711)\n"
                 "    0.000    0.0 27.8      0.004   28.6  worker (4712)\n");
    expect_table(TABLE_PROCESS, 0,
                 " cpu time      %    ±  wall time      %  process\n"
                 "    0.010  100.0 27.8      0.014  100.0  app (4711)\n");
    expect_table(
        TABLE_LINE, 68,
        " cpu flat      %    ±   cpu cum      %  line\n"
        "    0.007   70.0 30.3     0.007   70.0  work file.c:48 (app)\n"
        "    0.002   20.0 31.0     0.005   50.0  work file.c:49 (app)\n"
        "    0.001   10.0 30.4     0.001   10.0  idle file.c:80 (app)\n"
        "    0.000    0.0 27.8     0.010  100.0  main file.c:16 (app)\n"
        "    0.000    0.0 27.8     0.009   90.0  run file.c:32 (app)\n"
        "    0.000    0.0 27.8     0.000    0.0  read file.c:64 (libx.so)\n");
}

/* The call tree of the example from LEAST percent on. */
static void
expect_tree(const char *callers_of, uint64_t least, const char *expected)
{
    const struct text_report_options options = {.value = VALUE_CPU};
    struct profile *profile = example();
    struct tree *tree = tree_build(profile, TREE_FUNCTIONS), *shown = tree;
    struct branches branches;
    struct match match;
    char error[256];
    FILE *stream = print_begin();

    assert_non_null(tree);
    if (callers_of != NULL) {
        assert_int_equal(match_begin(&match, tree, callers_of, error,
                                     sizeof error),
                         0);
        shown = match_callers(tree, &match);
        match_end(&match);
        assert_non_null(shown);
    }
    assert_int_equal(tree_branches(&branches, shown, VALUE_CPU, least, 0), 0);
    assert_int_equal(tree_text_write(stream, profile, shown, &branches,
                                     callers_of != NULL, &options),
                     0);
    expect_printed(stream, expected);
    tree_release_branches(&branches);
    if (shown != tree)
        tree_free(shown);
    tree_free(tree);
    profile_free(profile);
    maker_forget(NULL);
}

static void
a_tree_has_its_branches(void **state)
{
    (void)state;
    expect_tree(
        NULL, 1,
        "  cpu cum      %    ±  cpu flat      %  call tree\n"
        "    0.010  100.0 27.8     0.000    0.0  main (app)\n"
        "    0.009   90.0 30.4     0.000    0.0  |- run (app)\n"
        "    0.009   90.0 30.4     0.009   90.0  |  > work (app), 2 deep\n"
        "    0.001   10.0 30.4     0.001   10.0  `- idle (app)\n");
    expect_tree(
        NULL, 2000000,
        "  cpu cum      %    ±  cpu flat      %  call tree\n"
        "    0.010  100.0 27.8     0.000    0.0  main (app)\n"
        "    0.009   90.0 30.4     0.000    0.0  |- run (app)\n"
        "    0.009   90.0 30.4     0.009   90.0  |  > work (app), 2 deep\n"
        "    0.001   10.0                        `- (1 more)\n");
}

/* Recursion counts once, from its outermost call. */
static void
callers_count_recursion_once(void **state)
{
    (void)state;
    expect_tree("work", 1,
                "  cpu cum      %    ±  callers\n"
                "    0.009   90.0 30.4  work (app)\n"
                "    0.009   90.0 30.4  < run (app)\n"
                "    0.009   90.0 30.4  < main (app)\n");
    expect_tree("^(run|idle)$", 1,
                "  cpu cum      %    ±  callers\n"
                "    0.009   90.0 30.4  run (app)\n"
                "    0.009   90.0 30.4  < main (app)\n"
                "    0.001   10.0 30.4  idle (app)\n"
                "    0.001   10.0 30.4  < main (app)\n");
}

/* What AROUND makes of the example's tree and "run", or the tree itself, in
 * DEPTH levels, as WRITE prints it. */
static void
expect_shape(struct tree *(*around)(const struct tree *, const struct match *),
             uint32_t depth,
             int (*write)(FILE *, const struct profile *, const struct tree *,
                          const struct branches *,
                          const struct text_report_options *),
             unsigned columns, const char *expected)
{
    const struct text_report_options options = {.value = VALUE_CPU,
                                                .columns = columns};
    struct profile *profile = example();
    struct tree *tree = tree_build(profile, TREE_FUNCTIONS), *shown = tree;
    struct branches branches;
    struct match match;
    char error[256];
    FILE *stream = print_begin();

    assert_non_null(tree);
    if (around != NULL) {
        assert_int_equal(match_begin(&match, tree, "run", error, sizeof error),
                         0);
        shown = around(tree, &match);
        match_end(&match);
        assert_non_null(shown);
    }
    assert_int_equal(tree_branches(&branches, shown, VALUE_CPU, 1, depth), 0);
    assert_int_equal(write(stream, profile, shown, &branches, &options), 0);
    expect_printed(stream, expected);
    tree_release_branches(&branches);
    if (shown != tree)
        tree_free(shown);
    tree_free(tree);
    profile_free(profile);
    maker_forget(NULL);
}

static int
write_tree(FILE *stream, const struct profile *profile, const struct tree *tree,
           const struct branches *branches,
           const struct text_report_options *options)
{
    return tree_text_write(stream, profile, tree, branches, false, options);
}

static void
callees_end_at_the_depth(void **state)
{
    (void)state;
    expect_shape(
        match_callees, 0, write_tree, 0,
        "  cpu cum      %    ±  cpu flat      %  call tree\n"
        "    0.009   90.0 30.4     0.000    0.0  run (app)\n"
        "    0.009   90.0 30.4     0.009   90.0  > work (app), 2 deep\n");
    expect_shape(NULL, 2, write_tree, 0,
                 "  cpu cum      %    ±  cpu flat      %  call tree\n"
                 "    0.010  100.0 27.8     0.000    0.0  main (app)\n"
                 "    0.009   90.0 30.4     0.000    0.0  |- run (app)\n"
                 "    0.009   90.0                        |  (2 more)\n"
                 "    0.001   10.0 30.4     0.001   10.0  `- idle (app)\n");
}

static void
a_flame_has_its_boxes(void **state)
{
    (void)state;
    expect_shape(NULL, 0, flame_text_write, 40,
                 "[all 0.010 s CPU                       ]\n"
                 "[main 100.0 %                          ]\n"
                 "[run 90.0 %                        ][id]\n"
                 "[work 90.0 %                       ]\n"
                 "[work      ]\n"
                 "(one column is 0.000 s)\n");
    expect_shape(match_callees, 1, flame_text_write, 8,
                 "[all 0.]\n"
                 "[run   ]\n"
                 "(one column is 0.001 s)\n");
}

/* Three lines whatever there is to say. */
static void
a_head_has_its_lines(void **state)
{
    struct profile *profile = example();
    FILE *stream = print_begin();

    (void)state;
    text_report_brief(stream, profile, 0, &paint_none);
    expect_printed(stream,
                   "command  app -x, 0.005 s from 1970-01-01 00:00:00 UTC\n"
                   "samples  10 of 2 threads, 4 looks at waits: 0.010 s CPU, "
                   "0.014 s wall\n"
                   "lost     none of 0 asked; cut none of 0 stacks; cost 0.0 % "
                   "CPU\n");
    profile_free(profile);
    maker_forget(NULL);
}

/* The notes are about what a filter leaves. */
static void
a_filter_has_its_own_samples(void **state)
{
    struct filter_options filter = {0};
    struct profile *profile = example();
    FILE *stream = print_begin();

    (void)state;
    assert_int_equal(filter_add_label(&filter, "thread", "main"), 0);
    assert_int_equal(filter_apply(&filter, profile), 0);
    text_report_brief(stream, profile, 0, &paint_none);
    expect_printed(stream,
                   "command  app -x, 0.005 s from 1970-01-01 00:00:00 UTC\n"
                   "filter   --thread main: 0.010 of 0.010 s CPU, 0.010 of "
                   "0.014 s wall time\n"
                   "samples  10 of 1 thread; 1,000 a CPU second\n"
                   "lost     none of 0 asked; cut none of 0 stacks; cost 0.0 % "
                   "CPU\n");
    filter_release(&filter);
    profile_free(profile);
    maker_forget(NULL);
}

/* Rows of fewer than five samples are dim, and have no other colour. */
static void
rows_of_few_samples_are_dim(void **state)
{
    const struct text_report_options options = {.value = VALUE_CPU,
                                                .columns = 60,
                                                .paint = &paint_terminal};
    struct profile *profile = example();
    FILE *stream = print_begin();

    (void)state;
    assert_int_equal(text_report_table(stream, profile, &options), 0);
    expect_printed(
        stream,
        "\033[1m cpu flat      %    ±   cpu cum      %  function\033[0m\n"
        "    0.009  \033[31m 90.0\033[0m 30.4     0.009  \033[31m "
        "90.0\033[0m  work (app)\n"
        "\033[2m    0.001   10.0 30.4     0.001   10.0  idle (app)\033[0m\n"
        "    0.000    0.0 27.8     0.010  \033[31m100.0\033[0m  main (app)\n"
        "    0.000    0.0 27.8     0.009  \033[31m 90.0\033[0m  run (app)\n"
        "\033[2m    0.000    0.0 27.8     0.000    0.0  read "
        "(libx.so)\033[0m\n");
    profile_free(profile);
    maker_forget(NULL);
}

static void
rows_are_in_cumulative_order(void **state)
{
    struct profile *profile = example();
    struct table table;

    (void)state;
    assert_int_equal(table_build(&table, profile, TABLE_FUNCTION, NULL,
                                 VALUE_CPU),
                     0);
    assert_string_equal(table.rows[0].function, "work");
    table_sort(&table, VALUE_CPU, TABLE_CUMULATIVE);
    assert_string_equal(table.rows[0].function, "main");
    assert_string_equal(table.rows[2].function, "run");
    table_release(&table);
    profile_free(profile);
    maker_forget(NULL);
}

static void
functions_are_matched(void **state)
{
    struct profile *profile = example();
    struct tree *tree = tree_build(profile, TREE_FUNCTIONS);
    struct match match;
    char error[256];

    (void)state;
    assert_int_equal(match_begin(&match, tree, "ru", error, sizeof error), 0);
    assert_true(match_is(&match, "run"));
    match_end(&match);
    assert_int_equal(match_begin(&match, tree, "run", error, sizeof error), 0);
    assert_false(match_is(&match, "runner"));
    match_end(&match);
    assert_int_equal(match_begin(&match, tree, "nobody", error, sizeof error),
                     -1);
    assert_non_null(strstr(error, "nobody"));
    assert_int_equal(match_begin(&match, tree, "(", error, sizeof error), -1);
    tree_free(tree);
    profile_free(profile);
}

/* The file is not there: numbers alone, and why. */
static void
a_missing_source_is_told(void **state)
{
    const struct text_report_options options = {.value = VALUE_CPU};
    struct profile *profile = example();
    struct table lines;
    char error[256];
    FILE *stream = print_begin();

    (void)state;
    assert_int_equal(lines_build(&lines, profile, "work", error, sizeof error),
                     0);
    source_text_write(stream, profile, &lines, &options);
    expect_printed(stream,
                   "work (app), file.c\n"
                   "note: the source is not here: No such file or directory\n"
                   " cpu flat      %    ±   cpu cum      %   line\n"
                   "    0.007   70.0 30.3     0.007   70.0     48 \n"
                   "    0.002   20.0 31.0     0.005   50.0     49 \n");
    table_release(&lines);
    profile_free(profile);
}

static void
rows_for_programs_are_whole(void **state)
{
    struct text_report_options options = {.value = VALUE_CPU, .by = TABLE_LINE};
    struct profile *profile = example();
    struct table table;
    FILE *stream = print_begin();

    (void)state;
    assert_int_equal(table_build(&table, profile, TABLE_LINE, NULL, VALUE_CPU),
                     0);
    options.format = COLUMNS_CSV;
    options.rows = 2;
    data_report_table(stream, profile, &table, &options);
    expect_printed(
        stream, "function,module,file,line,cpu_flat_ns,cpu_cum_ns,wall_flat_ns,"
                "wall_cum_ns,samples_flat,samples_cum\n"
                "work,app,file.c,48,7000000,7000000,7000000,7000000,7,7\n"
                "work,app,file.c,49,2000000,5000000,2000000,5000000,2,5\n");
    stream = print_begin();
    options.format = COLUMNS_JSON;
    options.rows = 1;
    data_report_table(stream, profile, &table, &options);
    assert_int_equal(fclose(stream), 0);
    assert_non_null(strstr(printed, "\"rows_left_out\": 5}"));
    free(printed);
    table_release(&table);
    profile_free(profile);
}

/* Characters are cut, not bytes; the module gives way first. */
static void
texts_fit(void **state)
{
    FILE *stream = print_begin();

    (void)state;
    truncate_text(stream, "\xc3\xa4\xc3\xb6\xc3\xbc", 3);
    truncate_text(stream, "|\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6", 5);
    fputc('|', stream);
    truncate_function(stream, "work", "app", 10);
    truncate_function(stream, "|work", "app", 10);
    expect_printed(stream, "\xc3\xa4\xc3\xb6\xc3\xbc|\xc3\xa4...|work (app)"
                           "|work");
}

/* The stack is first, [caller guessed], second, second, [caller guessed],
 * third. */
static void
markers_are_not_folded(void **state)
{
    const struct text_report_options options = {.value = VALUE_CPU};
    struct branches branches;
    FILE *stream = print_begin();

    (void)state;
    maker_name(0x10, "first", NULL);
    maker_name(0x20, "second", NULL);
    maker_name(0x30, "third", NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x11, NODE_RETURN);
    maker_add_node(2, 1, 0, 0, NODE_GUESSED);
    maker_add_node(3, 2, 1, 0x21, NODE_RETURN);
    maker_add_node(4, 3, 1, 0x21, NODE_RETURN);
    maker_add_node(5, 4, 0, 0, NODE_GUESSED);
    maker_add_node(6, 5, 1, 0x30, 0);
    maker_add_sample(1, 6, 10, 0);
    struct profile *profile = maker_load(NULL);
    struct tree *tree = tree_build(profile, TREE_ONCE);
    assert_non_null(tree);
    assert_int_equal(tree_branches(&branches, tree, VALUE_CPU, 1, 0), 0);
    assert_int_equal(tree_text_write(stream, profile, tree, &branches, false,
                                     &options),
                     0);
    expect_printed(
        stream, "  cpu cum      %    ±  cpu flat      %  call tree\n"
                "    0.010  100.0 27.8     0.000    0.0  first (app)\n"
                "    0.010  100.0 27.8     0.000    0.0  > [caller guessed]\n"
                "    0.010  100.0 27.8     0.000    0.0  > second (app)\n"
                "    0.010  100.0 27.8     0.000    0.0  > [caller guessed]\n"
                "    0.010  100.0 27.8     0.010  100.0  > third (app)\n");
    tree_release_branches(&branches);
    tree_free(tree);
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(tables_have_their_rows),
        UNIT(a_tree_has_its_branches),
        UNIT(callers_count_recursion_once),
        UNIT(callees_end_at_the_depth),
        UNIT(a_flame_has_its_boxes),
        UNIT(a_head_has_its_lines),
        UNIT(a_filter_has_its_own_samples),
        UNIT(rows_of_few_samples_are_dim),
        UNIT(rows_are_in_cumulative_order),
        UNIT(functions_are_matched),
        UNIT(a_missing_source_is_told),
        UNIT(rows_for_programs_are_whole),
        UNIT(texts_fit),
        UNIT(markers_are_not_folded),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
