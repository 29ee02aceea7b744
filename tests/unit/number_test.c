/* SPDX-License-Identifier: MIT */
/* number_test.c -- hexadecimal text: it ends at the first characters that are
 * no pair of digits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/number.h"

static void
bytes_are_pairs_of_digits(void **state)
{
    static const struct {
        char text[8];
        size_t length;
    } cases[] = {
        {"", 0},   {"0aFf", 2}, {"0a1", 1},  {"0a1\0z", 1}, {"0a 1", 1},
        {"+1", 0}, {"0a-1", 1}, {"0a0x", 1}, {"0a\0b", 1},  {"0a0b0c", 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[2] = {0};
        assert_int_equal(number_bytes(cases[i].text, bytes, sizeof bytes),
                         cases[i].length);
        assert_int_equal(bytes[0], cases[i].length > 0 ? 0x0a : 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_pairs_of_digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
