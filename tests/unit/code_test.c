/* SPDX-License-Identifier: MIT */
/*
 * code_test.c -- frames of functions as their code shows them: of fixed size,
 * of a size that depends on pushed arguments, and of a size that the code does
 * not show.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unwind/frame_size.h"

/* endbr64; push %rbp; mov %rsp, %rbp */
#define ENTRY "\xf3\x0f\x1e\xfa\x55\x48\x89\xe5"
#define CALL "\xe8\x10\x20\x30\x40"
#define LEAVE "\xc9\xc3" /* leave; ret */

#define READ(code, frame) \
    frame_size_read((const uint8_t *)(code), sizeof(code) - 1, frame)
#define expect_frame(code, from, to)       \
    do {                                   \
        struct frame_size shown;           \
        assert_true(READ(code, &shown));   \
        assert_int_equal(shown.low, from); \
        assert_int_equal(shown.high, to);  \
    } while (0)

static void
frames_of_fixed_size_are_measured(void **state)
{
    struct frame_size frame;

    (void)state;
    expect_frame(ENTRY CALL LEAVE, 0, 0);
    /* sub $0x18, %rsp, in both lengths; the other way to write mov */
    expect_frame(ENTRY "\x48\x83\xec\x18" CALL LEAVE, 24, 24);
    expect_frame("\x55\x48\x8b\xec\x48\x81\xec\x00\x10\x00\x00" CALL LEAVE,
                 4096, 4096);
    /* push %r12; mov %rdi, %r12; push %rbx; then given back at the end */
    assert_true(READ(ENTRY "\x41\x54\x49\x89\xfc\x53" CALL
                           "\x5b\x41\x5c\x5d\xc3",
                     &frame));
    assert_int_equal(frame.low, 16);
    assert_int_equal(frame.high, 16);
    assert_int_equal(frame.ready, 14);
}

static void
arguments_make_the_size_a_range(void **state)
{
    (void)state;
    /* sub $8, %rsp; push $7; call; add $16, %rsp; call */
    expect_frame(ENTRY "\x48\x83\xec\x08\x6a\x07" CALL
                       "\x48\x83\xc4\x10" CALL LEAVE,
                 0, 16);
    /* push %rbx; push %rbx: the register, then an argument */
    expect_frame(ENTRY "\x53\x53" CALL LEAVE, 8, 16);
}

static void
code_that_is_not_understood_has_no_size(void **state)
{
    struct frame_size frame;

    (void)state;
    assert_false(READ("\x48\x83\xec\x18" CALL "\x48\x83\xc4\x18\xc3", &frame));
    /* sub %rax, %rsp; and $-32, %rsp; lea -8(%rsp, %rax), %rsp; cmp */
    assert_false(READ(ENTRY "\x48\x29\xc4" CALL LEAVE, &frame));
    assert_false(READ(ENTRY "\x48\x83\xe4\xe0" CALL LEAVE, &frame));
    assert_false(READ(ENTRY "\x48\x8d\x64\x04\xf8" CALL LEAVE, &frame));
    assert_false(READ(ENTRY "\x4c\x39\xdc" CALL LEAVE, &frame));
    /* Not an instruction; one that is not all there. */
    assert_false(READ(ENTRY "\x06" CALL LEAVE, &frame));
    assert_false(READ(ENTRY "\xe8\x10", &frame));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_fixed_size_are_measured),
        cmocka_unit_test(arguments_make_the_size_a_range),
        cmocka_unit_test(code_that_is_not_understood_has_no_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
