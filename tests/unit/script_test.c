/* SPDX-License-Identifier: MIT */
/*
 * script_test.c -- the places of an interpreter's frames among native frames,
 * in a walk over a stack of some words; and chains of frames of each kind that
 * CPython has, in memory that looks like it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/interpreter.h"
#include "unwind/python.h"
#include "unwind/script.h"
#include "walk_maker.h"

static struct script_frame script_frames[16];
static struct script script = {.frames = script_frames, .capacity = 16};
static uint8_t heap_window[HEAP_VIEW_WINDOW];
static struct heap_view heap;

static int
begin(void **state)
{
    script_begin(&script, 0);
    heap_view_begin(&heap, 0, 0, heap_window, 1000);
    return begin_walk(state);
}

/* Two frames of the loop of three words each, between leaf and root. The inner
 * one runs the functions 1 and 2, the outer one 3. */
static void
frames_get_their_places(void **state)
{
    (void)state;
    rules_put(LEAF, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    put_rule(F1, rule_frame(RULE_CFA_SP, 24, RULE_FP_SAME, 0));
    put_rule(F2, rule_frame(RULE_CFA_SP, 24, RULE_FP_SAME, 0));
    stack[0] = F1;
    stack[3] = F2;
    stack[6] = ROOT;
    script_add(&script, 0x10, 1);
    script_add(&script, 0x20, 2);
    script_close(&script, 0, word_at(2));
    script_add(&script, 0x30, 3);
    script_close(&script, 2, word_at(5));
    script_find_next(&script);
    stand_at(LEAF, word_at(0), 0);
    walk_place(&walk, &script);
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    assert_int_equal(script.placed, 3);
    assert_int_equal(script_frames[0].depth, 2);
    assert_int_equal(script_frames[1].depth, 2);
    assert_int_equal(script_frames[2].depth, 3);
}

/* How many native frames were looked at for a function, and the last one. */
static unsigned looked_at, last_depth;

void __wrap_interpreter_meet(struct script *of,
                             const struct script_native *native);
void
__wrap_interpreter_meet(struct script *of, const struct script_native *native)
{
    (void)of;
    looked_at++;
    last_depth = native->depth;
}

/* Of the frames inside of the innermost functions, one of the loop may run a
 * function that is not collected. Each other one costs two compares. */
static void
frames_outside_the_loop_are_passed(void **state)
{
    (void)state;
    rules_put(LEAF, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    put_rule(F1, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    put_rule(F2, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    for (unsigned word = 0; word < 40; word++)
        stack[word] = word == 20 ? F2 : F1;
    stack[40] = ROOT;
    script_add(&script, 0x10, 1);
    script_close(&script, 0, word_at(39));
    script_find_next(&script);
    script.is_open = true;
    script.loop_start = F2 - 0x10;
    script.loop_end = F2 + 0x10;
    looked_at = 0;
    stand_at(LEAF, word_at(0), 0);
    walk_place(&walk, &script);
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    /* The other one holds the border. */
    assert_int_equal(looked_at, 2);
    assert_int_equal(last_depth, 40);
}

/* A place that a walk has found is forgotten if the walk goes back. */
static void
places_are_forgotten(void **state)
{
    (void)state;
    script_add(&script, 0x10, 1);
    script_close(&script, 0, 1000);
    script_find_next(&script);
    script_cross(&script, 900, 1000, 4);
    assert_int_equal(script.placed, 0);
    script_cross(&script, 1000, 1100, 5);
    assert_int_equal(script.placed, 1);
    assert_true(script.border == SCRIPT_NO_BORDER);
    script_go_back(&script, 5);
    assert_int_equal(script.placed, 1);
    script_go_back(&script, 4);
    assert_int_equal(script.placed, 0);
    assert_true(script.border == 1000);
}

/* Memory of an interpreter of one version: the state of a thread, frames, and
 * records on the native stack. */
static uint8_t state_bytes[4096], frame_bytes[6][128], native[4][128];
static struct python python;

/* Two blocks with frames. */
enum { SIZE = 4096 };
static _Alignas(8) uint8_t blocks[2][SIZE];

static void *
own_thread(void)
{
    return state_bytes;
}

static uint64_t
address_of(const void *bytes)
{
    return (uint64_t)bytes;
}

static void
put(uint8_t *bytes, uint16_t offset, uint64_t word)
{
    memcpy(bytes + offset, &word, sizeof(word));
}

/* Frame I is at instruction 8 of the code at 0x1000 * (I + 1), and PREVIOUS
 * called it. */
static void
put_frame(unsigned i, const void *previous, uint8_t mark)
{
    const struct python_layout *layout = &python.layout;
    uint64_t code = 0x1000ull * (i + 1);
    memset(frame_bytes[i], 0, sizeof(frame_bytes[i]));
    put(frame_bytes[i], layout->frame.code, code);
    put(frame_bytes[i], layout->frame.previous, address_of(previous));
    if (layout->chain <= PYTHON_OBJECTS)
        put(frame_bytes[i], layout->frame.instruction, 8);
    else
        put(frame_bytes[i], layout->frame.instruction,
            code + layout->code.start + 8);
    if (layout->frame.mark != PYTHON_NO_FIELD)
        frame_bytes[i][layout->frame.mark] = mark;
}

static void
use_version(unsigned minor)
{
    const struct python_layout *layout = python_layout_of(minor);
    assert_non_null(layout);
    python = (struct python){.layout = *layout, .own_thread = own_thread};
    memset(state_bytes, 0, sizeof(state_bytes));
    memset(native, 0, sizeof(native));
    put(state_bytes, layout->thread.thread_id, 0x7777);
}

static bool
collect(uint64_t pointer)
{
    script_begin(&script, 0);
    heap_view_begin(&heap, 0, 0, heap_window, 1000);
    return python_collect(&python, address_of(state_bytes), pointer, false,
                          &heap, &script);
}

/* The frames of code 1 to COUNT, of which those in BORDERS (a bit each) are the
 * outermost of their native frame. */
static void
expect_frames(uint32_t count, unsigned borders)
{
    assert_int_equal(script.count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(script_frames[i].code == 0x1000ull * (i + 1));
        assert_int_equal(script_frames[i].instruction,
                         python.layout.chain == PYTHON_OBJECTS ? 16 : 8);
        assert_int_equal(script_frames[i].border != 0, borders >> i & 1);
    }
}

/* Frames 0 and 1 run in one native frame, frame 2 in another. */
static void
chain_of_311(void **state)
{
    (void)state;
    use_version(11);
    const struct python_layout *layout = &python.layout;
    put_frame(0, frame_bytes[1], 0);
    put_frame(1, frame_bytes[2], 1);
    put_frame(2, NULL, 1);
    put(state_bytes, layout->thread.top, address_of(native[0]));
    put(native[0], layout->cframe.current, address_of(frame_bytes[0]));
    put(native[0], layout->cframe.previous, address_of(native[1]));
    put(native[1], layout->cframe.current, address_of(frame_bytes[2]));
    assert_true(collect(0x7777));
    expect_frames(3, 6);
    assert_true(script_frames[1].border == address_of(native[0]));
    assert_false(collect(0x7778));
    /* A native frame that has just begun names a frame of before. */
    put(native[0], layout->cframe.current, address_of(frame_bytes[1]));
    put(frame_bytes[1], layout->frame.previous, address_of(frame_bytes[0]));
    assert_true(collect(0x7777));
    assert_int_equal(script.count, 1);
    assert_true(script_frames[0].code == 0x3000);
}

static void
chain_of_312(void **state)
{
    (void)state;
    use_version(12);
    const struct python_layout *layout = &python.layout;
    put_frame(0, frame_bytes[1], 0);
    put_frame(1, frame_bytes[3], 1);
    put_frame(3, frame_bytes[2], 3); /* a shim */
    put_frame(2, frame_bytes[4], 0);
    put_frame(4, NULL, 3);
    put(state_bytes, layout->thread.top, address_of(native[0]));
    put(native[0], layout->cframe.current, address_of(frame_bytes[0]));
    put(native[0], layout->cframe.previous, address_of(native[1]));
    put(native[1], layout->cframe.current, address_of(frame_bytes[2]));
    assert_true(collect(0));
    expect_frames(3, 6);
}

static void
chain_of_310(void **state)
{
    (void)state;
    use_version(10);
    const struct python_layout *layout = &python.layout;
    put_frame(0, frame_bytes[1], 0);
    put_frame(1, NULL, 0);
    put(state_bytes, layout->thread.top, address_of(native[0]));
    put(state_bytes, layout->thread.frame, address_of(frame_bytes[0]));
    put(native[0], layout->cframe.previous, address_of(native[1]));
    assert_true(collect(0));
    expect_frames(2, 3);
    assert_true(script_frames[1].border == address_of(native[1]));
}

static void
chain_of_39(void **state)
{
    (void)state;
    use_version(9);
    put_frame(0, frame_bytes[1], 0);
    put_frame(1, NULL, 0);
    put(state_bytes, python.layout.thread.frame, address_of(frame_bytes[0]));
    assert_true(collect(0));
    expect_frames(2, 3);
    assert_true(script.is_counted);
}

/* A pointer may be anything: into nothing, or in a circle. */
static void
wrong_pointers_end_the_chain(void **state)
{
    (void)state;
    for (unsigned minor = 9; minor <= 12; minor++) {
        use_version(minor);
        const struct python_layout *layout = &python.layout;
        put_frame(0, frame_bytes[1], 0);
        put_frame(1, frame_bytes[0], 0);
        put(state_bytes, layout->thread.top, address_of(native[0]));
        if (layout->thread.frame != PYTHON_NO_FIELD)
            put(state_bytes, layout->thread.frame, address_of(frame_bytes[0]));
        if (layout->cframe.current != PYTHON_NO_FIELD)
            put(native[0], layout->cframe.current, address_of(frame_bytes[0]));
        if (layout->cframe.previous != PYTHON_NO_FIELD)
            put(native[0], layout->cframe.previous, address_of(native[0]));
        assert_true(collect(0));
        assert_in_range(script.count, 0, script.capacity);
        put_frame(1, (void *)0x10, 0);
        assert_true(collect(0));
        put(state_bytes, layout->thread.top, 0x7ffffffff000);
        (void)collect(0);
    }
    assert_false(python_collect(&python, 0x1000, 0, false, &heap, &script));
}

/* As collect, for the calling thread, which runs with its state if IS_HELD. No
 * system call can be made, and the records in NATIVE are its stack. */
static bool
collect_directly(bool is_held)
{
    script_begin(&script, 0);
    heap_view_begin(&heap, address_of(native), address_of(native + 4),
                    heap_window, 0);
    return python_collect(&python, address_of(state_bytes), 0x7777, is_held,
                          &heap, &script);
}

/* Make a thread of 3.12 that has two blocks, with one frame each. */
static void
put_blocks(void)
{
    use_version(12);
    const struct python_layout *layout = &python.layout;
    memset(blocks, 0, sizeof(blocks));
    put(blocks[0], 0, address_of(blocks[1]));
    put(blocks[0], 8, SIZE);
    put(blocks[1], 8, SIZE);
    put_frame(0, blocks[1] + 64, 0);
    memcpy(blocks[0] + 64, frame_bytes[0], sizeof(frame_bytes[0]));
    put_frame(1, native[1], 0);
    memcpy(blocks[1] + 64, frame_bytes[1], sizeof(frame_bytes[1]));
    put_frame(3, NULL, 3); /* the frame on the native stack */
    memcpy(native[1], frame_bytes[3], sizeof(native[1]));
    put(state_bytes, layout->thread.block, address_of(blocks[0]));
    put(state_bytes, layout->thread.top, address_of(native[0]));
    put(native[0], layout->cframe.current, address_of(blocks[0] + 64));
}

/* Frames in the blocks of a thread that has the lock are read without a system
 * call, in whichever block they are. Others are not. */
static void
blocks_are_read_directly(void **state)
{
    (void)state;
    put_blocks();
    const struct python_layout *layout = &python.layout;
    assert_true(collect_directly(true));
    expect_frames(2, 2);
    assert_int_equal(heap.kept, HEAP_VIEW_BLOCKS);
    /* A block without a size is not there yet. */
    put(blocks[1], 8, 0);
    assert_true(collect_directly(true));
    assert_int_equal(script.count, 0);
    put(blocks[1], 8, SIZE);
    /* A frame elsewhere, as a generator has it. */
    put(native[0], layout->cframe.current, address_of(frame_bytes[0]));
    assert_true(collect_directly(true));
    assert_int_equal(script.count, 0);
    /* The record lies on another stack. */
    static uint8_t far[128];
    put(far, layout->cframe.current, address_of(blocks[0] + 64));
    put(state_bytes, layout->thread.top, address_of(far));
    assert_true(collect_directly(true));
    assert_int_equal(heap.kept, HEAP_VIEW_NOTHING);
    assert_int_equal(script.count, 0);
}

/* So are those of the thread that has begun the interpreter, whose state is a
 * part of _PyRuntime, while it has let go of the lock. Those of others are not.
 */
static void
blocks_of_the_first_thread_are_read_directly(void **state)
{
    (void)state;
    put_blocks();
    python.runtime = address_of(state_bytes) - 64;
    python.runtime_size = 64 + sizeof(state_bytes);
    assert_true(collect_directly(false));
    expect_frames(2, 2);
    assert_int_equal(heap.kept, HEAP_VIEW_BLOCKS);
    /* Nothing says that a thread that looks from outside stays there. */
    assert_true(collect(0));
    assert_int_equal(heap.kept, HEAP_VIEW_NOTHING);
    python.runtime_size = 64;
    assert_false(collect_directly(false));
}

/* Up to 3.10 all frames of the thread's own chain are kept. */
static void
objects_are_read_directly(void **state)
{
    (void)state;
    for (unsigned minor = 9; minor <= 10; minor++) {
        use_version(minor);
        const struct python_layout *layout = &python.layout;
        put_frame(0, frame_bytes[1], 0);
        put_frame(1, NULL, 0);
        put(state_bytes, layout->thread.frame, address_of(frame_bytes[0]));
        if (layout->cframe.previous != PYTHON_NO_FIELD) {
            put(state_bytes, layout->thread.top, address_of(native[0]));
            put(native[0], layout->cframe.previous, address_of(native[1]));
        }
        assert_true(collect_directly(true));
        assert_int_equal(script.count, 2);
        put(state_bytes, layout->thread.frame, 0x10);
        assert_true(collect_directly(true));
        assert_int_equal(script.count, 0);
    }
}

/* The innermost record may be the thread's own one before it is filled. The
 * next one is found on the stack after it. */
static void
a_record_without_contents_is_passed(void **state)
{
    (void)state;
    static _Alignas(8) uint8_t block[SIZE], stack_bytes[SIZE];
    use_version(11);
    const struct python_layout *layout = &python.layout;
    memset(block, 0, sizeof(block));
    memset(stack_bytes, 0x55, sizeof(stack_bytes));
    put(block, 8, SIZE);
    put_frame(0, NULL, 1);
    memcpy(block + 64, frame_bytes[0], sizeof(frame_bytes[0]));
    put(state_bytes, layout->thread.block, address_of(block));
    put(state_bytes, layout->thread.top, address_of(stack_bytes));
    /* Registers that a function has saved, and a record that is gone. */
    uint8_t *saved = stack_bytes + 128, *gone = stack_bytes + 256;
    put(saved, layout->cframe.current, address_of(block + 64));
    put(saved, layout->cframe.previous,
        address_of(state_bytes) + layout->cframe.root - 16);
    uint8_t *next = stack_bytes + 512;
    put(gone, layout->cframe.current, address_of(block + 512));
    put(gone, layout->cframe.previous, address_of(next));
    put(next, layout->cframe.current, address_of(block + 64));
    put(next, layout->cframe.previous,
        address_of(state_bytes) + layout->cframe.root);
    script_begin(&script, 0);
    heap_view_begin(&heap, address_of(stack_bytes),
                    address_of(stack_bytes + SIZE), heap_window, 8);
    heap.is_careful = true;
    assert_true(python_collect(&python, address_of(state_bytes), 0x7777, true,
                               &heap, &script));
    expect_frames(1, 1);
    assert_true(script_frames[0].border == address_of(next));
    assert_int_equal(script.empty, 1);
    /* A pair of words that leads to no frame is none. */
    put(next, layout->cframe.current, address_of(block + 512));
    script_begin(&script, 0);
    heap_view_begin(&heap, address_of(stack_bytes),
                    address_of(stack_bytes + SIZE), heap_window, 8);
    heap.is_careful = true;
    assert_true(python_collect(&python, address_of(state_bytes), 0x7777, true,
                               &heap, &script));
    assert_int_equal(script.count, 0);
}

/* The frames of a further chain come first if that chain ends further in. */
static void
chains_are_sorted(void **state)
{
    (void)state;
    script_begin(&script, 0);
    script_add(&script, 0x10, 1);
    script_add(&script, 0x20, 1);
    script_close(&script, 0, 2000);
    script_add(&script, 0x30, 1);
    script_close(&script, 2, 1000);
    script_sort(&script, 2);
    assert_true(script_frames[0].code == 0x30);
    assert_true(script_frames[1].code == 0x10);
    assert_true(script_frames[2].code == 0x20);
    script_add(&script, 0x40, 1);
    script_close(&script, 3, 3000);
    script_sort(&script, 3);
    assert_true(script_frames[3].code == 0x40);
    script_drop_first(&script);
    assert_int_equal(script.count, 3);
    assert_true(script_frames[0].code == 0x10);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(frames_get_their_places, begin),
        cmocka_unit_test_setup(frames_outside_the_loop_are_passed, begin),
        cmocka_unit_test_setup(places_are_forgotten, begin),
        cmocka_unit_test_setup(chain_of_311, begin),
        cmocka_unit_test_setup(chain_of_312, begin),
        cmocka_unit_test_setup(chain_of_310, begin),
        cmocka_unit_test_setup(chain_of_39, begin),
        cmocka_unit_test_setup(wrong_pointers_end_the_chain, begin),
        cmocka_unit_test_setup(blocks_are_read_directly, begin),
        cmocka_unit_test_setup(blocks_of_the_first_thread_are_read_directly,
                               begin),
        cmocka_unit_test_setup(objects_are_read_directly, begin),
        cmocka_unit_test_setup(a_record_without_contents_is_passed, begin),
        cmocka_unit_test_setup(chains_are_sorted, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
