/* SPDX-License-Identifier: MIT */
/*
 * symbol_tables_test.c -- the structures below the symbolizer, against plain
 * loops that cannot be wrong: overlapping ranges, the hash table, the strings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/address_table.h"
#include "util/intern.h"
#include "symbol/range_index.h"
#include "symbol/symbol_table.h"

#define RANGES 200
#define SPACE 400

static uint32_t
next_random(void)
{
    static uint64_t seed = 7;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

/* All ranges that cover each address are found, nearest start first. */
static void
all_overlapping_ranges_are_found(void **state)
{
    struct range_index index = {0};
    (void)state;
    struct range ranges[RANGES];
    for (uint32_t i = 0; i < RANGES; i++) {
        uint64_t low = next_random() % SPACE;
        uint64_t length = next_random() % (i % 10 != 0 ? 8 : SPACE);
        ranges[i] = (struct range){.low = low, .high = low + length};
        ranges[i].value = i;
        ranges[i].rank = next_random() % 4;
        assert_int_equal(range_index_add(&index, &ranges[i]), 0);
    }
    range_index_seal(&index);
    for (uint64_t address = 0; address < 2 * SPACE; address++) {
        const struct range *range = NULL, *last = NULL;
        unsigned found = 0, expected = 0;
        for (unsigned i = 0; i < RANGES; i++)
            expected += ranges[i].low <= address && address < ranges[i].high;
        while ((range = range_index_find(&index, address, range)) != NULL) {
            assert_true(range->low <= address && address < range->high);
            assert_true(!last || last->low > range->low ||
                        (last->low == range->low && last->rank >= range->rank));
            last = range;
            found++;
        }
        assert_int_equal(found, expected);
    }
    range_index_free(&index);
}

/* An open range ends where the next start is, or at its own limit. */
static void
an_open_range_ends_at_the_next(void **state)
{
    struct range_index index = {0};
    (void)state;
    assert_null(range_index_find(&index, 0, NULL));
    range_index_add(&index, &(struct range){.low = 10, .high = 90, .open = 1});
    range_index_add(&index, &(struct range){.low = 10, .high = 90, .open = 1});
    range_index_add(&index, &(struct range){.low = 20, .high = 30});
    range_index_add(&index, &(struct range){.low = 40, .high = 50, .open = 1});
    range_index_add(&index, &(struct range){.low = 60, .high = 60});
    range_index_seal(&index);
    assert_non_null(range_index_find(&index, 19, NULL));
    assert_int_equal(range_index_find(&index, 20, NULL)->low, 20);
    assert_null(range_index_find(&index, 30, NULL));
    assert_int_equal(range_index_find(&index, 49, NULL)->low, 40);
    assert_null(range_index_find(&index, 50, NULL));
    assert_null(range_index_find(&index, 60, NULL));
    assert_null(range_index_find(&index, 9, NULL));
    range_index_free(&index);
}

static void
an_address_table_finds_what_was_put(void **state)
{
    struct address_table table = {0};
    static char values[3000];
    (void)state;
    assert_null(address_table_find(&table, 1, 1));
    for (uint32_t i = 0; i < 3000; i++) {
        void **place = address_table_place(&table, i % 3, i / 3 * 16ull);
        assert_non_null(place);
        assert_null(*place);
        *place = &values[i];
    }
    assert_ptr_equal(*address_table_place(&table, 0, 0), &values[0]);
    for (uint32_t i = 0; i < 3000; i++)
        assert_ptr_equal(address_table_find(&table, i % 3, i / 3 * 16ull),
                         &values[i]);
    assert_null(address_table_find(&table, 3, 0));
    assert_null(address_table_find(&table, 0, 8));
    address_table_free(&table);
}

static void
strings_stay_where_they_are(void **state)
{
    struct intern store = {0};
    static char large[100000];
    (void)state;
    const char *kept[3000];
    char text[32];
    for (int i = 0; i < 3000; i++) {
        snprintf(text, sizeof(text), "string %d", i);
        kept[i] = intern_text(&store, text);
        assert_string_equal(kept[i], text);
    }
    memset(large, 'x', sizeof(large) - 1);
    assert_string_equal(intern_text(&store, large), large);
    assert_int_equal((uintptr_t)intern_space(&store, 3) % 8, 0);
    for (int i = 0; i < 3000; i++) {
        snprintf(text, sizeof(text), "string %d", i);
        assert_ptr_equal(intern_text(&store, text), kept[i]);
    }
    intern_clear(&store);
}

/* The name at which a symbol of each NAMES is found, in both orders. */
static void
the_name_of_the_api_wins(void **state)
{
    static const char *const names[][4] = {
        {"free", "cfree", "__libc_free"},
        {"read", "__read", "__libc_read"},
        {"recvmsg", "__recvmsg_syscall", "__GI___libc_recvmsg"},
        {"sin", "sinf32x", "__sin"},
        {"$s4main3fooyyF", "$x"},
    };
    (void)state;
    uint64_t start;
    for (size_t i = 0; i < 2 * sizeof(names) / sizeof(names[0]); i++) {
        struct symbol_table table = {0};
        const char *const *list = names[i / 2];
        for (size_t j = 0; j < 4; j++) {
            const char *name = list[i % 2 == 0 ? j : 3 - j];
            unsigned type =
                name != NULL && strcmp(name, "$x") == 0 ? STT_NOTYPE : STT_FUNC;
            GElf_Sym symbol = {.st_size = 16,
                               .st_info = GELF_ST_INFO(STB_GLOBAL, type)};
            if (name != NULL)
                assert_int_equal(symbol_table_add(&table, &symbol, name, 64,
                                                  96),
                                 0);
        }
        range_index_seal(&table.ranges);
        assert_string_equal(symbol_table_find(&table, 70, &start), list[0]);
        assert_int_equal(start, 70);
        symbol_table_free(&table);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_overlapping_ranges_are_found),
        cmocka_unit_test(an_open_range_ends_at_the_next),
        cmocka_unit_test(an_address_table_finds_what_was_put),
        cmocka_unit_test(strings_stay_where_they_are),
        cmocka_unit_test(the_name_of_the_api_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
