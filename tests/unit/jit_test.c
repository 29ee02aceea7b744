/* SPDX-License-Identifier: MIT */
/* jit_test.c -- what `sprofile record --jit` makes of variables that are set.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/record/jit.h"

static const struct jit_variable list = {"LIST", "--one --two=2", "none"};
static const struct jit_variable value = {"VALUE", "1", "none"};

static void
expect_made(const struct jit_variable *variable, const char *old,
            const char *expected)
{
    char *made = jit_value(variable, old);
    assert_string_equal(made, expected);
    free(made);
}

static void
options_of_the_user_stay(void **state)
{
    (void)state;
    expect_made(&list, NULL, "--one --two=2");
    expect_made(&list, "", "--one --two=2");
    expect_made(&list, "--user 'a b'", "--user 'a b' --one --two=2");
    expect_made(&list, "--two=2 \t--ones", "--two=2 \t--ones --one");
    expect_made(&list, "--two=2 --one", "--two=2 --one");
    expect_made(&list, "--two=22 x--one", "--two=22 x--one --one --two=2");
}

static void
a_value_of_the_user_stays(void **state)
{
    (void)state;
    expect_made(&value, NULL, "1");
    expect_made(&value, "", "1");
    expect_made(&value, "0", "0");
}

/* Made twice, a value is the same: a recording may start another one. */
static void
values_are_made_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < jit_variable_count; i++) {
        char *once = jit_value(&jit_variables[i], NULL);
        assert_string_equal(once, jit_variables[i].words);
        expect_made(&jit_variables[i], once, once);
        free(once);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_the_user_stay),
        cmocka_unit_test(a_value_of_the_user_stays),
        cmocka_unit_test(values_are_made_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
