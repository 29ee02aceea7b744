/* SPDX-License-Identifier: MIT */
/*
 * python_lines_test.c -- line tables of Python's code, as the compilers of
 * CPython 3.9, 3.10 and 3.11 write them, and such tables cut anywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/python_lines.h"
#include "symbol/python_names.h"

/* The line of the byte OFFSET in a TABLE (an array) that begins in line 10. */
#define LINE(form, table, offset) \
    python_lines_at(form, table, sizeof(table), 10, offset)

/* 6 bytes in line 11, 4 in line 13, 2 in line 12. */
static void
lnotab_goes_forward_and_back(void **state)
{
    static const uint8_t table[] = {0, 1, 6, 2, 4, 0xff};
    (void)state;
    assert_int_equal(LINE(SCRIPT_LNOTAB, table, 0), 11);
    assert_int_equal(LINE(SCRIPT_LNOTAB, table, 5), 11);
    assert_int_equal(LINE(SCRIPT_LNOTAB, table, 6), 13);
    assert_int_equal(LINE(SCRIPT_LNOTAB, table, 9), 13);
    assert_int_equal(LINE(SCRIPT_LNOTAB, table, 10), 12);
}

/* 4 bytes in line 11, 2 without a line, 2 in line 9. */
static void
lines_of_310_may_be_missing(void **state)
{
    static const uint8_t table[] = {4, 1, 2, 0x80, 2, 0xfe};
    (void)state;
    assert_int_equal(LINE(SCRIPT_LINES_310, table, 3), 11);
    assert_int_equal(LINE(SCRIPT_LINES_310, table, 4), 0);
    assert_int_equal(LINE(SCRIPT_LINES_310, table, 6), 9);
    assert_int_equal(LINE(SCRIPT_LINES_310, table, 8), 0);
}

/* The entries: short form, 2 units; one line further, 1 unit; no columns, 70
 * lines back, 1 unit; long form, 3 lines further; no location. */
static void
locations_have_many_forms(void **state)
{
    static const uint8_t table[] = {0x80 | 3 << 3 | 1,
                                    0x12,
                                    0x80 | 11 << 3,
                                    1,
                                    2,
                                    0x80 | 13 << 3,
                                    0x4d,
                                    0x02,
                                    0x80 | 14 << 3,
                                    6,
                                    0,
                                    1,
                                    1,
                                    0x80 | 15 << 3};
    (void)state;
    assert_int_equal(LINE(SCRIPT_LOCATIONS, table, 0), 10);
    assert_int_equal(LINE(SCRIPT_LOCATIONS, table, 3), 10);
    assert_int_equal(LINE(SCRIPT_LOCATIONS, table, 4), 11);
    /* 11 - 70 is no line. */
    assert_int_equal(LINE(SCRIPT_LOCATIONS, table, 6), 0);
    assert_int_equal(python_lines_at(SCRIPT_LOCATIONS, table, sizeof(table),
                                     100, 6),
                     31);
    assert_int_equal(python_lines_at(SCRIPT_LOCATIONS, table, sizeof(table),
                                     100, 8),
                     34);
    assert_int_equal(LINE(SCRIPT_LOCATIONS, table, 10), 0);
}

/* Code that has not begun is in the function's first line. */
static void
before_the_first_instruction(void **state)
{
    static const uint8_t table[] = {2, 5};
    (void)state;
    assert_int_equal(LINE(SCRIPT_LINES_310, table, -2), 10);
}

/* No table makes it read beyond the end (checked by the sanitizers and by an
 * allocation of exactly this size). */
static void
any_bytes_will_do(void **state)
{
    uint32_t seed = 7;
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        size_t length = i % 40;
        uint8_t *table = malloc(length + 1);
        assert_non_null(table);
        for (size_t at = 0; at < length; at++)
            table[at] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
        for (unsigned form = SCRIPT_LNOTAB; form <= SCRIPT_LOCATIONS; form++)
            (void)python_lines_at((enum script_lines)form, table, length, 1,
                                  seed % 64);
        free(table);
    }
}

static const char *
full(const char *path, const char *name)
{
    static char text[256];
    python_names_full(path, name, text, sizeof(text));
    return text;
}

static void
names_have_their_module(void **state)
{
    (void)state;
    assert_string_equal(full("/usr/lib/python3.11/json/decoder.py", "f"),
                        "json.decoder.f");
    assert_string_equal(full("/usr/lib/python3.11/json/__init__.py", "loads"),
                        "json.loads");
    assert_string_equal(full("/venv/lib/python3.12/site-packages/flask/app.py",
                             "Flask.run"),
                        "flask.app.Flask.run");
    assert_string_equal(full("/home/me/app.py", "<module>"), "app.<module>");
    assert_string_equal(full("app.py", "A.f.<locals>.g"), "app.A.f.<locals>.g");
    assert_string_equal(full("/srv/shop/__init__.py", "f"), "shop.f");
    assert_string_equal(full("__init__.py", "f"), "__init__.f");
    assert_string_equal(full("<frozen importlib._bootstrap>", "_load"),
                        "importlib._bootstrap._load");
    assert_string_equal(full("<string>", "<module>"), "<string>.<module>");
    assert_string_equal(full("", "f"), "f");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lnotab_goes_forward_and_back),
        cmocka_unit_test(lines_of_310_may_be_missing),
        cmocka_unit_test(locations_have_many_forms),
        cmocka_unit_test(before_the_first_instruction),
        cmocka_unit_test(any_bytes_will_do),
        cmocka_unit_test(names_have_their_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
