/* SPDX-License-Identifier: MIT */
/*
 * view_test.c -- a view's reads give no answer where there is no memory, but
 * never a fault.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/arch.h"
#include "unwind/view.h"

#define PAGE arch_page_size()

static uint8_t window[VIEW_WINDOW];
static struct view view;

/* Three pages; the third cannot be read. */
static uint8_t *
map_pages(void)
{
    uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(pages, MAP_FAILED);
    for (uint64_t i = 0; i < 2 * PAGE; i++)
        pages[i] = (uint8_t)(i * 7 + i / 256);
    assert_int_equal(mprotect(pages + 2 * PAGE, PAGE, PROT_NONE), 0);
    return pages;
}

static void
expect_word(const uint8_t *address)
{
    uint64_t value = 0, expected;

    memcpy(&expected, address, 8);
    assert_true(view_read(&view, (uint64_t)address, &value));
    assert_int_equal(value, expected);
}

/* The words at every address, upwards, downwards and by leaps; to the last
 * one that can be read. */
static void
check_words(uint8_t *pages)
{
    const uint64_t last = 2 * PAGE - 8;
    uint64_t value = 0;

    for (uint64_t i = 0; i <= last; i++)
        expect_word(pages + i);
    for (uint64_t i = last + 1; i-- > 0;)
        expect_word(pages + i);
    for (uint64_t i = 0; i < 500; i++)
        expect_word(pages + i * 1237 % (last + 1));
    for (unsigned i = 1; i <= 9; i++)
        assert_false(view_read(&view, (uint64_t)pages + last + i, &value));
    assert_false(view_read(&view, (uint64_t)pages + 3 * PAGE - 8, &value));
    expect_word(pages + last);
}

static void
a_view_reads_the_stack(void **state)
{
    uint8_t *pages = map_pages();
    uint64_t low = (uint64_t)pages;

    (void)state;
    view_begin(&view, 0, 0, 0, window);
    check_words(pages);
    view_begin(&view, low, low + 2 * PAGE, low, window);
    check_words(pages);
    view_begin(&view, low + 16, low + PAGE + 20, low + 16, window);
    check_words(pages);
    munmap(pages, 3 * PAGE);
}

static void
a_view_of_nothing_reads_nothing(void **state)
{
    static const uint64_t addresses[] = {0,
                                         1,
                                         8,
                                         4088,
                                         4095,
                                         1ull << 47,
                                         1ull << 56,
                                         1ull << 63,
                                         UINT64_MAX - 8,
                                         UINT64_MAX - 7,
                                         UINT64_MAX - 6,
                                         UINT64_MAX};
    uint8_t *pages = map_pages();
    uint64_t value = 0;

    (void)state;
    view_begin(&view, 0, 0, 0, window);
    for (unsigned i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
        assert_false(view_read(&view, addresses[i], &value));
    view_begin(&view, (uint64_t)pages, (uint64_t)pages + PAGE, (uint64_t)pages,
               window);
    for (unsigned i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
        assert_false(view_read(&view, addresses[i], &value));
    /* A page that has gone since. */
    munmap(pages + PAGE, PAGE);
    assert_false(view_read(&view, (uint64_t)pages + PAGE, &value));
    assert_false(view_read(&view, (uint64_t)pages + PAGE - 4, &value));
    expect_word(pages + PAGE - 8);
    munmap(pages, 3 * PAGE);
}

/* Whether the page at ADDRESS was ever touched. */
static bool
is_touched(void *address)
{
    unsigned char page = 0;

    assert_int_equal(mincore(address, 1, &page), 0);
    return (page & 1) != 0;
}

/* An untouched page stays untouched, unless the walk knows that it needs it. */
static void
an_untouched_page_stays_untouched(void **state)
{
    uint8_t *pages = map_pages();
    uint64_t value;

    (void)state;
    assert_int_equal(madvise(pages + PAGE, PAGE, MADV_DONTNEED), 0);
    view_begin(&view, 0, 0, 0, window);
    for (uint64_t i = 0; i <= PAGE - 8; i++)
        expect_word(pages + i);
    assert_false(is_touched(pages + PAGE));
    view_guess(&view);
    for (uint64_t i = PAGE - 7; i <= 2 * PAGE; i++)
        assert_false(view_read(&view, (uint64_t)pages + i, &value));
    assert_false(is_touched(pages + PAGE));
    expect_word(pages + PAGE - 8);
    view_begin_bounded(&view, window, 1);
    expect_word(pages + PAGE);
    assert_false(view_read(&view, (uint64_t)pages, &value));
    munmap(pages, 3 * PAGE);
}

/* A copy answers for what was copied, whatever is there now. */
static void
a_copy_answers_for_what_was_copied(void **state)
{
    uint64_t copy[8] = {0, 0, 0, 0, 0, 0, 0, 0x1122334455667788};
    uint64_t stack[64], start = (uint64_t)&stack[16], value = 1;

    (void)state;
    memset(stack, 0xff, sizeof(stack));
    view_begin_copy(&view, start, sizeof(copy), (uint8_t *)copy);
    assert_true(view_read(&view, start + 56, &value));
    assert_int_equal(value, copy[7]);
    assert_true(view_read(&view, start, &value));
    assert_int_equal(value, 0);
    assert_false(view_read(&view, start + 57, &value));
    assert_false(view_read(&view, start + 64, &value));
    assert_false(view_read(&view, start - 1, &value));
    assert_false(view_read(&view, (uint64_t)&stack[0], &value));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_reads_the_stack),
        cmocka_unit_test(a_view_of_nothing_reads_nothing),
        cmocka_unit_test(an_untouched_page_stays_untouched),
        cmocka_unit_test(a_copy_answers_for_what_was_copied)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
