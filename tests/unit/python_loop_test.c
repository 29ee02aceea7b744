/* SPDX-License-Identifier: MIT */
/* python_loop_test.c -- which function a frame of CPython's loop runs that has
 * just been entered or is about to be left. Each test makes the memory of one
 * thread at such an instant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/python_loop.h"

/* Words of each frame, and where the first frame is in its block. The frames
 * are those of OUTER, which is in the chain, and of what it calls. */
#define FRAME 12u
#define FIRST 4u
#define OUTER 0u
#define CALLED 1u

/* A return address in a caller of the loop. */
#define CALLER 0x700000000010u

/* Codes have the size of a frame where 3.12 has it. */
struct code {
    uint64_t words[32];
};

static struct python python;
static struct code codes[4];
static uint64_t block[512], thread[64], generator[40];
/* An address that is less than 1 MiB above it is taken for one of the stack
 * (python_loop.c, STACK_REACH). */
static uint64_t native_stack[1u << 17];
static uint64_t generator_type[1], frame_type[1];
static struct script_frame frames[8];
static struct script script;
static struct script_native native;
static struct script_frame found;
static ucontext_t context;

static uint64_t
address_of(const void *object)
{
    return (uint64_t)object;
}

static void
put(void *object, unsigned offset, uint64_t value)
{
    memcpy((uint8_t *)object + offset, &value, sizeof(value));
}

static uint64_t *
frame_at(unsigned number)
{
    return &block[FIRST + number * FRAME];
}

/* Frame NUMBER of the block runs code NUMBER, called from PREVIOUS. 0: it has
 * not begun. */
static void
push(unsigned number, uint64_t previous)
{
    uint64_t *frame = frame_at(number);
    uint64_t start = address_of(&codes[number]) + python.layout.code.start;
    put(frame, python.layout.frame.code, address_of(&codes[number]));
    put(frame, python.layout.frame.previous, previous);
    put(frame, python.layout.frame.instruction,
        previous != 0 ? start + 2 : start - 2);
}

/* The thread's blocks end after COUNT frames. */
static void
end_frames(unsigned count)
{
    put(thread, python.layout.thread.block + 8, address_of(frame_at(count)));
}

/* The frame of the loop, in which its record is. */
static uint64_t
record(void)
{
    return address_of(&native_stack[20]);
}

/* A thread of 3.MINOR that runs OUTER. Its loop has been called again, by
 * CALLER + WHERE. */
static void
make(unsigned minor, unsigned where)
{
    python = (struct python){.layout = *python_layout_of(minor)};
    python.layout.minor = (uint16_t)minor;
    python.generator_types[0] = address_of(generator_type);
    python.frame_type = address_of(frame_type);
    memset(block, 0, sizeof(block));
    memset(native_stack, 0, sizeof(native_stack));
    memset(generator, 0, sizeof(generator));
    for (unsigned i = 0; i < 4; i++) {
        uint32_t size[4] = {0, 1, 0, FRAME};
        if (minor == 11)
            size[2] = FRAME - 9;
        memcpy((uint8_t *)&codes[i] + python.layout.code.first_line - 4, size,
               sizeof(size));
    }
    block[1] = sizeof(block);
    push(OUTER, 0);
    if (minor > 10) {
        put(thread, python.layout.thread.block, address_of(block));
        end_frames(1);
    }
    script.frames = frames;
    script.capacity = 8;
    script_begin(&script, 0);
    script.state = address_of(thread);
    script.context = &context;
    script_add(&script, address_of(&codes[OUTER]), 0);
    frames[0].at = address_of(frame_at(OUTER));
    frames[0].border = address_of(native_stack + 63);
    script_find_next(&script);
    native = (struct script_native){.sp = address_of(native_stack),
                                    .cfa = address_of(native_stack + 40),
                                    .caller = CALLER + where,
                                    .depth = 2};
}

static bool
find(void)
{
    return python_loop_find(&python, &script, &native, &found);
}

static void
expect(const void *code)
{
    assert_true(find());
    assert_int_equal(found.code, address_of(code));
}

/* CALLER + WHERE is seen to call the loop for a function, or a GENERATOR. */
static void
learn(unsigned where, bool generator_too)
{
    struct script_native seen = native;
    seen.caller = CALLER + where;
    frames[0].is_generator = generator_too;
    python_loop_learn(&python, &script, &seen);
    frames[0].is_generator = false;
}

/* The caller of the loop has a generator of code 3 in a register. */
static void
keep_generator(void)
{
    uint8_t *own = (uint8_t *)generator + python.layout.task.frame;
    unsigned owner = python.layout.frame.mark + (python.layout.minor == 11);
    put(generator, 8, address_of(generator_type));
    put(own, python.layout.frame.code, address_of(&codes[3]));
    own[owner] = 1;
    native_stack[40 - 3] = address_of(generator);
}

/* Its frame is there, and not in the chain yet. */
static void
a_function_that_is_entered(void **state)
{
    (void)state;
    for (unsigned minor = 11; minor <= 12; minor++) {
        make(minor, 0);
        learn(0, false);
        push(CALLED, 0);
        end_frames(2);
        expect(&codes[CALLED]);
        /* One of another size is something else. */
        put(thread, python.layout.thread.block + 8,
            address_of(frame_at(2) + 1));
        assert_false(find());
    }
}

/* The loop has taken its frame away. */
static void
a_function_that_is_left(void **state)
{
    (void)state;
    make(12, 1);
    push(CALLED, record());
    assert_false(find()); /* nothing is known of the caller */
    learn(1, false);
    expect(&codes[CALLED]);
    /* What another loop left there. */
    push(CALLED, address_of(native_stack + 50));
    assert_false(find());
    /* The frame was in a block that is gone. */
    push(CALLED, record());
    block[2] = (address_of(frame_at(1)) - address_of(block + 3)) / 8;
    assert_false(find());
}

/* A generator is entered or left where a function was before. */
static void
a_generator(void **state)
{
    (void)state;
    make(12, 2);
    learn(2, true);
    push(CALLED, record());
    assert_false(find());
    keep_generator();
    expect(&codes[3]);
    /* It runs already, in an outer frame. */
    frames[0].at = address_of(generator) + python.layout.task.frame;
    assert_false(find());
    make(11, 2);
    keep_generator();
    expect(&codes[3]);
}

/* Nothing is known of the caller. A generator that it keeps may be another one
 * if it does not run. */
static void
a_generator_that_is_entered(void **state)
{
    (void)state;
    make(12, 8);
    keep_generator();
    int8_t *its_state = (int8_t *)generator + python.layout.task.frame - 5;
    *its_state = -1; /* FRAME_SUSPENDED */
    assert_false(find());
    *its_state = 0; /* FRAME_EXECUTING */
    expect(&codes[3]);
    *its_state = -1;
    expect(&codes[3]); /* the caller has become known */
}

/* A caller that calls the loop for both tells nothing. */
static void
a_caller_of_both(void **state)
{
    (void)state;
    make(12, 3);
    learn(3, true);
    learn(3, false);
    push(CALLED, record());
    keep_generator();
    assert_false(find());
}

/* A function is left, and what it freed calls another one. The frame of neither
 * is in the chain. */
static void
two_loops_without_a_function(void **state)
{
    (void)state;
    make(12, 0);
    learn(0, false);
    push(1, address_of(native_stack + 50));
    push(2, 0);
    end_frames(3);
    script_note_empty(&script, address_of(native_stack + 50));
    expect(&codes[2]);
    push(2, record());
    expect(&codes[2]);
    end_frames(2);
    expect(&codes[2]);
    /* Not begun, and another one is left already. */
    push(2, 0);
    assert_false(find());
}

/* A function of OUTER's own loop is left. What it freed calls another one, in a
 * loop of its own. */
static void
a_loop_below_a_function_that_is_left(void **state)
{
    (void)state;
    make(12, 5);
    push(1, address_of(frame_at(OUTER)));
    push(2, 0);
    end_frames(3);
    expect(&codes[2]);
    push(2, record());
    end_frames(2);
    expect(&codes[2]); /* the caller has become known */
    native.caller = CALLER + 7;
    assert_false(find());
    assert_true(python_loop_spare(&python, &script));
    learn(7, false);
    expect(&codes[2]);
    /* Nor is a function known to a walk that goes on without the thread. */
    script.state = 0;
    assert_false(find());
}

/* Also where more callers come than are kept. */
static void
a_caller_is_learned_at_once(void **state)
{
    (void)state;
    make(12, 6);
    script.time = 1;
    push(CALLED, record());
    for (unsigned where = 0; where < 10000; where++) {
        native.caller = CALLER + where;
        assert_false(find());
        learn(where, false);
        expect(&codes[CALLED]);
    }
}

/* The walk goes on without the thread. */
static void
what_is_kept_for_later(void **state)
{
    (void)state;
    make(12, 0);
    learn(0, false);
    push(CALLED, record());
    assert_true(python_loop_spare(&python, &script));
    script.state = 0;
    push(CALLED, 0);
    expect(&codes[CALLED]);
    /* It ran in a loop that this one has called. */
    native.sp = record() + 8;
    assert_false(find());
    native.sp = record();
    expect(&codes[CALLED]);
    native.caller = CALLER + 4;
    assert_false(find());
    make(12, 4);
    assert_false(python_loop_spare(&python, &script));
    push(CALLED, 0);
    end_frames(2);
    assert_true(python_loop_spare(&python, &script));
    script.state = 0;
    expect(&codes[CALLED]);
}

/* Up to 3.10 the object names the innermost frame as its caller. */
static void
an_object(void **state)
{
    (void)state;
    static uint64_t objects[2][16];
    for (unsigned minor = 9; minor <= 10; minor++) {
        make(minor, 0);
        native.depth = 1;
        native.pc = python.loop_start;
        script.is_counted = minor == 9;
        script.innermost = address_of(objects[0]);
        for (unsigned i = 0; i < 2; i++) {
            put(objects[i], 8, address_of(frame_type));
            put(objects[i], python.layout.frame.code, address_of(&codes[i]));
            native_stack[40 - 2 - i] = address_of(objects[i]);
        }
        put(objects[1], python.layout.frame.previous, address_of(objects[0]));
        expect(&codes[1]);
        /* The caller has no register for it. */
        native_stack[40 + 1] = native_stack[40 - 3];
        native_stack[40 - 3] = 0;
        expect(&codes[1]);
        put(objects[1], python.layout.frame.previous, 0);
        assert_false(find());
    }
}

static int
begin(void **state)
{
    (void)state;
    return python_loop_begin();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_function_that_is_entered, begin),
        cmocka_unit_test_setup(a_function_that_is_left, begin),
        cmocka_unit_test_setup(a_generator, begin),
        cmocka_unit_test_setup(a_generator_that_is_entered, begin),
        cmocka_unit_test_setup(a_caller_of_both, begin),
        cmocka_unit_test_setup(two_loops_without_a_function, begin),
        cmocka_unit_test_setup(a_loop_below_a_function_that_is_left, begin),
        cmocka_unit_test_setup(a_caller_is_learned_at_once, begin),
        cmocka_unit_test_setup(what_is_kept_for_later, begin),
        cmocka_unit_test_setup(an_object, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
