/* SPDX-License-Identifier: MIT */
/* heap_view_test.c -- which data of an interpreter is read directly, which by a
 * system call, and which not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/arch.h"
#include "unwind/heap_view.h"

#define PAGE arch_page_size()
#define CALLS 4u

/* Three pages: the second one can be read, too, and the third one cannot. */
static uint8_t *pages;
static uint8_t window[HEAP_VIEW_WINDOW];
static struct heap_view view;

static uint64_t
address_of(const void *object)
{
    return (uint64_t)object;
}

/* Begin to read what a thread with the interpreter's lock keeps. */
static void
begin(uint64_t low, uint64_t high)
{
    heap_view_begin(&view, low, high, window, CALLS);
    view.kept = HEAP_VIEW_BLOCKS;
}

static int
map_pages(void **state)
{
    (void)state;
    pages = mmap(NULL, (size_t)3 * PAGE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + (size_t)2 * PAGE, PAGE, PROT_NONE), 0);
    return 0;
}

/* The kernel is asked once for a page, and the object is not copied. */
static void
object_is_read_directly(void **state)
{
    (void)state;
    begin(0, 0);
    assert_ptr_equal(heap_view_at(&view, address_of(pages + 8), 80), pages + 8);
    assert_int_equal(view.fills, CALLS - 1);
    assert_ptr_equal(heap_view_at(&view, address_of(pages + 800), 80),
                     pages + 800);
    assert_int_equal(view.fills, CALLS - 1);
}

static void
object_on_two_pages_is_asked_for_twice(void **state)
{
    (void)state;
    uint8_t *object = pages + PAGE - 8;
    begin(0, 0);
    assert_ptr_equal(heap_view_at(&view, address_of(object), 80), object);
    assert_int_equal(view.fills, CALLS - 2);
}

static void
object_that_is_gone_is_not_read(void **state)
{
    (void)state;
    begin(0, 0);
    assert_null(heap_view_at(&view, address_of(pages + (size_t)2 * PAGE), 80));
    begin(0, 0);
    assert_null(
        heap_view_at(&view, address_of(pages + (size_t)2 * PAGE - 8), 80));
    begin(0, 0);
    assert_null(heap_view_at(&view, UINT64_MAX - 39, 80));
}

/* Without the lock another thread may free it at any instant. */
static void
object_of_others_is_copied(void **state)
{
    (void)state;
    pages[8] = 42;
    begin(0, 0);
    view.kept = HEAP_VIEW_NOTHING;
    const uint8_t *bytes = heap_view_at(&view, address_of(pages + 8), 80);
    assert_in_range(address_of(bytes), address_of(window),
                    address_of(window + sizeof(window)));
    assert_int_equal(*bytes, 42);
}

/* A record may not be filled yet, so that it names anything. */
static void
careful_view_copies_objects(void **state)
{
    (void)state;
    begin(0, 0);
    view.is_careful = true;
    const uint8_t *bytes = heap_view_at(&view, address_of(pages + 8), 80);
    assert_in_range(address_of(bytes), address_of(window),
                    address_of(window + sizeof(window)));
}

static void
careful_view_asks_for_objects_that_are_there(void **state)
{
    (void)state;
    begin(0, 0);
    view.is_careful = view.has_objects = true;
    assert_ptr_equal(heap_view_at(&view, address_of(pages + 8), 80), pages + 8);
    assert_int_equal(view.fills, CALLS - 1);
    assert_null(heap_view_at(&view, address_of(pages + (size_t)2 * PAGE), 80));
}

/* CFrames lie on one page of the stack after the other, and are read twice. A
 * page counts as 4 KiB, whatever it is. */
static void
pages_of_the_stack_are_asked_for_once(void **state)
{
    (void)state;
    uint64_t word;
    begin(address_of(pages), address_of(pages + (size_t)2 * 4096));
    view.is_careful = true;
    for (unsigned round = 0; round < 2; round++)
        for (size_t at = 64; at < (size_t)2 * 4096; at += 512)
            assert_true(heap_view_copy(&view, address_of(pages + at), &word,
                                       sizeof(word)));
    assert_int_equal(view.fills, CALLS - 2);
}

static void
careful_view_asks_for_the_stack(void **state)
{
    (void)state;
    uint64_t word = 7;
    memcpy(pages + 16, &word, sizeof(word));
    begin(address_of(pages), address_of(pages + (size_t)3 * PAGE));
    view.is_careful = true;
    word = 0;
    assert_true(
        heap_view_copy(&view, address_of(pages + 16), &word, sizeof(word)));
    assert_int_equal(word, 7);
    assert_ptr_equal(heap_view_stack(&view, address_of(pages + 64), 800),
                     pages + 64);
    assert_int_equal(view.fills, CALLS - 1);
    assert_null(
        heap_view_stack(&view, address_of(pages + (size_t)2 * PAGE), 8));
    assert_false(heap_view_copy(&view, address_of(pages + (size_t)2 * PAGE),
                                &word, sizeof(word)));
}

/* A stack that is in use needs no system call. */
static void
stack_is_read_directly(void **state)
{
    (void)state;
    begin(address_of(pages), address_of(pages + PAGE));
    assert_ptr_equal(heap_view_at(&view, address_of(pages + 8), 80), pages + 8);
    assert_int_equal(view.fills, CALLS);
    assert_null(heap_view_stack(&view, address_of(pages + PAGE), 8));
}

static void
no_more_calls_than_allowed(void **state)
{
    (void)state;
    begin(0, 0);
    view.fills = 0;
    assert_null(heap_view_at(&view, address_of(pages + 8), 80));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(object_is_read_directly),
        cmocka_unit_test(object_on_two_pages_is_asked_for_twice),
        cmocka_unit_test(object_that_is_gone_is_not_read),
        cmocka_unit_test(object_of_others_is_copied),
        cmocka_unit_test(careful_view_copies_objects),
        cmocka_unit_test(careful_view_asks_for_objects_that_are_there),
        cmocka_unit_test(pages_of_the_stack_are_asked_for_once),
        cmocka_unit_test(careful_view_asks_for_the_stack),
        cmocka_unit_test(stack_is_read_directly),
        cmocka_unit_test(no_more_calls_than_allowed),
    };
    return cmocka_run_group_tests(tests, map_pages, NULL);
}
