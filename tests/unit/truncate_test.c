/* SPDX-License-Identifier: MIT */
/* truncate_test.c -- what of a name is left where it has too few columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "show/truncate.h"

/* What was printed to the stream that begin gave. */
static char *printed;
static size_t printed_size;

static FILE *
begin(void)
{
    FILE *stream = open_memstream(&printed, &printed_size);

    assert_non_null(stream);
    return stream;
}

static void
expect(FILE *stream, const char *text)
{
    fclose(stream);
    assert_string_equal(printed, text);
    free(printed);
}

static void
expect_function(const char *function, const char *module, unsigned columns,
                const char *text)
{
    FILE *stream = begin();

    truncate_function(stream, function, module, columns);
    expect(stream, text);
}

static void
expect_line(const char *function, const char *place, const char *module,
            unsigned columns, const char *text)
{
    FILE *stream = begin();

    truncate_line(stream, function, place, module, columns);
    expect(stream, text);
}

static void
the_middle_of_a_name_goes(void **state)
{
    const char *name = "std::vector<int>::_M_realloc_insert";

    (void)state;
    expect_function(name, "", 0, name);
    expect_function(name, "", 35, name);
    expect_function(name, "", 34, "std::vector<int...M_realloc_insert");
    expect_function(name, "", 20, "std::vec...oc_insert");
    expect_function("\303\244\303\266\303\274\303\244\303\266\303\274", "", 5,
                    "\303\244...\303\274");
}

/* The module stays as long as sixteen columns are left for its function. */
static void
a_module_is_whole_or_left_out(void **state)
{
    (void)state;
    expect_function("compute", "app", 13, "compute (app)");
    expect_function("compute", "app", 12, "compute");
    expect_function("shop::Index::visit_all", "app", 22,
                    "shop::...sit_all (app)");
    expect_function("shop::Index::visit_all", "app", 21,
                    "shop::Ind...visit_all");
}

static void
a_place_is_there_before_its_function(void **state)
{
    (void)state;
    expect_line("compute", "shop.c:12", "app", 23, "compute shop.c:12 (app)");
    expect_line("compute", "shop.c:12", "app", 22, "compute shop.c:12");
    expect_line("shop::Index::visit_all", "shop.c:12", "app", 20,
                "sho..._all shop.c:12");
    expect_line("shop::Index::visit_all", "shop.c:12", "app", 15,
                "s...l shop.c:12");
    expect_line("shop::Index::visit_all", "shop.c:12", "app", 14, "shop.c:12");
    expect_line("shop::Index::visit_all", "a_long_file_name.c:1234", "app", 20,
                "a_long_f...me.c:1234");
    expect_line("f", "shop.c:12", "", 11, "f shop.c:12");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_middle_of_a_name_goes),
        cmocka_unit_test(a_module_is_whole_or_left_out),
        cmocka_unit_test(a_place_is_there_before_its_function),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
