/* SPDX-License-Identifier: MIT */
/*
 * pages_test.c -- the page cache of the learner: every word is what memory held
 * when its page was first read, within a page and across two; memory that
 * cannot be read is refused, and does not spoil the rest; more pages than fit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "unwind/pages.h"

#define COUNT (PAGES_COUNT * 2 + 3)

static struct pages pages;
static uint8_t *memory; /* COUNT pages, between two that cannot be read */

static int
begin(void **state)
{
    (void)state;
    size_t size = (COUNT + 2ul) * PAGES_SIZE;
    uint8_t *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return -1;
    memory = map + PAGES_SIZE;
    for (size_t i = 0; i < COUNT * (size_t)PAGES_SIZE; i++)
        memory[i] = (uint8_t)(i * 37 + i / 251);
    return mprotect(map, PAGES_SIZE, PROT_NONE) |
           mprotect(memory + COUNT * (size_t)PAGES_SIZE, PAGES_SIZE, PROT_NONE);
}

static void
check_word(size_t offset)
{
    uint64_t value = 0, expected;

    memcpy(&expected, memory + offset, sizeof(expected));
    assert_true(pages_word(&pages, (uint64_t)(memory + offset), &value));
    assert_int_equal(value, expected);
}

static void
words_are_read(void **state)
{
    (void)state;
    pages_begin(&pages);
    for (size_t offset = 0; offset < 3 * PAGES_SIZE; offset++)
        check_word(offset);
    /* Pages that take each other's place, one by one and in turns. */
    for (size_t i = 0; i < COUNT; i++) {
        check_word(i * PAGES_SIZE + i % 4000);
        check_word((i + PAGES_COUNT) % COUNT * PAGES_SIZE);
        check_word(i * PAGES_SIZE + PAGES_SIZE / 2);
    }
}

static void
unreadable_pages_are_refused(void **state)
{
    const size_t end = COUNT * (size_t)PAGES_SIZE;
    const uint64_t wrong[] = {(uint64_t)memory - 1,
                              (uint64_t)memory - 8,
                              (uint64_t)memory - PAGES_SIZE,
                              (uint64_t)memory + end,
                              (uint64_t)memory + end - 7,
                              0,
                              8,
                              1ull << 47,
                              1ull << 63,
                              (1ull << 63) + 8,
                              UINT64_MAX,
                              UINT64_MAX - 7};
    uint64_t value;

    (void)state;
    pages_begin(&pages);
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        for (unsigned k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
            assert_false(pages_word(&pages, wrong[i], &value));
            assert_false(pages_word(&pages, wrong[k], &value));
            check_word(end - 8);
            assert_false(pages_word(&pages, wrong[k], &value));
            check_word(0);
        }
}

/* What is kept is old until it is forgotten. */
static void
what_is_kept_is_old_until_it_is_forgotten(void **state)
{
    uint64_t before, value;
    uint64_t address = (uint64_t)memory + 512;

    (void)state;
    pages_begin(&pages);
    assert_true(pages_word(&pages, address, &before));
    memory[512] ^= 0xff;
    assert_true(pages_word(&pages, address, &value));
    assert_int_equal(value, before);
    pages_begin(&pages);
    assert_true(pages_word(&pages, address, &value));
    assert_int_equal(value, before ^ 0xff);
    memory[512] ^= 0xff;
    pages_begin(&pages);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unreadable_pages_are_refused),
        cmocka_unit_test(words_are_read),
        cmocka_unit_test(what_is_kept_is_old_until_it_is_forgotten)};

    return cmocka_run_group_tests(tests, begin, NULL);
}
