/* SPDX-License-Identifier: MIT */
/* prune_test.c -- which functions drop_frames and keep_frames name, as Go's
 * regular expressions and profile/prune.go of google/pprof have it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "read/prune.h"

static bool
drops(const char *drop, const char *keep, const char *function)
{
    struct prune prune = {0};
    if (prune_begin(&prune, drop, keep) != 0)
        fail_msg("not understood: %s, %s", drop, keep);
    bool is_dropped = prune_is_dropped(&prune, function);
    prune_end(&prune);
    return is_dropped;
}

static void
expressions_match_as_in_go(void **state)
{
    static const struct {
        const char *drop, *yes, *no;
    } rows[] = {
        {"malloc", "malloc", "malloc_slow"},
        {"loc|malloc", "malloc", "mal"},
        {"a)|(b", "ax", "xa"},
        {"(?:m|c)alloc", "calloc", "alloc"},
        {"(?P<name>a)(?<other>b)", "ab", "a"},
        {"tc_.*?", "tc_new", "my_tc_new"},
        {"m+?x", "mx", "x"},
        {"a\\d{2}", "a12", "a1"},
        {"a{1,2}b{2,}", "abbb", "ab"},
        {"f{2", "f{2", "ff"},
        {"f\\{2\\}", "f{2}", "ff"},
        {"x\\.y", "x.y", "x+y"},
        {"[\\]\\w.-]+", "a].b-1", "a+"},
        {"[[:digit:][]+", "1[", "a"},
        {"[^\\d]", "a", "1"},
        {"\\w\\D\\\\", "ab\\", "a1\\"},
        {"\\<a", "<a", "a"},
        {"runtime\\..*", "runtime.mallocgc", "runtime"},
        {"operator new(\\[\\])?", "operator new[](unsigned long)",
         "operator new_"},
        {"\\(anonymous namespace\\)::f", "(anonymous namespace)::f(int)",
         "(anonymous namespace)::g(int)"},
        {"S::operator\\(\\)", "S::operator()(int) const", "S::operator(int)"},
        {"f", ".f", "..f"},
        {".*", "f", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!drops(rows[i].drop, "", rows[i].yes))
            fail_msg("%s stays: %s", rows[i].yes, rows[i].drop);
        if (drops(rows[i].drop, "", rows[i].no))
            fail_msg("%s is dropped: %s", rows[i].no, rows[i].drop);
    }
}

static void
kept_functions_are_not_dropped(void **state)
{
    (void)state;
    assert_true(drops("mal.*", "malloc", "malloc_slow"));
    assert_false(drops("mal.*", "malloc", "malloc"));
    assert_false(drops("mal.*", "malloc", "malloc(unsigned long)"));
    assert_false(drops("", "malloc", "malloc"));
}

/* Nothing is dropped then. */
static void
what_is_not_understood_is_refused(void **state)
{
    static const char *const expressions[] = {
        "(",
        "a)",
        "[a",
        "*a",
        "a**",
        "(?i)a",
        "(?P<a",
        "a\\1",
        "\\Qa\\E",
        "\\pL",
        "a\\",
        "[[:word",
        "[[:^alpha:]]",
        "((x{100}){100}){100}",
        "x{1000000000000000000000}",
        /* 21 parentheses in one another */
        "(((((((((((((((((((((a*)*)*)*)*)*)*)*)*)*)*)*)*)*)*)*)*)*)*)*)*)*",
    };
    (void)state;
    for (size_t i = 0; i < sizeof expressions / sizeof expressions[0]; i++) {
        struct prune prune = {0};
        if (prune_begin(&prune, expressions[i], "") == 0)
            fail_msg("understood: %s", expressions[i]);
        assert_false(prune_is_dropped(&prune, "a"));
        prune_end(&prune);
        struct prune kept = {0};
        assert_int_equal(prune_begin(&kept, "a", expressions[i]), -1);
        assert_false(prune_is_dropped(&kept, "a"));
        prune_end(&kept);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_match_as_in_go),
        cmocka_unit_test(kept_functions_are_not_dropped),
        cmocka_unit_test(what_is_not_understood_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
