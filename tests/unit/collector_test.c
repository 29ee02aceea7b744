/* SPDX-License-Identifier: MIT */
/*
 * collector_test.c -- the function that collects garbage, in a library that is
 * built like an interpreter: with a table of symbols, and without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "symbol/collector.h"

#include "shell.h"

static char directory[] = "/tmp/collector.XXXXXX";

/* PyGC_Collect calls an exported function, a short one, and the collector. */
static const char source[] =
    "#define ALONE __attribute__((noinline, noclone, noipa))\n"
    "int place;\n"
    "int PyErr_Fetch(int n) { return n + place++; }\n"
    "static ALONE int callback(int n) { return n * place++; }\n"
    "static ALONE int NAME(int n)\n"
    "{\n"
    "    for (int i = 0; i < n; i++)\n"
    "        place += i * n + (place ^ 5) / (i + 7) + callback(i) / 3;\n"
    "    return place;\n"
    "}\n"
    "int OUTER(int n)\n"
    "{\n"
    "    int sum = PyErr_Fetch(n) + callback(n);\n"
    "    sum += NAME(n) * 3;\n"
    "    return sum + callback(sum);\n"
    "}\n";

/* Build NAME.so with a collector called COLLECTOR, called by CALLER. */
static void
build(const char *name, const char *collector, const char *caller)
{
    char command[256];
    assert_true(shell_write(directory, "gc.c", source));
    snprintf(command, sizeof(command),
             "cc -O1 -fPIC -fasynchronous-unwind-tables -Wl,-Bsymbolic "
             "-shared -DNAME=%s -DOUTER=%s -o %s.so gc.c",
             collector, caller, name);
    assert_true(shell_in(directory, command));
}

static bool
find(const char *name, struct collector *collector)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s.so", directory, name);
    return collector_find(collector, path, NULL, 0);
}

static void
strip(const char *name)
{
    char command[64];
    snprintf(command, sizeof(command), "strip %s.so", name);
    assert_true(shell_in(directory, command));
}

static void
the_symbol_and_the_calls_lead_to_the_same_function(void **state)
{
    (void)state;
    static const char *const names[] = {"gc_collect_main", "collect",
                                        "another_name"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct collector before, after;
        build("python", names[i], "PyGC_Collect");
        assert_true(find("python", &before));
        assert_true(before.high - before.low > 16);
        strip("python");
        assert_true(find("python", &after));
        assert_int_equal(after.low, before.low);
        assert_int_equal(after.high, before.high);
    }
}

static void
another_file_has_none(void **state)
{
    (void)state;
    struct collector collector;
    const uint8_t build_id[] = {1, 2, 3};
    char path[4096];
    build("other", "gc_collect_main", "another_caller");
    assert_false(find("other", &collector));
    assert_false(find("missing", &collector));
    build("python", "gc_collect_main", "PyGC_Collect");
    snprintf(path, sizeof(path), "%s/python.so", directory);
    assert_false(collector_find(&collector, path, build_id, sizeof(build_id)));
}

static void
names_are_known_with_a_compilers_ending(void **state)
{
    (void)state;
    assert_true(collector_is_name("gc_collect_main"));
    assert_true(collector_is_name("gc_collect_main.constprop.0"));
    assert_true(collector_is_name("zend_gc_collect_cycles"));
    assert_false(collector_is_name("gc_collect_mainly"));
    assert_false(collector_is_name("collect"));
}

static int
begin(void **state)
{
    (void)state;
    return mkdtemp(directory) == NULL ? -1 : 0;
}

static int
end(void **state)
{
    (void)state;
    return shell_remove(directory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_symbol_and_the_calls_lead_to_the_same_function),
        cmocka_unit_test(another_file_has_none),
        cmocka_unit_test(names_are_known_with_a_compilers_ending),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
