/* SPDX-License-Identifier: MIT */
/*
 * id_table_test.c -- the numbers of keys: the same key has the same one, also
 * when the table has grown and when its keys are forgotten. And a page of a new
 * table is never read before it is written: that costs a second fault, which
 * stops every CPU that runs the program.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "journal/id_table.h"

/* Number of entries of a table that has not grown, and of 16 bytes each. */
#define FIRST 4096u
#define MOST (1u << 16)

static struct id_table table = {.first_size = FIRST, .most = MOST};

static int
begin_table(void **state)
{
    (void)state;
    return id_table_begin(&table);
}

static uint64_t
hash_of(uint32_t i)
{
    return (i + 1) * 0x9e3779b97f4a7c15u;
}

/* Enter KEYS keys with HIGH. They have the numbers from FIRST_ID on. */
static void
enter_keys(uint32_t high, uint32_t keys, uint32_t first_id)
{
    for (uint32_t i = 0; i < keys; i++) {
        bool is_new;
        uint32_t id = id_table_of(&table, high, hash_of(i), &is_new);
        assert_int_equal(id, first_id + i);
        assert_true(is_new);
    }
    for (uint32_t i = 0; i < keys; i++) {
        bool is_new;
        uint32_t id = id_table_of(&table, high, hash_of(i), &is_new);
        assert_int_equal(id, first_id + i);
        assert_false(is_new);
    }
}

static void
keys_keep_their_numbers_when_the_table_grows(void **state)
{
    (void)state;
    enter_keys(7, 3 * FIRST, 1);
    enter_keys(8, FIRST, 3 * FIRST + 1);
}

static void
numbers_go_on_when_keys_are_forgotten(void **state)
{
    (void)state;
    enter_keys(1, 10, 1);
    id_table_forget(&table);
    enter_keys(1, 10, 11);
}

static void
a_full_table_has_no_number(void **state)
{
    bool is_new;

    (void)state;
    enter_keys(1, MOST / 2, 1);
    assert_int_equal(id_table_of(&table, 2, hash_of(0), &is_new), 0);
    assert_int_equal(id_table_begin(&table), 0);
    enter_keys(2, 10, 1);
}

static long
faults(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_minflt;
}

/* Whether this kernel can write the pages of a range ahead (Linux 5.14). */
static bool
can_populate(void)
{
    static char byte;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *at = (void *)((uintptr_t)&byte & ~(page - 1));

    return madvise(at, page, MADV_POPULATE_WRITE) == 0 || errno != EINVAL;
}

static void
no_page_is_read_before_it_is_written(void **state)
{
    bool is_new;

    (void)state;
    if (!can_populate())
        skip();
    (void)id_table_of(&table, 1, hash_of(0), &is_new);
    long before = faults();
    for (uint32_t i = 1; i < FIRST / 2; i++)
        (void)id_table_of(&table, 1, hash_of(i), &is_new);
    assert_true(faults() - before < 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(keys_keep_their_numbers_when_the_table_grows,
                               begin_table),
        cmocka_unit_test_setup(numbers_go_on_when_keys_are_forgotten,
                               begin_table),
        cmocka_unit_test_setup(a_full_table_has_no_number, begin_table),
        cmocka_unit_test_setup(no_page_is_read_before_it_is_written,
                               begin_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
