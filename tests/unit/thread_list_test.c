/* SPDX-License-Identifier: MIT */
/* thread_list_test.c -- many threads in few words, none of them lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "live/stacks.h"
#include "show/thread_list.h"

static char *text;

static void
every_thread_is_listed(void **state)
{
    static const struct stacks_thread threads[] = {
        {.name = "main", .tid = 1},   {.name = "pool", .tid = 2},
        {.name = "pool", .tid = 3},   {.name = "conn-1", .tid = 4},
        {.name = "conn-2", .tid = 5}, {.name = "pool", .tid = 7},
        {.name = "conn-3", .tid = 9}, {.name = "conn-7", .tid = 10},
        {.name = "", .tid = 11},
    };
    uint32_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    (void)state;
    assert_non_null(stream);
    assert_int_equal(thread_list_print(stream, threads, numbers, 9, "and more",
                                       2, 40),
                     0);
    fclose(stream);
    assert_string_equal(text, "  conn-1..conn-3 (4-5, 9), conn-7 (10),\n"
                              "  main (1), pool (2-3, 7), thread (11),\n"
                              "  and more\n");
    free(text);
    text = NULL;
}

/* Ten thousand in one entry. */
static void
ten_thousand_threads_are_listed(void **state)
{
    enum { COUNT = 10000 };
    static struct stacks_thread threads[COUNT];
    static uint32_t numbers[COUNT];
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    (void)state;
    assert_non_null(stream);
    for (uint32_t i = 0; i < COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%u", i);
        threads[i] =
            (struct stacks_thread){.name = strdup(name), .tid = 100 + i};
        numbers[i] = i;
    }
    assert_int_equal(thread_list_print(stream, threads, numbers, COUNT, "", 0,
                                       40),
                     0);
    fclose(stream);
    assert_string_equal(text, "w0..w9999 (100-10099)\n");
    for (uint32_t i = 0; i < COUNT; i++)
        free((char *)threads[i].name);
    free(text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_is_listed),
        cmocka_unit_test(ten_thousand_threads_are_listed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
