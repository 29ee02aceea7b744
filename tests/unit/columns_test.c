/* SPDX-License-Identifier: MIT */
/* columns_test.c -- rows in columns: what stands in CSV and JSON. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "show/columns.h"

static char *printed;
static size_t printed_size;
static FILE *stream;
static struct columns columns;

static int
begin(void **state)
{
    (void)state;
    stream = open_memstream(&printed, &printed_size);
    assert_non_null(stream);
    return 0;
}

/* What was printed is TEXT. */
static void
expect(const char *text)
{
    fclose(stream);
    assert_string_equal(printed, text);
    free(printed);
}

static const char *const keys[] = {"name", "count", "share", "good", NULL};

static void
add_row(const char *name, uint64_t count, double share, bool is_good)
{
    columns_text(&columns, name);
    columns_number(&columns, count);
    columns_real(&columns, share);
    columns_bool(&columns, is_good);
    columns_end_row(&columns);
}

static void
csv_quotes_what_needs_it(void **state)
{
    (void)state;
    columns_begin_data(&columns, stream, NULL, keys);
    add_row("plain", UINT64_MAX, 0.5, true);
    add_row("a<b, c>(\"d\")", 0, INFINITY, false);
    add_row("two\nlines", 1, 1e300, false);
    columns_end(&columns);
    expect("name,count,share,good\n"
           "plain,18446744073709551615,0.5,true\n"
           "\"a<b, c>(\"\"d\"\")\",0,,false\n"
           "\"two\nlines\",1,1.0000000000000001e+300,false\n");
}

static void
json_has_a_row_in_each_line(void **state)
{
    struct json json;
    (void)state;
    json_begin_spaced(&json, stream);
    json_open(&json, '{');
    json_name_string(&json, "report", "x");
    columns_begin_data(&columns, stream, &json, keys);
    add_row("a\"b\\\xc3\xa4", 7, NAN, true);
    add_row("", 0, -1.25, false);
    columns_end(&columns);
    json_close(&json, '}');
    assert_int_equal(json_end(&json), 0);
    expect("{\"report\": \"x\",\n\"rows\": [\n"
           "{\"name\": \"a\\\"b\\\\\xc3\xa4\", \"count\": 7, \"share\": null, "
           "\"good\": true},\n"
           "{\"name\": \"\", \"count\": 0, \"share\": -1.25, \"good\": false}\n"
           "]}\n");
}

static void
json_without_rows_is_valid(void **state)
{
    struct json json;
    (void)state;
    json_begin_spaced(&json, stream);
    json_open(&json, '{');
    columns_begin_data(&columns, stream, &json, keys);
    columns_end(&columns);
    json_close(&json, '}');
    assert_int_equal(json_end(&json), 0);
    expect("{\n\"rows\": [\n]}\n");
}

#define UNIT(test) cmocka_unit_test_setup(test, begin)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(csv_quotes_what_needs_it),
        UNIT(json_has_a_row_in_each_line),
        UNIT(json_without_rows_is_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
