/* SPDX-License-Identifier: MIT */
/*
 * folding_test.c -- which frames of an interpreter's own file are left out of a
 * stack, which stay, and what stands for a loop whose function is not known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/folding.h"
#include "model/naming.h"

#include "profile_maker.h"

/* Offsets of functions in the interpreter's file, module 1. */
enum { MAIN = 0x10, GLUE = 0x20, LOOP = 0x30, HELPER = 0x40, NAMELESS = 0x50 };

/* Offset of a function that a test names. */
enum { OTHER = 0x60 };

static void
name_interpreter(void)
{
    maker_name(MAIN, "main", NULL);
    maker_name(GLUE, "_PyObject_Call.constprop.0", NULL);
    maker_name(LOOP, "_PyEval_EvalFrameDefault", NULL);
    maker_name(HELPER, "list_sort", NULL);
    maker_add_head();
}

/* Script 1 is the function work of job.py. */
static void
add_script(void)
{
    maker_add_script(1, SCRIPT_PYTHON, "work", "job.py");
}

/* The stack of SAMPLE must be NAMES, from the leaf on, which end with NULL. */
static void
check_stack(struct profile *profile, uint32_t sample, const char *const *names)
{
    uint32_t node = profile->samples[sample].node;
    for (; *names != NULL; names++) {
        assert_int_not_equal(node, 0);
        assert_string_equal(naming_symbol(profile, node)->frames[0].function,
                            *names);
        node = profile->nodes[node].parent;
    }
    assert_int_equal(node, 0);
}

#define CHECK_STACK(profile, sample, ...) \
    check_stack(profile, sample, (const char *const[]){__VA_ARGS__, NULL})

/* Fold the spool at hand. Its first stack must be NAMES. */
static void
expect_stack(bool shows_native, const char *const *names)
{
    struct profile *profile = maker_load(NULL);
    profile->shows_native = shows_native;
    folding_apply(profile);
    check_stack(profile, 0, names);
    profile_free(profile);
}

#define EXPECT_STACK(shows_native, ...) \
    expect_stack(shows_native, (const char *const[]){__VA_ARGS__, NULL})

/* From the root: main, what enters the loop, the function, its loop, and what
 * that calls. */
static void
add_stack(void)
{
    name_interpreter();
    add_script();
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
    EXPECT_STACK(false, "list_sort", "job.work", "main");
}

/* Time in code of the interpreter that serves a function is the function's. */
static void
nameless_code_and_glue_are_the_functions_own(void **state)
{
    (void)state;
    name_interpreter();
    add_script();
    maker_add_node(1, 0, 1, MAIN, 0);
    maker_add_node(2, 1, 1, 7, NODE_SCRIPT);
    maker_add_node(3, 2, 1, LOOP, 0);
    maker_add_node(4, 3, 1, NAMELESS, 0);
    maker_add_node(5, 4, 1, GLUE, 0);
    maker_add_node(6, 5, 1, NAMELESS + 1, 0);
    maker_add_sample(1, 6, 1, 0);
    EXPECT_STACK(false, "job.work", "main");
}

static void
nameless_code_and_glue_are_the_native_functions_own(void **state)
{
    (void)state;
    add_stack();
    maker_add_node(7, 6, 1, NAMELESS, 0);
    maker_add_node(8, 7, 1, GLUE, 0);
    maker_add_sample(1, 8, 1, 0);
    struct profile *profile = maker_load(NULL);
    folding_apply(profile);
    CHECK_STACK(profile, 1, "list_sort", "job.work", "main");
    profile_free(profile);
}

/* Functions that enter the loop may be inlined in one that does not. */
static void
inlined_glue_is_left_out(void **state)
{
    (void)state;
    maker_name(OTHER, "builtin_map", "_PyObject_VectorcallTstate");
    add_stack();
    maker_add_node(7, 6, 1, OTHER, 0);
    maker_add_node(8, 7, 1, 7, NODE_SCRIPT);
    maker_add_node(9, 8, 1, LOOP, 0);
    maker_add_sample(1, 9, 1, 0);
    struct profile *profile = maker_load(NULL);
    folding_apply(profile);
    CHECK_STACK(profile, 1, "job.work", "builtin_map", "list_sort", "job.work",
                "main");
    uint32_t node = profile->nodes[profile->samples[1].node].parent;
    assert_int_equal(naming_symbol(profile, node)->count, 1);
    assert_ptr_equal(naming_symbol(profile, node),
                     naming_symbol(profile, node));
    assert_int_equal(naming_own_symbol(profile, node)->count, 2);
    profile_free(profile);
}

static void
nameless_code_that_another_file_calls_stays(void **state)
{
    (void)state;
    maker_name(OTHER, "c_make_encoder", NULL);
    add_stack();
    maker_add_node(7, 6, 2, OTHER, 0);
    maker_add_node(8, 7, 1, NAMELESS, 0);
    maker_add_sample(1, 8, 1, 0);
    struct profile *profile = maker_load(NULL);
    folding_apply(profile);
    CHECK_STACK(profile, 1, "?", "c_make_encoder", "list_sort", "job.work",
                "main");
    profile_free(profile);
}

/* It may start the interpreter. */
static void
nameless_code_that_serves_no_function_stays(void **state)
{
    (void)state;
    add_stack();
    maker_add_node(7, 1, 1, NAMELESS, 0);
    maker_add_sample(1, 7, 1, 0);
    struct profile *profile = maker_load(NULL);
    folding_apply(profile);
    CHECK_STACK(profile, 1, "?", "main");
    profile_free(profile);
}

static void
functions_of_the_interpreter_are_shown_alone(void **state)
{
    (void)state;
    add_stack();
    maker_add_node(7, 6, 1, 7, NODE_SCRIPT);
    maker_add_node(8, 7, 1, LOOP, 0);
    maker_add_node(9, 1, 1, HELPER, 0);
    maker_add_sample(1, 8, 1, 0);
    maker_add_node(10, 1, 1, LOOP, 0);
    maker_add_sample(1, 9, 1, 0);
    maker_add_sample(1, 10, 1, 0);
    struct profile *profile = maker_load(NULL);
    profile->shows_script = true;
    folding_apply(profile);
    CHECK_STACK(profile, 0, "job.work");
    CHECK_STACK(profile, 1, "job.work", "job.work");
    /* A stack without such a function is the usual one. */
    CHECK_STACK(profile, 2, "list_sort", "main");
    CHECK_STACK(profile, 3, "[python function, not known]", "main");
    profile_free(profile);
}

static void
all_stay_if_native_frames_are_asked_for(void **state)
{
    (void)state;
    add_stack();
    EXPECT_STACK(true, "list_sort", "_PyEval_EvalFrameDefault", "job.work", "?",
                 "_PyObject_Call.constprop.0", "main");
}

/* The outer loop runs a function of another greenlet: nothing shows which. */
static void
a_loop_of_an_unknown_function_is_marked(void **state)
{
    (void)state;
    name_interpreter();
    add_script();
    maker_add_node(1, 0, 1, MAIN, 0);
    maker_add_node(2, 1, 1, LOOP, 0);
    maker_add_node(3, 2, 1, HELPER, 0);
    maker_add_node(4, 3, 1, 7, NODE_SCRIPT);
    maker_add_node(5, 4, 1, LOOP, 0);
    maker_add_sample(1, 5, 1, 0);
    EXPECT_STACK(false, "job.work", "list_sort", "[python function, not known]",
                 "main");
}

/* The linker's stub is in front of the loop, and calls it for no function yet.
 */
static void
the_stub_of_the_loop_is_no_loop(void **state)
{
    (void)state;
    add_stack();
    maker_name(0x60, "_PyEval_EvalFrameDefault@plt", NULL);
    maker_add_node(7, 6, 1, 0x60, 0);
    maker_add_sample(1, 7, 1, 0);
    struct profile *profile = maker_load(NULL);
    folding_apply(profile);
    CHECK_STACK(profile, 1, "_PyEval_EvalFrameDefault@plt", "list_sort",
                "job.work", "main");
    profile_free(profile);
}

/* With -X perf each function has code of its own that enters the loop. */
static void
the_code_of_a_function_that_enters_the_loop_is_left_out(void **state)
{
    (void)state;
    name_interpreter();
    maker_name(0x60, "py_trampoline_evaluator", NULL);
    maker_name(0x70, "py::work:job.py", NULL);
    add_script();
    maker_add_node(1, 0, 1, MAIN, 0);
    maker_add_node(2, 1, 1, 0x60, 0);
    maker_add_node(3, 2, 1, 0x70, 0);
    maker_add_node(4, 3, 1, 7, NODE_SCRIPT);
    maker_add_node(5, 4, 1, LOOP, 0);
    maker_add_sample(1, 5, 1, 0);
    EXPECT_STACK(false, "job.work", "main");
}

/* The loop that such code has entered runs its function, also where that is not
 * known otherwise. */
static void
the_code_of_a_function_stands_for_it(void **state)
{
    (void)state;
    add_stack();
    maker_name(0x60, "py_trampoline_evaluator", NULL);
    maker_name(0x70, "py::work:job.py", NULL);
    maker_add_node(7, 6, 1, 0x60, 0);
    maker_add_node(8, 7, 1, 0x70, 0);
    maker_add_node(9, 8, 1, LOOP, 0);
    maker_add_sample(1, 9, 1, 0);
    struct profile *profile = maker_load(NULL);
    folding_apply(profile);
    CHECK_STACK(profile, 1, "py::work:job.py", "list_sort", "job.work", "main");
    profile_free(profile);
}

/* A function whose place is not known stands at the root. The frame beside it
 * is no loop for that. */
static void
a_function_without_a_place_folds_nothing(void **state)
{
    (void)state;
    name_interpreter();
    add_script();
    maker_add_node(1, 0, 1, 7, NODE_SCRIPT | NODE_UNPLACED);
    maker_add_node(2, 1, 1, HELPER, 0);
    maker_add_sample(1, 2, 1, 0);
    EXPECT_STACK(false, "list_sort", "job.work");
}

/* From the root: main, a function, its loop, a function without a name, the
 * collector at NAMELESS + 1, and a function that the collection calls. The file
 * says where COLLECTOR is. */
static void
add_collection(struct collector collector)
{
    maker_collector = collector;
    name_interpreter();
    add_script();
    maker_add_node(1, 0, 1, MAIN, 0);
    maker_add_node(2, 1, 1, 7, NODE_SCRIPT);
    maker_add_node(3, 2, 1, LOOP, 0);
    maker_add_node(4, 3, 1, NAMELESS, 0);
    maker_add_node(5, 4, 1, NAMELESS + 1, 0);
    maker_add_node(6, 5, 1, 7, NODE_SCRIPT);
    maker_add_node(7, 6, 1, LOOP, 0);
    maker_add_sample(1, 7, 1, 0);
}

static void
the_collector_is_known_by_its_place(void **state)
{
    (void)state;
    add_collection((struct collector){NAMELESS + 1, NAMELESS + 2});
    EXPECT_STACK(false, "job.work", "[garbage collection]", "job.work", "main");
}

static void
the_collector_stays_if_native_frames_are_asked_for(void **state)
{
    (void)state;
    add_collection((struct collector){NAMELESS + 1, NAMELESS + 2});
    EXPECT_STACK(true, "_PyEval_EvalFrameDefault", "job.work", "?", "?",
                 "_PyEval_EvalFrameDefault", "job.work", "main");
}

static void
a_collector_that_is_not_found_is_left_out(void **state)
{
    (void)state;
    add_collection((struct collector){0, 0});
    EXPECT_STACK(false, "job.work", "job.work", "main");
}

static void
the_collector_is_known_by_its_name(void **state)
{
    (void)state;
    maker_name(NAMELESS + 1, "gc_collect_main.isra.0", NULL);
    add_collection((struct collector){0, 0});
    EXPECT_STACK(false, "job.work", "[garbage collection]", "job.work", "main");
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
    EXPECT_STACK(false, "_PyEval_EvalFrameDefault", "main");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(loop_and_glue_are_left_out),
        UNIT(nameless_code_and_glue_are_the_functions_own),
        UNIT(nameless_code_and_glue_are_the_native_functions_own),
        UNIT(inlined_glue_is_left_out),
        UNIT(nameless_code_that_another_file_calls_stays),
        UNIT(nameless_code_that_serves_no_function_stays),
        UNIT(functions_of_the_interpreter_are_shown_alone),
        UNIT(all_stay_if_native_frames_are_asked_for),
        UNIT(a_loop_of_an_unknown_function_is_marked),
        UNIT(a_function_without_a_place_folds_nothing),
        UNIT(the_stub_of_the_loop_is_no_loop),
        UNIT(the_code_of_a_function_that_enters_the_loop_is_left_out),
        UNIT(the_code_of_a_function_stands_for_it),
        UNIT(the_collector_is_known_by_its_place),
        UNIT(the_collector_stays_if_native_frames_are_asked_for),
        UNIT(a_collector_that_is_not_found_is_left_out),
        UNIT(the_collector_is_known_by_its_name),
        UNIT(a_program_without_scripts_is_left_alone),
    };
    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
