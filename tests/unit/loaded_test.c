/* SPDX-License-Identifier: MIT */
/*
 * loaded_test.c -- what a dlclose of this process takes away has a number and
 * its place, and nothing else has: around dlclose the test does what the hook
 * does.
 */
#include <dlfcn.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/loaded.h"
#include "libc/real.h"
#include "process/unloads.h"

/* A library that is loaded, and the address of its function. */
struct library {
    void *handle;
    uint64_t place;
};

static struct library
load(const char *name)
{
    const char *build = getenv("SPROF_BUILD");
    char path[PATH_MAX], function[64];
    struct library library;

    snprintf(path, PATH_MAX, "%s/tests/workload/same_place_%s.so",
             build != NULL ? build : "build", name);
    snprintf(function, sizeof(function), "%s_compute", name);
    library.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library.handle);
    library.place = (uint64_t)dlsym(library.handle, function);
    assert_int_not_equal(library.place, 0);
    return library;
}

static void
unload(const struct library *library)
{
    loaded_before_close();
    assert_true(unloads_are_open());
    assert_false(unloads_are_open_elsewhere());
    dlclose(library->handle);
    loaded_after_close();
    assert_false(unloads_are_open());
}

static bool
took(uint64_t place, uint32_t after)
{
    return unloads_took(place, place + 1, after, unloads_last());
}

static void
what_is_unloaded_has_its_place(void **state)
{
    (void)state;
    struct library one = load("one");
    uint32_t before = unloads_last();
    unload(&one);
    assert_int_equal(unloads_last(), before + 1);
    assert_true(took(one.place, before));
    assert_false(took((uint64_t)printf, before));
    assert_false(took((uint64_t)load, before));
    assert_false(took(one.place, before + 1));
}

/* The loader counts how often a library was opened. */
static void
what_stays_loaded_is_not_unloaded(void **state)
{
    (void)state;
    struct library one = load("one"), same = load("one");
    uint32_t before = unloads_last();
    unload(&one);
    assert_int_equal(unloads_last(), before);
    unload(&same);
    assert_int_equal(unloads_last(), before + 1);
}

static void
the_next_one_at_its_place_is_another(void **state)
{
    (void)state;
    struct library one = load("one");
    unload(&one);
    struct library two = load("two");
    if (two.place != one.place)
        skip();
    uint32_t before = unloads_last();
    assert_false(took(two.place, before));
    unload(&two);
    assert_true(took(two.place, before));
}

/* libc itself loads and unloads without a hook, and what comes then may lie at
 * the same place. */
static void
what_was_unloaded_unseen_is_in_doubt(void **state)
{
    (void)state;
    struct library one = load("one"), two = load("two");
    unload(&two);
    uint32_t before = unloads_last();
    uint64_t place = one.place;
    dlclose(one.handle);
    one = load("one");
    if (one.place != place)
        skip();
    two = load("two");
    unload(&two);
    assert_true(took(place, before));
    assert_false(took((uint64_t)printf, before));
    unload(&one);
}

static void
an_old_unload_may_be_any(void **state)
{
    uint32_t before = unloads_last();

    (void)state;
    for (unsigned i = 0; i < 100; i++)
        unloads_note(4096, 8192);
    assert_false(took((uint64_t)load, before));
    assert_true(took(4096, before));
    assert_false(took(8192, before));
    for (unsigned i = 0; i < 1000; i++)
        unloads_note(4096, 8192);
    assert_true(took((uint64_t)load, before));
    assert_false(took((uint64_t)load, unloads_last() - 100));
}

static int
begin(void **state)
{
    (void)state;
    real_begin();
    loaded_begin();
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_unloaded_has_its_place),
        cmocka_unit_test(what_stays_loaded_is_not_unloaded),
        cmocka_unit_test(the_next_one_at_its_place_is_another),
        cmocka_unit_test(what_was_unloaded_unseen_is_in_doubt),
        cmocka_unit_test(an_old_unload_may_be_any),
    };

    return cmocka_run_group_tests_name("loaded", tests, begin, NULL);
}
