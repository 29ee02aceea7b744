/* SPDX-License-Identifier: MIT */
/*
 * spool_copy_test.c -- spools with their names: copied whole, read again
 * without the files that had the names, several in one.
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

#include "model/folding.h"
#include "model/naming.h"
#include "read/load.h"
#include "write/output_file.h"

#include "profile_maker.h"

/* A text of our own; names; waits; an inlined frame; a process that ended. */
static void
make_spool(uint64_t cpu)
{
    maker_add_head();
    maker_add_text(7, "pipe:[7]");
    maker_add_node(1, 0, 1, 0x11, NODE_RETURN);
    maker_add_node(2, 1, 1, 0x20, 0);
    maker_add_node(3, 0, 0, CUT_NO_RULE, NODE_TRUNCATED);
    maker_add_node(4, 3, 2, 0x10, 0);
    maker_add_sample(1, 2, 3, 0);
    maker_add_sample(2, 2, 1, 0);
    maker_add_sample(2, 4, 4, 202);
    maker_add_end(1, 9000000, cpu, THREAD_END_EXACT);
    maker_add_counts(20000000);
    maker_add_rate();
}

static void
name_places(void)
{
    maker_name(0x10, "main", NULL);
    maker_name(0x20, "parse", "token");
}

static char *
written(int (*write)(FILE *, struct profile *), struct profile *profile,
        size_t *length)
{
    char *bytes = NULL;
    FILE *stream = open_memstream(&bytes, length);

    assert_non_null(stream);
    assert_int_equal(write(stream, profile), 0);
    assert_int_equal(fclose(stream), 0);
    return bytes;
}

/* PROFILE written as a spool and read again says the same, though the names
 * are forgotten meanwhile. */
static void
comes_back(struct profile *profile)
{
    const struct symbolizer_options options = {.inlines = true};
    struct profile *again = profile_new(&options);
    size_t length, folded_length, again_length;
    char *bytes = written(spool_copy_write, profile, &length);
    char *folded = written(folded_write, profile, &folded_length), *other;
    char error[512];

    maker_name_count = 0;
    assert_non_null(strstr(folded, "main;parse;token"));
    assert_int_equal(load_memory(again, bytes, length, "again", error,
                                 sizeof error),
                     0);
    assert_string_equal(error, "");
    folding_apply(again);
    other = written(folded_write, again, &again_length);
    assert_string_equal(other, folded);
    assert_int_equal(again->process_count, profile->process_count);
    assert_int_equal(again->sample_count, profile->sample_count);
    assert_int_equal(again->problems, 0);
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        assert_int_equal(again->totals[i], profile->totals[i]);
    for (uint32_t i = 0; i < again->process_count; i++) {
        assert_int_equal(again->processes[i].start,
                         profile->processes[i].start);
        assert_int_equal(again->processes[i].pid, profile->processes[i].pid);
    }
    const struct rate *rate = &profile->cost.rate;
    assert_memory_equal(again->cost.rate.due, rate->due, sizeof rate->due);
    assert_in_range(again->cost.rate.cpu, rate->cpu - rate->cpu / 10000,
                    rate->cpu + rate->cpu / 10000);
    assert_int_equal(profile_module_names(again, 1),
                     profile_module_names(profile, 1));
    free(bytes);
    free(folded);
    free(other);
    profile_free(again);
    profile_free(profile);
}

static void
one_process_comes_back_as_it_was(void **state)
{
    (void)state;
    name_places();
    make_spool(5000000);
    comes_back(maker_load(NULL));
}

static void
several_processes_come_back_as_they_were(void **state)
{
    struct profile *profile = NULL;

    (void)state;
    name_places();
    for (unsigned i = 0; i < 3; i++) {
        make_spool(5000000 + i);
        profile = maker_load(profile);
    }
    comes_back(profile);
}

/* What was read from memory or from another format has no records to copy: they
 * are made from the model, CPU time without a sample among them. */
static void
a_profile_without_a_spool_becomes_one(void **state)
{
    struct profile *profile = NULL;
    unsigned unseen = 0;

    (void)state;
    name_places();
    for (unsigned i = 0; i < 2; i++) {
        make_spool(5000000 + i);
        maker_add_thread(9, 4719, "unseen");
        maker_add_end(9, 9000000, 15000000, THREAD_END_EXACT);
        profile = maker_load(profile);
    }
    for (uint32_t i = 0; i < profile->sample_count; i++)
        unseen += profile->samples[i].node == PROFILE_NOT_SAMPLED;
    assert_true(unseen > 0);
    profile->processes[0].spool = NULL;
    /* As of two rates, whose average is no whole number. */
    profile->cost.rate.due[LIMIT_MERGED] += 1333;
    comes_back(profile);
}

/* What an interpreter has for its own functions is left out of a profile, and
 * comes back neither as frames nor among inlined functions. Code that collects
 * garbage is called so, though no loop tells that its file has an
 * interpreter. */
static void
stacks_that_are_folded_stay_so(void **state)
{
    (void)state;
    name_places();
    maker_name(0x30, "_PyEval_EvalFrameDefault", NULL);
    maker_name(0x40, "builtin_map", "_PyObject_VectorcallTstate");
    maker_name(0x50, "gc_collect_main", NULL);
    make_spool(5000000);
    maker_add_script(1, SCRIPT_PYTHON, "work", "job.py");
    maker_add_node(5, 1, 1, 7, NODE_SCRIPT);
    maker_add_node(6, 5, 1, 0x30, 0);
    maker_add_node(7, 6, 1, 0x40, 0);
    maker_add_node(8, 7, 1, 0x50, 0);
    maker_add_sample(1, 8, 1, 0);
    struct profile *profile = maker_load(NULL);
    folding_apply(profile);
    profile->processes[0].spool = NULL;
    size_t length;
    char *folded = written(folded_write, profile, &length);
    assert_non_null(
        strstr(folded, "main;job.work;builtin_map;[garbage collection]"));
    free(folded);
    comes_back(profile);
}

/* Symbols that lack frames or texts, names for what is not there. */
static void
what_makes_no_sense(void **state)
{
    const struct record_symbol symbols[] = {
        {.id = 2, .count = 1},      {.id = 1},
        {.id = 1, .count = 100000}, {.id = 1, .count = 1, .function = 9},
        {.id = 1, .count = 2},      {.id = 1, .count = 3},
        {.id = 2, .count = 1},
    };
    const struct record_named names[] = {
        {.node = 1, .symbol = 1}, {.node = 1, .symbol = 2},
        {.node = 9, .symbol = 1}, {.symbol = 1},
        {.node = 3, .symbol = 1}, {.node = 1},
    };
    struct profile *profile;
    const struct symbolizer_options options = {.inlines = true};
    char error[512];

    (void)state;
    make_spool(1);
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        maker_append(RECORD_SYMBOL, &symbols[i], sizeof symbols[i], NULL, 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        maker_append(RECORD_NAMED, &names[i], sizeof names[i], NULL, 0);
    profile = profile_new(&options);
    assert_int_equal(load_file(profile, maker_finish(), error, sizeof error),
                     0);
    assert_int_equal(profile->problems, 6 + 6);
    assert_string_equal(
        naming_symbol(profile, PROFILE_NOT_SAMPLED + 1)->frames[0].function,
        "?");
    profile_free(profile);
}

/* A spool that sprofile made is cut anywhere, also between two records. The
 * reader says so, or refuses it. */
static void
a_spool_may_be_cut_anywhere(void **state)
{
    const struct symbolizer_options options = {.inlines = true};
    struct profile *profile;
    char *bytes, error[512];
    size_t length;

    (void)state;
    name_places();
    make_spool(5000000);
    profile = maker_load(NULL);
    bytes = written(spool_copy_write, profile, &length);
    assert_true(length > 1000);
    for (size_t end = 0; end < length; end += 8) {
        struct profile *again = profile_new(&options);

        error[0] = '\0';
        (void)load_memory(again, bytes, end, "cut", error, sizeof error);
        if (error[0] == '\0')
            fail_msg("cut at byte %zu of %zu, and nothing is told", end,
                     length);
        profile_free(again);
    }
    free(bytes);
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        UNIT(one_process_comes_back_as_it_was),
        UNIT(several_processes_come_back_as_they_were),
        UNIT(a_profile_without_a_spool_becomes_one),
        UNIT(stacks_that_are_folded_stay_so),
        UNIT(what_makes_no_sense),
        UNIT(a_spool_may_be_cut_anywhere),
    };

    return cmocka_run_group_tests(units, maker_begin, maker_end);
}
