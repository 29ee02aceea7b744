/* SPDX-License-Identifier: MIT */
/* Which setting is meant by a variable that is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/nearest.h"
#include "base/options.h"

static void
expect(const char *variable, const char *meant)
{
    assert_string_equal(options_nearest(variable), meant);
}

static void
names_that_people_type(void **state)
{
    (void)state;
    expect("SPROF_FREQ=100", "SPROF_FREQUENCY");
    expect("SPROF_FREQUENZY=100", "SPROF_FREQUENCY");
    expect("SPROF_FERQUENCY=100", "SPROF_FREQUENCY");
    expect("SPROF_frequency=100", "SPROF_FREQUENCY");
    expect("SPROF_HZ=100", "SPROF_FREQUENCY");
    expect("SPROF_RATE=100", "SPROF_FREQUENCY");
    expect("SPROF_OUT=x", "SPROF_OUTPUT");
    expect("SPROF_OUTPUTS=x", "SPROF_OUTPUT");
    expect("SPROF_OUTPUT_FILE=x", "SPROF_OUTPUT");
    expect("SPROF_DEPTH=3", "SPROF_MAX_DEPTH");
    expect("SPROF_MAXDEPTH=3", "SPROF_MAX_DEPTH");
    expect("SPROF_MAXSIZE=3", "SPROF_MAX_SIZE");
    expect("SPROF_TRIGER=perf", "SPROF_TRIGGER");
    expect("SPROF_INLINE=0", "SPROF_INLINES");
    expect("SPROF_SYMBOLISE=off", "SPROF_SYMBOLIZE");
    expect("SPROF_KEEPSPOOL=1", "SPROF_KEEP_SPOOL");
    expect("SPROF_DURATON=1", "SPROF_DURATION");
}

/* Every setting with a letter left out, doubled or swapped is that setting. */
static void
one_wrong_letter_is_forgiven(void **state)
{
    (void)state;
    for (unsigned i = 0; i < option_row_count; i++) {
        const char *name = option_rows[i].variable;
        size_t length = strlen(name);
        char typed[128];

        for (size_t at = sizeof("SPROF_"); at + 1 < length; at++) {
            snprintf(typed, sizeof typed, "%.*s%s=1", (int)at, name,
                     name + at + 1);
            expect(typed, name);
            snprintf(typed, sizeof typed, "%.*s%s=1", (int)at + 1, name,
                     name + at);
            if (strcmp(typed, name) != 0)
                expect(typed, name);
            snprintf(typed, sizeof typed, "%.*s%c%c%s=1", (int)at, name,
                     name[at + 1], name[at], name + at + 2);
            expect(typed, name);
        }
    }
}

static void
any_name_has_an_answer(void **state)
{
    char typed[4096 + 16] = "SPROF_";

    (void)state;
    memset(typed + 6, 'X', 4096);
    strcpy(typed + 6 + 4096, "=1");
    assert_non_null(options_nearest(typed));
    assert_non_null(options_nearest("SPROF_="));
    assert_non_null(options_nearest("SPROF_?=1"));
}

static void
only_what_is_unknown(void **state)
{
    char *const environment[] = {"PATH=/bin",       "SPROF_OUTPUT=x",
                                 "SPROF_OUTPUTX=x", "SPROF_PAGER=less",
                                 "XSPROF_A=1",      "SPROF_NO_VALUE",
                                 "SPROF_=1",        NULL};
    char *const *at = environment;

    (void)state;
    assert_string_equal(options_unknown(&at), "SPROF_OUTPUTX=x");
    assert_string_equal(options_unknown(&at), "SPROF_=1");
    assert_null(options_unknown(&at));
    assert_null(options_unknown(&at));
}

static void
a_typo_costs_less_than_another_word(void **state)
{
    (void)state;
    assert_int_equal(nearest_cost("Report", "report"), 0);
    assert_true(nearest_cost("recrod", "record") <= NEAREST_TYPO);
    assert_true(nearest_cost("reprot", "report") <
                nearest_cost("reprot", "record"));
    assert_true(nearest_cost("frobnicate", "report") > NEAREST_TYPO);
    assert_true(nearest_cost("", "top") > 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_people_type),
        cmocka_unit_test(one_wrong_letter_is_forgiven),
        cmocka_unit_test(any_name_has_an_answer),
        cmocka_unit_test(only_what_is_unknown),
        cmocka_unit_test(a_typo_costs_less_than_another_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
