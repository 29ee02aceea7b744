/* SPDX-License-Identifier: MIT */
/*
 * script_pprof_test.c -- functions of interpreters come back from a pprof file
 * as such: a mapping of no addresses has their language.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/folding.h"
#include "model/naming.h"
#include "read/pprof.h"
#include "write/output_file.h"
#include "write/pprof.h"

#include "profile_maker.h"

/* What a pprof file of PROFILE is read as. */
static struct profile *
written_and_read(struct profile *profile)
{
    const struct symbolizer_options options = {.inlines = true};
    struct profile *back = profile_new(&options);
    const char *wrong;
    char *bytes = NULL;
    size_t length;
    FILE *stream = open_memstream(&bytes, &length);
    assert_non_null(back);
    assert_non_null(stream);
    assert_int_equal(pprof_write(stream, profile), 0);
    assert_int_equal(fclose(stream), 0);
    assert_true(pprof_read(back, (uint8_t *)bytes, length, &wrong) >= 0);
    maker_expect_sums(back);
    free(bytes);
    return back;
}

/* main calls work of job.py, which calls list_sort; and sum of shop.php. */
static struct profile *
example(void)
{
    maker_name(0x10, "main", NULL);
    maker_name(0x20, "list_sort", NULL);
    maker_add_head();
    maker_add_script(1, SCRIPT_PYTHON, "work", "job.py");
    maker_add_script(2, SCRIPT_PHP, "sum", "shop.php");
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_node(2, 1, 1, 7, NODE_SCRIPT);
    maker_add_node(3, 2, 1, 0x20, 0);
    maker_add_node(4, 1, 2, 7, NODE_SCRIPT);
    maker_add_sample(1, 3, 3, 0);
    maker_add_sample(1, 4, 2, 0);
    return maker_load(NULL);
}

/* The second writing must have the same as the first. */
static void
languages_come_back(void **state)
{
    (void)state;
    struct profile *first = example();
    struct profile *second = written_and_read(first);
    struct profile *third = written_and_read(second);
    uint32_t leaf = third->samples[0].node, php = third->samples[1].node;
    uint32_t work = third->nodes[leaf].parent;
    assert_true(third->has_scripts);
    assert_string_equal(profile_node_module(third, leaf), "app");
    assert_string_equal(profile_node_module(third, work), "Python");
    assert_string_equal(profile_node_module(third, php), "PHP");
    assert_int_equal(third->nodes[php].module, 0);
    assert_int_equal(third->module_count, first->module_count);
    profile_free(third);
    profile_free(second);
    profile_free(first);
}

/* Stacks of a pprof file were folded before. What a function calls there is no
 * loop of the interpreter. */
static void
stacks_are_not_folded_again(void **state)
{
    (void)state;
    struct profile *first = example();
    struct profile *back = written_and_read(first);
    uint32_t leaf = back->samples[0].node;
    folding_apply(back);
    assert_int_equal(back->samples[0].node, leaf);
    assert_string_equal(naming_symbol(back, leaf)->frames[0].function,
                        "list_sort");
    profile_free(back);
    profile_free(first);
}

/* The file of a series says nothing of its process, and its only mapping is
 * that of a language. */
static void
a_language_is_no_program(void **state)
{
    (void)state;
    maker_add_process(4711, "/usr/bin/python3");
    maker_add_thread(1, 4711, "main");
    maker_add_script(1, SCRIPT_PYTHON, "work", "job.py");
    maker_add_node(1, 0, 0, 7, NODE_SCRIPT);
    maker_add_sample(1, 1, 3, 0);
    struct profile *profile = maker_load(NULL);
    const struct symbolizer_options options = {.inlines = true};
    struct profile *back = profile_new(&options);
    char *bytes = NULL;
    size_t length;
    FILE *stream = open_memstream(&bytes, &length);
    const char *wrong;
    assert_int_equal(pprof_write_series(stream, profile, VALUE_CPU,
                                        profile->samples,
                                        profile->sample_count),
                     0);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(pprof_read(back, (uint8_t *)bytes, length, &wrong), 0);
    assert_string_equal(profile_node_module(back, back->samples[0].node),
                        PROFILE_PYTHON);
    assert_string_equal(back->processes[0].exe, "");
    free(bytes);
    profile_free(back);
    profile_free(profile);
}

static void
functions_of_interpreters_are_shown_alone(void **state)
{
    (void)state;
    struct profile *first = example();
    struct profile *back = written_and_read(first);
    uint32_t work = back->nodes[back->samples[0].node].parent;
    back->shows_script = true;
    folding_apply(back);
    assert_int_equal(back->samples[0].node, work);
    assert_int_equal(back->nodes[work].parent, 0);
    profile_free(back);
    profile_free(first);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(languages_come_back),
        UNIT(stacks_are_not_folded_again),
        UNIT(a_language_is_no_program),
        UNIT(functions_of_interpreters_are_shown_alone),
    };
    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
