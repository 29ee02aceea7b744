/* SPDX-License-Identifier: MIT */
/* json_test.c -- what the JSON emitter spells, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/json.h"

static struct json json;
static char *text;
static size_t length;
static FILE *stream;

static int
begin(void **state)
{
    (void)state;
    stream = open_memstream(&text, &length);
    assert_non_null(stream);
    json_begin(&json, stream);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    free(text);
    return 0;
}

/* What was written is EXPECTED and a newline. */
static void
expect(const char *expected)
{
    assert_int_equal(json_end(&json), 0);
    fclose(stream);
    assert_int_equal(length, strlen(expected) + 1);
    assert_memory_equal(text, expected, length - 1);
    assert_int_equal(text[length - 1], '\n');
}

static void
commas_stand_between_values(void **state)
{
    (void)state;
    json_open(&json, '{');
    json_name_open(&json, "a", '[');
    json_close(&json, ']');
    json_name_open(&json, "b", '[');
    json_number(&json, 1);
    json_open(&json, '[');
    json_null(&json);
    json_close(&json, ']');
    json_bool(&json, true);
    json_close(&json, ']');
    json_name_open(&json, "c", '{');
    json_close(&json, '}');
    json_name_string(&json, "d", "");
    json_close(&json, '}');
    expect("{\"a\":[],\"b\":[1,[null],true],\"c\":{},\"d\":\"\"}");
}

static void
numbers_are_written_in_full(void **state)
{
    (void)state;
    json_open(&json, '[');
    json_number(&json, 0);
    json_number(&json, UINT64_MAX);
    json_milliseconds(&json, 0);
    json_milliseconds(&json, 1);
    json_milliseconds(&json, 1500000);
    json_milliseconds(&json, 2000000);
    json_milliseconds(&json, 1700000000123456789);
    json_close(&json, ']');
    expect("[0,18446744073709551615,0,0.000001,1.5,2,1700000000123.456789]");
}

/* Quotes and backslashes are escaped; controls, bytes that are no UTF-8, long
 * forms, surrogates and what ends in the middle are not let through. */
static void
strings_are_escaped(void **state)
{
    (void)state;
    json_open(&json, '[');
    json_string(&json, "a\"b\\c/");
    json_string(&json, "\x01\n\t\x7f\x1b[31m");
    json_string(&json, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xb1");
    json_string(&json, "\xff\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80");
    json_string(&json, "\xe2\x82");
    json_close(&json, ']');
    expect("[\"a\\\"b\\\\c/\",\"?????[31m\","
           "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xb1\",\"??????????\",\"??\"]");
}

/* Longer than any buffer, and at its edges. */
static void
long_strings_are_whole(void **state)
{
    enum { LENGTH = 3 * sizeof json.buffer };
    char *word = malloc(LENGTH + 1);

    (void)state;
    assert_non_null(word);
    memset(word, 'x', LENGTH);
    word[LENGTH] = '\0';
    json_open(&json, '[');
    for (size_t i = 0; i < 100; i++)
        json_string(&json, word + LENGTH - (sizeof json.buffer - 50 + i));
    json_string(&json, word);
    json_close(&json, ']');
    assert_int_equal(json_end(&json), 0);
    fclose(stream);
    assert_int_equal(length, 100 * (sizeof json.buffer - 50) + 99 * 100 / 2 +
                                 LENGTH + 3 * 101 + 2);
    free(word);
}

static void
a_full_disk_is_told(void **state)
{
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    if (full == NULL)
        skip();
    setbuf(full, NULL);
    json_begin(&json, full);
    json_string(&json, "a");
    assert_int_equal(json_end(&json), -1);
    fclose(full);
    fclose(stream);
}

#define UNIT(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
    const struct CMUnitTest units[] = {
        UNIT(commas_stand_between_values), UNIT(numbers_are_written_in_full),
        UNIT(strings_are_escaped),         UNIT(long_strings_are_whole),
        UNIT(a_full_disk_is_told),
    };

    return cmocka_run_group_tests(units, NULL, NULL);
}
