/* SPDX-License-Identifier: MIT */
/*
 * folding_test.c -- which frames of an interpreter's own file are left out of a
 * stack, which stay, and what stands for a loop whose function is not known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/folding.h"
#include "model/naming.h"

#include "profile_maker.h"

/* Offsets of functions in the interpreter's file, module 1. */
enum { MAIN = 0x10, GLUE = 0x20, LOOP = 0x30, HELPER = 0x40, NAMELESS = 0x50 };

static void
name_interpreter(void)
{
    maker_name(MAIN, "main", NULL);
    maker_name(GLUE, "_PyObject_Call.constprop.0", NULL);
    maker_name(LOOP, "_PyEval_EvalFrameDefault", NULL);
    maker_name(HELPER, "list_sort", NULL);
    maker_add_head();
}

/* Script 1 is the function NAME of job.py. */
static void
add_script(const char *name)
{
    const struct record_script record = {.id = 1,
                                         .language = SCRIPT_PYTHON,
                                         .lines = SCRIPT_NUMBERS,
                                         .first_line = 1,
                                         .name_length =
                                             (uint16_t)(strlen(name) + 1),
                                         .file_length = sizeof("job.py")};
    const struct writer_tail tail[] = {{name, strlen(name) + 1},
                                       {"job.py", sizeof("job.py")}};
    maker_append(RECORD_SCRIPT, &record, sizeof(record), tail, 2);
}

/* Of PROFILE's only sample frame I, from the leaf on, is the function NAME. */
static void
expect_frame(struct profile *profile, unsigned i, const char *name)
{
    uint32_t node = profile->samples[0].node;
    while (i-- != 0)
        node = profile->nodes[node].parent;
    assert_int_not_equal(node, 0);
    assert_string_equal(naming_symbol(profile, node)->frames[0].function, name);
}

static void
expect_depth(const struct profile *profile, unsigned depth)
{
    unsigned count = 0;
    for (uint32_t node = profile->samples[0].node; node != 0;
         node = profile->nodes[node].parent)
        count++;
    assert_int_equal(count, depth);
}

/* From the root: main, what enters the loop, the function, its loop, and what
 * that calls. */
static void
add_stack(void)
{
    name_interpreter();
    add_script("work");
    maker_add_node(1, 0, 1, MAIN, 0);
    maker_add_node(2, 1, 1, GLUE, 0);
    maker_add_node(3, 2, 1, NAMELESS, 0);
    maker_add_node(4, 3, 1, 7, NODE_SCRIPT);
    maker_add_node(5, 4, 1, LOOP, 0);
    maker_add_node(6, 5, 1, HELPER, 0);
    maker_add_sample(1, 6, 1, 0);
}

static void
loop_and_glue_are_left_out(void **state)
{
    (void)state;
    add_stack();
    struct profile *profile = maker_load(NULL);
    folding_apply(profile);
    expect_frame(profile, 0, "list_sort");
    expect_frame(profile, 1, "job.work");
    expect_frame(profile, 2, "main");
    expect_depth(profile, 3);
    profile_free(profile);
}

static void
all_stay_if_native_frames_are_asked_for(void **state)
{
    (void)state;
    add_stack();
    struct profile *profile = maker_load(NULL);
    profile->shows_native = true;
    folding_apply(profile);
    expect_frame(profile, 1, "_PyEval_EvalFrameDefault");
    expect_depth(profile, 6);
    profile_free(profile);
}

/* The outer loop runs a function of another greenlet: nothing tells which. */
static void
a_loop_of_an_unknown_function_is_marked(void **state)
{
    (void)state;
    name_interpreter();
    add_script("work");
    maker_add_node(1, 0, 1, MAIN, 0);
    maker_add_node(2, 1, 1, LOOP, 0);
    maker_add_node(3, 2, 1, HELPER, 0);
    maker_add_node(4, 3, 1, 7, NODE_SCRIPT);
    maker_add_node(5, 4, 1, LOOP, 0);
    maker_add_sample(1, 5, 1, 0);
    struct profile *profile = maker_load(NULL);
    folding_apply(profile);
    expect_frame(profile, 0, "job.work");
    expect_frame(profile, 1, "list_sort");
    expect_frame(profile, 2, "[python function, not known]");
    expect_frame(profile, 3, "main");
    expect_depth(profile, 4);
    profile_free(profile);
}

/* A function whose place is not known stands at the root. The frame beside it
 * is no loop for that. */
static void
a_function_without_a_place_folds_nothing(void **state)
{
    (void)state;
    name_interpreter();
    add_script("work");
    maker_add_node(1, 0, 1, 7, NODE_SCRIPT | NODE_UNPLACED);
    maker_add_node(2, 1, 1, HELPER, 0);
    maker_add_sample(1, 2, 1, 0);
    struct profile *profile = maker_load(NULL);
    folding_apply(profile);
    expect_frame(profile, 0, "list_sort");
    expect_depth(profile, 2);
    profile_free(profile);
}

/* Without functions of an interpreter a program may call such functions. */
static void
a_program_without_scripts_is_left_alone(void **state)
{
    (void)state;
    name_interpreter();
    maker_add_node(1, 0, 1, MAIN, 0);
    maker_add_node(2, 1, 1, LOOP, 0);
    maker_add_sample(1, 2, 1, 0);
    struct profile *profile = maker_load(NULL);
    folding_apply(profile);
    expect_frame(profile, 0, "_PyEval_EvalFrameDefault");
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(loop_and_glue_are_left_out),
        UNIT(all_stay_if_native_frames_are_asked_for),
        UNIT(a_loop_of_an_unknown_function_is_marked),
        UNIT(a_function_without_a_place_folds_nothing),
        UNIT(a_program_without_scripts_is_left_alone),
    };
    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
