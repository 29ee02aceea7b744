/* SPDX-License-Identifier: MIT */
/* python_test.c -- the frames of CPython 3.10, and their places on the native
 * stack, also in the middle of a call or of a return. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/python.h"

#define FRAMES 3u
#define POINTER 0x700000001000u /* of the thread */

/* The native stack: the innermost CFrame has the lowest address. */
static uint64_t cframes[FRAMES + 1][2];
static uint64_t objects[FRAMES][16]; /* the innermost first */
/* The outermost CFrame is in it, at layout.cframe.root. */
static uint64_t thread[512];
static struct python python;
static struct script_frame collected[8];
static struct script script;
static uint8_t window[HEAP_VIEW_WINDOW];

static void
put(void *object, unsigned offset, uint64_t value)
{
    memcpy((uint8_t *)object + offset, &value, sizeof(value));
}

static uint64_t
address_of(const void *object)
{
    return (uint64_t)object;
}

/* The CFrame in the thread's state. */
static void *
root(void)
{
    return (uint8_t *)thread + python.layout.cframe.root;
}

/* The code of frame number I. */
static uint64_t
code_of(unsigned i)
{
    return 0x10000u * (i + 1);
}

/* Make a thread whose chains begin at frame number FRAME and at CFrame number
 * RECORD, where CFrame I + 1 is that of frame I. */
static void
make(unsigned frame, unsigned record)
{
    const struct python_layout *layout = python_layout_of(10);
    python = (struct python){.layout = *layout};
    memset(thread, 0, sizeof(thread));
    for (unsigned i = 0; i <= FRAMES; i++)
        cframes[i][1] =
            address_of(i < FRAMES ? (void *)cframes[i + 1] : root());
    for (unsigned i = 0; i < FRAMES; i++) {
        put(objects[i], layout->frame.code, code_of(i));
        put(objects[i], layout->frame.previous,
            i + 1 < FRAMES ? address_of(objects[i + 1]) : 0);
    }
    put(thread, layout->thread.thread_id, POINTER);
    put(thread, layout->thread.frame, address_of(objects[frame]));
    put(thread, layout->thread.top, address_of(cframes[record]));
}

/* FILLS is how many system calls may be made. The pc is where any address may
 * be wrong if IS_CAREFUL. */
static void
collect_so(uint32_t fills, bool is_careful)
{
    struct heap_view view;
    script.frames = collected;
    script.capacity = 8;
    script_begin(&script, 0);
    heap_view_begin(&view, address_of(cframes),
                    address_of(cframes + FRAMES + 1), window, fills);
    view.is_careful = is_careful;
    assert_true(python_collect(&python, address_of(thread), POINTER, true,
                               &view, &script));
}

static void
collect(void)
{
    collect_so(4, false);
}

/* The frames from number FIRST on were found, each in its CFrame. */
static void
expect_frames(unsigned first)
{
    assert_int_equal(script.count, FRAMES - first);
    for (unsigned i = 0; i < script.count; i++) {
        assert_int_equal(collected[i].code, code_of(first + i));
        assert_int_equal(collected[i].border,
                         address_of(cframes[first + i + 1]));
    }
}

static void
each_frame_has_its_place(void **state)
{
    (void)state;
    make(0, 1);
    collect();
    expect_frames(0);
}

/* The CFrame is there, the frame is not the current one yet. */
static void
a_call_that_has_begun_moves_no_frame(void **state)
{
    (void)state;
    make(0, 0);
    collect();
    expect_frames(0);
}

/* The CFrame is no more, the frame is still the current one. */
static void
a_frame_that_is_left_moves_no_other(void **state)
{
    (void)state;
    make(0, 2);
    collect();
    expect_frames(1);
}

/* No other frame is there. */
static void
the_only_frame_is_left(void **state)
{
    (void)state;
    make(FRAMES - 1, FRAMES);
    put(thread, python.layout.thread.top, address_of(root()));
    collect();
    assert_int_equal(script.count, 0);
    assert_int_equal(script.left, address_of(objects[FRAMES - 1]));
}

/* In the first instructions of the loop the stack is copied, too. One system
 * call copies many records. */
static void
few_calls_copy_many_records(void **state)
{
    (void)state;
    make(0, 1);
    collect_so(1, true);
    expect_frames(0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_frame_has_its_place),
        cmocka_unit_test(a_call_that_has_begun_moves_no_frame),
        cmocka_unit_test(a_frame_that_is_left_moves_no_other),
        cmocka_unit_test(the_only_frame_is_left),
        cmocka_unit_test(few_calls_copy_many_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
