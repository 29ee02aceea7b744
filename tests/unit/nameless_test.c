/* SPDX-License-Identifier: MIT */
/*
 * nameless_test.c -- which frames have no names, and what share of the time
 * they are on the stack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/naming.h"
#include "view/nameless.h"
#include "show/text_report.h"

#include "profile_maker.h"

static void
expect_row(const struct nameless_row *row, uint32_t module, uint32_t places,
           uint64_t samples)
{
    assert_int_equal(row->module, module);
    assert_int_equal(row->places, places);
    assert_int_equal(row->values[VALUE_SAMPLES], samples);
}

/* A stack counts once for a file, however many of its frames it has; the same
 * place in two stacks is one; marks are no frames; nodes without samples are
 * not looked at. */
static void
a_stack_counts_once_for_a_file(void **state)
{
    (void)state;
    maker_name(0x10, "main", NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_node(2, 1, 2, 0x100, 0);
    maker_add_node(3, 2, 2, 0x200, 0);
    maker_add_node(4, 3, 1, 0x10, 0);
    maker_add_node(5, 0, 2, 0x101, NODE_RETURN);
    maker_add_node(6, 1, 0, 0x7f0000000000, 0);
    maker_add_node(7, 1, 0, 0x7f0000000000, 0);
    maker_add_node(8, 1, 1, 0x900, 0);
    maker_add_node(9, 0, 0, CUT_NO_RULE, NODE_TRUNCATED);
    maker_add_sample(1, 4, 3, 0);
    maker_add_sample(1, 5, 4, 0);
    maker_add_sample(1, 6, 1, 0);
    maker_add_sample(2, 7, 1, 0);
    maker_add_sample(1, 1, 20, 0);
    maker_add_sample(1, 9, 30, 0);
    struct profile *profile = maker_load(NULL);
    struct nameless nameless;
    assert_int_equal(nameless_build(&nameless, profile), 0);
    assert_int_equal(nameless.count, 2);
    expect_row(&nameless.rows[0], 2, 2, 7);
    expect_row(&nameless.rows[1], 0, 1, 2);
    nameless_release(&nameless);
    profile_free(profile);
}

/* The only code that was generated calls the C library. */
static void
generated_callers_are_advised(void **state)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    (void)state;
    assert_non_null(stream);
    maker_add_process(4711, "/usr/bin/node");
    maker_add_module(1, "/usr/bin/node");
    maker_add_thread(1, 4711, "main");
    maker_name(0x10, "main", NULL);
    maker_add_node(1, 0, 0, 0x7f0000000000, NODE_RETURN);
    maker_add_node(2, 1, 1, 0x10, 0);
    maker_add_sample(1, 2, 10, 0);
    struct profile *profile = maker_load(NULL);
    assert_int_equal(text_report_nameless(stream, profile, false), 0);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(text,
                        "names 100.0 % of CPU time has frames without names in "
                        "generated code: `sprofile record --jit` gets them\n");
    free(text);
    profile_free(profile);
}

/* Only time of their own counts, and none of generated code. Functions of one
 * name are one. */
static void
functions_have_their_own_time(void **state)
{
    (void)state;
    maker_name(0x10, "main", NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_node(2, 1, 2, 0x100, 0);
    maker_add_node(3, 2, 2, 0x200, 0);
    maker_add_node(4, 3, 1, 0x10, 0);
    maker_add_node(5, 1, 0, 0x7f0000000000, 0);
    maker_add_sample(1, 2, 3, 0);
    maker_add_sample(1, 3, 4, 0);
    maker_add_sample(1, 4, 20, 0);
    maker_add_sample(1, 5, 9, 0);
    struct profile *profile = maker_load(NULL);
    struct nameless nameless;
    assert_int_equal(nameless_build(&nameless, profile), 0);
    assert_int_equal(nameless.function_count, 1);
    assert_string_equal(nameless.functions[0].name,
                        naming_symbol(profile, 4)->frames[0].function);
    assert_int_equal(nameless.functions[0].values[VALUE_SAMPLES], 7);
    assert_int_equal(nameless.functions[0].row, nameless.rows[0].number);
    nameless_release(&nameless);
    profile_free(profile);
}

/* Two frames of the C library start a thread, and one the program. They have
 * names of their part. */
static void
starts_have_names(void **state)
{
    (void)state;
    maker_name(0x10, "main", NULL);
    maker_name(0x20, "_start", NULL);
    maker_add_head();
    maker_add_module(3, "/lib/libc.so.6");
    maker_add_node(1, 0, 3, 0x100, 0);
    maker_add_node(2, 1, 3, 0x200, 0);
    maker_add_node(3, 2, 1, 0x10, 0);
    maker_add_node(4, 3, 3, 0x300, 0);
    maker_add_node(5, 0, 1, 0x20, 0);
    maker_add_node(6, 5, 3, 0x400, 0);
    maker_add_node(7, 6, 1, 0x10, 0);
    maker_add_sample(1, 3, 90, 0);
    maker_add_sample(1, 4, 7, 0);
    maker_add_sample(1, 2, 3, 0);
    maker_add_sample(1, 7, 1, 0);
    struct profile *profile = maker_load(NULL);
    struct nameless nameless;
    assert_int_equal(nameless_build(&nameless, profile), 0);
    assert_int_equal(nameless.count, 1);
    expect_row(&nameless.rows[0], 3, 1, 7);
    assert_string_equal(naming_symbol(profile, 3)->frames[0].function,
                        "(thread start)");
    assert_string_equal(naming_symbol(profile, 4)->frames[0].function,
                        "(thread start)");
    assert_string_equal(naming_symbol(profile, 8)->frames[0].function,
                        "(program start)");
    assert_false(naming_symbol(profile, 6)->named);
    nameless_release(&nameless);
    profile_free(profile);
}

/* Modules 3 and on, of 2 samples each, and module 2 with 1,000. */
static struct profile *
with_small_files(unsigned small, const char *path)
{
    maker_name(0x10, "main", NULL);
    maker_add_head();
    maker_add_node(1, 0, 2, 0x100, 0);
    maker_add_sample(1, 1, 1000, 0);
    for (uint32_t i = 0; i < small; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%u.so", path, i);
        maker_add_module(3 + i, name);
        maker_add_node(2 + i, i == 1 ? 2 : 0, 3 + i, 0x100, 0);
        maker_add_sample(1, 2 + i, 2, 0);
    }
    return maker_load(NULL);
}

/* A stack with two of them counts once in their sum. */
static void
small_files_are_summed(void **state)
{
    struct profile *profile = with_small_files(3, "/opt/lib");
    (void)state;
    struct nameless nameless;
    assert_int_equal(nameless_build(&nameless, profile), 0);
    assert_int_equal(nameless.count, 1);
    assert_int_equal(nameless.small, 3);
    expect_row(&nameless.rows[0], 2, 1, 1000);
    /* Of the first one, 2 samples and those that it called. */
    assert_int_equal(nameless.rows[1].values[VALUE_SAMPLES], 4);
    assert_int_equal(nameless.rest.places, 3);
    assert_int_equal(nameless.rest.values[VALUE_SAMPLES], 6);
    nameless_release(&nameless);
    profile_free(profile);
    /* A single one is shown as it is. */
    profile = with_small_files(1, "/opt/lib");
    assert_int_equal(nameless_build(&nameless, profile), 0);
    assert_int_equal(nameless.count, 2);
    assert_int_equal(nameless.small, 0);
    nameless_release(&nameless);
    profile_free(profile);
}

/* How often WORD is in TEXT. */
static unsigned
count_of(const char *text, const char *word)
{
    unsigned count = 0;
    while ((text = strstr(text, word)) != NULL) {
        text += strlen(word);
        count++;
    }
    return count;
}

/* What is printed of a profile whose small files lie at PATH. */
static char *
reported(const char *path)
{
    struct profile *profile = with_small_files(9, path);
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(nameless_report_write(stream, profile), 0);
    assert_int_equal(fclose(stream), 0);
    profile_free(profile);
    return text;
}

/* A hint is given once; no package is named for a file that no package has
 * installed. */
static void
a_hint_is_given_once(void **state)
{
    static const char *const alone[] = {
        "/home/me/venv/lib/python3.11/site-packages/numpy/core/x",
        "/usr/lib/python3/site-packages/numpy/core/x",
        "/usr/local/lib/x",
        "/opt/app/x",
    };
    char *text = reported("/usr/lib/x86_64-linux-gnu/x");
    (void)state;
    assert_int_equal(count_of(text, "dpkg -S"), 1);
    assert_int_equal(count_of(text, "no package"), 0);
    assert_int_equal(count_of(text, "/libx.so [1]\n"), 1);
    assert_int_equal(count_of(text, "  9 files, each with less than 0.5 % [1]"),
                     1);
    free(text);
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
        text = reported(alone[i]);
        assert_int_equal(count_of(text, "[2] no package"), 1);
        assert_int_equal(count_of(text, "9 files, each with less than 0.5 % "
                                        "[2]"),
                         1);
        free(text);
    }
}

static void
nothing_is_told_where_all_have_names(void **state)
{
    (void)state;
    maker_name(0x10, "main", NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_sample(1, 1, 3, 0);
    struct profile *profile = maker_load(NULL);
    struct nameless nameless;
    assert_int_equal(nameless_build(&nameless, profile), 0);
    assert_int_equal(nameless.count, 0);
    nameless_release(&nameless);
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(a_stack_counts_once_for_a_file),
        UNIT(functions_have_their_own_time),
        UNIT(generated_callers_are_advised),
        UNIT(starts_have_names),
        UNIT(small_files_are_summed),
        UNIT(a_hint_is_given_once),
        UNIT(nothing_is_told_where_all_have_names),
    };
    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
