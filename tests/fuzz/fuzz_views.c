/* SPDX-License-Identifier: MIT */
/*
 * fuzz_views.c -- any bytes as a spool, through all that `sprofile report` and
 * `sprofile diff` show of a profile: every table, the tree, callers, source,
 * rows for programs, a comparison with what filters leave.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/branches.h"
#include "view/calls.h"
#include "view/code.h"
#include "view/diff.h"
#include "view/filter.h"
#include "view/lines.h"
#include "read/load.h"
#include "view/match.h"
#include "view/tree.h"
#include "show/code_text.h"
#include "show/data_report.h"
#include "show/diff_text.h"
#include "show/text_report.h"
#include "write/page_diff.h"

#include "fuzz.h"
#include "repair.h"

/* What text must not hold, whatever the names in the spool were. */
static char *text;
static size_t text_size;
static FILE *
begin_text(void)
{
    FILE *stream = open_memstream(&text, &text_size);

    if (stream == NULL)
        abort();
    return stream;
}

static void
end_text(FILE *stream)
{
    fclose(stream);
    for (size_t i = 0; i < text_size; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\n') || text[i] == 127)
            abort();
    free(text);
}

static void
show_tables(struct profile *profile)
{
    const struct text_report_options options = {.value = VALUE_WALL,
                                                .columns = 60};
    struct table table;

    for (enum table_by by = TABLE_FUNCTION; by <= TABLE_PROCESS; by++) {
        FILE *stream = begin_text();
        if (table_build_by(&table, profile, by, VALUE_WALL) < 0)
            abort();
        table_text_write(stream, profile, &table, &options);
        data_report_table(&(struct data_report){stream, COLUMNS_CSV, VALUE_WALL,
                                                0},
                          profile, &table, by);
        data_report_table(&(struct data_report){stream, COLUMNS_JSON,
                                                VALUE_WALL, 0},
                          profile, &table, by);
        table_release(&table);
        end_text(stream);
    }
}

static void
show_branches(struct profile *profile, const struct tree *tree, bool callers)
{
    const struct text_report_options options = {.value = VALUE_WALL,
                                                .columns = callers ? 40 : 0};
    FILE *stream = begin_text();
    struct branches branches;

    if (branches_build(&branches, tree, VALUE_WALL,
                       profile->totals[VALUE_WALL] / 100, 0) < 0 ||
        tree_text_write(stream, profile, tree, &branches, callers, &options) <
            0)
        abort();
    data_report_tree(&(struct data_report){stream, COLUMNS_JSON, VALUE_WALL, 0},
                     profile, tree, &branches, "tree");
    branches_release(&branches);
    end_text(stream);
}

static void
show_trees(struct profile *profile)
{
    struct tree *tree = tree_build(profile, TREE_FUNCTIONS), *callers;
    struct match match;
    char error[512];

    if (tree == NULL)
        abort();
    show_branches(profile, tree, false);
    if (match_begin(&match, tree, "[0-9a-f]$", error, sizeof error) == 0) {
        callers = calls_callers(tree, &match);
        match_end(&match);
        if (callers == NULL)
            abort();
        show_branches(profile, callers, true);
        tree_free(callers);
    }
    tree_free(tree);
}

static void
show_source(struct profile *profile)
{
    const struct text_report_options options = {.value = VALUE_CPU};
    FILE *stream = begin_text();
    struct table lines;
    char error[512];

    if (lines_build(&lines, profile, ".", error, sizeof error) == 0) {
        source_text_write(stream, profile, &lines, &options);
        table_release(&lines);
    }
    end_text(stream);
}

/* The code of all functions, as if each address had an instruction. */
static void
show_code(struct profile *profile)
{
    const struct text_report_options options = {.value = VALUE_CPU};
    const struct code_instruction instructions[] = {{0, "nop"},
                                                    {0x10, "nop"},
                                                    {0x1000, "nop"}};
    struct tree *tree = tree_build(profile, TREE_FUNCTIONS);
    FILE *stream = begin_text();
    struct code_list list;
    struct match match;
    char error[512];

    if (tree == NULL)
        abort();
    if (match_begin(&match, tree, ".", error, sizeof error) == 0) {
        if (code_collect(&list, profile, &match) < 0)
            abort();
        for (uint32_t i = 0; i < list.count; i++)
            code_text_write(stream, profile, &list.all[i], instructions, 3,
                            &options);
        code_release(&list);
        match_end(&match);
    }
    tree_free(tree);
    end_text(stream);
}

static void
show_page(struct profile *old, struct profile *new,
          const struct diff_options *test)
{
    const struct page_diff page = {{page_diff_make}, old, new, test};
    FILE *stream = fopen("/dev/null", "w");

    if (stream == NULL || page_diff_make(stream, &page.content) != 0)
        abort();
    fclose(stream);
}

static void
show_diff(struct profile *old, struct profile *new)
{
    const struct text_report_options options = {.rows = 0};
    struct diff_options test = {.value = VALUE_WALL,
                                .level = 0.01,
                                .fail_above = 5};
    struct diff diff;

    for (test.by = MEASURE_FUNCTION; test.by <= MEASURE_STACK; test.by++) {
        FILE *stream = begin_text();
        test.absolute = !test.absolute;
        if (diff_build(&diff, old, new, &test) < 0)
            abort();
        diff_text_write(stream, &diff, old, new, &test, true, &options);
        data_report_diff(&(struct data_report){stream, COLUMNS_JSON, VALUE_WALL,
                                               0},
                         &diff, old, new, &test, true);
        diff_release(&diff);
        end_text(stream);
    }
    show_page(old, new, &test);
}

/* DATA as a profile, NULL if there is nothing valid in it. */
static struct profile *
load(const uint8_t *data, size_t size)
{
    const struct symbolizer_options options = {.inlines = true};
    struct profile *profile = profile_new(&options);
    char error[512] = "";

    if (profile == NULL)
        abort();
    profile->keeps_events = true;
    if (load_memory(profile, data, size, "fuzz", error, sizeof error) == 0)
        return profile;
    profile_free(profile);
    return NULL;
}

static void
apply_filter(struct profile *profile, size_t size)
{
    struct filter_options filter = {.has_time = size % 2 == 0,
                                    .from = size,
                                    .to = size * 1000};
    char error[256];

    if (filter_add_label(&filter, "state", "running") < 0 ||
        filter_add_expression(&filter, FILTER_IGNORE, "a", error,
                              sizeof error) < 0 ||
        filter_apply(&filter, profile) < 0)
        abort();
    filter_release(&filter);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    struct profile *profile, *other;

    if (copy == NULL)
        abort();
    memcpy(copy, data, size);
    repair(copy, size);
    profile = load(copy, size);
    other = load(copy, size);
    if (profile != NULL && other != NULL) {
        show_tables(profile);
        show_trees(profile);
        show_source(profile);
        show_code(profile);
        apply_filter(other, size);
        show_tables(other);
        show_diff(profile, other);
    }
    profile_free(other);
    profile_free(profile);
    free(copy);
    return 0;
}
