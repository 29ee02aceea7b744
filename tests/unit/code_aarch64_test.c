/* SPDX-License-Identifier: MIT */
/*
 * code_aarch64_test.c -- frames of functions as their code shows them, kinds of
 * places by their bytes, and what single instructions do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unwind/aarch64/instruction.h"
#include "unwind/code_flow.h"
#include "unwind/code_pattern.h"
#include "unwind/frame_size.h"

#define RET 0xd65f03c0    /* ret */
#define NOP 0xd503201f    /* nop */
#define CALL 0x94000010   /* bl .+64 */
#define SVC 0xd4000001    /* svc #0 */
#define UDF 0x00000000    /* udf #0 */
#define SET_FP 0x910003fd /* mov x29, sp */
#define USE_FP 0x910003bf /* mov sp, x29 */
#define PUSH 0xa9bf7bfd   /* stp x29, x30, [sp, #-16]! */
#define POP 0xa8c17bfd    /* ldp x29, x30, [sp], #16 */
#define SUB_16 0xd10043ff /* sub sp, sp, #16 */
#define ADD_16 0x910043ff /* add sp, sp, #16 */
#define BTI_C 0xd503245f  /* bti c */
#define BRANCH 0xb4000060 /* cbz x0, .+12 */
#define BACK 0x17fffffe   /* b .-8 */

#define CODE(...) ((const uint32_t[]){__VA_ARGS__})
#define READ(frame, ...)                                \
    frame_size_read((const uint8_t *)CODE(__VA_ARGS__), \
                    sizeof(CODE(__VA_ARGS__)), frame)
#define expect_frame(size, from, ...)        \
    do {                                     \
        struct frame_size is;                \
        assert_true(READ(&is, __VA_ARGS__)); \
        assert_int_equal(is.low, size);      \
        assert_int_equal(is.high, size);     \
        assert_int_equal(is.ready, from);    \
    } while (0)
#define refuse(...)                           \
    do {                                      \
        struct frame_size is;                 \
        assert_false(READ(&is, __VA_ARGS__)); \
    } while (0)

static void
frames_of_fixed_size_are_measured(void **state)
{
    (void)state;
    expect_frame(0, 8, PUSH, SET_FP, CALL, POP, RET);
    /* sub sp, sp, #48; stp x29, x30, [sp, #32]; add x29, sp, #32; ldp x29, x30,
     * [sp, #32]; add sp, sp, #48 */
    expect_frame(32, 16, 0xd100c3ff, 0xa9027bfd, NOP, 0x910083fd, CALL,
                 0xa9427bfd, 0x9100c3ff, RET);
    /* stp x29, x30, [sp, #-32]!; stp x19, x20, [sp, #16] */
    expect_frame(0, 8, 0xa9be7bfd, SET_FP, 0xa90153f3, CALL, 0xa8c27bfd, RET);
    /* sub sp, sp, #16; sub sp, sp, #1, lsl #12 */
    expect_frame(16, 12, PUSH, SET_FP, SUB_16, CALL, ADD_16, POP, RET);
    expect_frame(4112, 16, PUSH, SET_FP, SUB_16, 0xd14007ff, CALL, USE_FP, POP,
                 RET);
    /* bti c; paciasp; autiasp; retaa; blr x3 */
    expect_frame(16, 20, BTI_C, 0xd503233f, PUSH, SET_FP, SUB_16, 0xd63f0060,
                 ADD_16, POP, 0xd50323bf, 0xd65f0bff);
    /* What follows an end stands in the frame again. */
    expect_frame(0, 8, PUSH, SET_FP, BRANCH, POP, RET, CALL, BACK);
    expect_frame(0, 8, PUSH, SET_FP, BRANCH, POP, BACK, CALL, UDF);
    expect_frame(0, 8, PUSH, SET_FP, BRANCH, USE_FP, UDF, CALL, BACK);
}

static void
code_that_is_not_understood_has_no_size(void **state)
{
    struct frame_size frame;

    (void)state;
    assert_false(frame_size_read((const uint8_t *)CODE(SET_FP), 3, &frame));
    refuse(SUB_16, CALL, ADD_16, RET);
    refuse(PUSH, SET_FP, CALL, SET_FP, POP, RET);
    /* mov x29, x0; mov x29, #0; sub x29, sp, #16 */
    refuse(PUSH, 0xaa0003fd, CALL, POP, RET);
    refuse(PUSH, SET_FP, 0xd280001d, CALL, POP, RET);
    refuse(PUSH, 0xd10043fd, CALL, POP, RET);
    /* sub sp, sp, x0; and sp, x0, #-32; mov sp, x0 */
    refuse(PUSH, SET_FP, 0xcb2063ff, CALL, POP, RET);
    refuse(PUSH, SET_FP, 0x927be81f, CALL, POP, RET);
    refuse(PUSH, SET_FP, 0x9100001f, CALL, POP, RET);
    /* sp is moved down after a call, a branch or an end, or by str x19, [sp,
     * #-16]! */
    refuse(PUSH, SET_FP, CALL, SUB_16, CALL, POP, RET);
    refuse(PUSH, SET_FP, BRANCH, SUB_16, CALL, POP, RET);
    refuse(PUSH, SET_FP, BACK, SUB_16, CALL, POP, RET);
    refuse(PUSH, SET_FP, RET, SUB_16, CALL, POP, RET);
    refuse(PUSH, SET_FP, 0xf81f0ff3, CALL, POP, RET);
    /* There are calls where sp was moved up. */
    refuse(PUSH, SET_FP, CALL, ADD_16, CALL, POP, RET);
    refuse(PUSH, SET_FP, CALL, USE_FP, CALL, POP, RET);
    refuse(PUSH, SET_FP, CALL, POP, CALL, RET);
    /* blr x3 */
    refuse(PUSH, SET_FP, CALL, POP, 0xd63f0060, RET);
}

static void
restorers_are_recognized(void **state)
{
    /* mov x8, #139; mov x8, #138 */
    static const uint32_t code[] = {NOP,        0xd2801168, SVC,        NOP,
                                    0xd2801148, SVC,        0xd2801168, NOP};
    uint64_t pc = (uint64_t)code;

    (void)state;
    assert_true(code_pattern_is_restorer(pc + 4));
    assert_true(code_pattern_is_restorer(pc + 3));
    assert_false(code_pattern_is_restorer(pc));
    assert_false(code_pattern_is_restorer(pc + 2));
    assert_false(code_pattern_is_restorer(pc + 8));
    assert_false(code_pattern_is_restorer(pc + 16));
    assert_false(code_pattern_is_restorer(pc + 24));
    assert_false(code_pattern_is_restorer(16));
}

static void
entries_are_recognized(void **state)
{
    /* paciasp; pacibsp; bti j; bti jc; bti. No entry: autiasp */
    static const uint32_t code[] = {BTI_C,      0xd503233f, 0xd503237f,
                                    0xd503249f, 0xd50324df, 0xd503241f,
                                    NOP,        0xd50323bf, RET};
    uint64_t pc = (uint64_t)code;

    (void)state;
    for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++)
        assert_true(code_pattern_is_entry(pc + i * 4) == (i < 6));
    assert_false(code_pattern_is_entry(pc + 2));
    assert_false(code_pattern_is_entry(16));
}

/* As the linker makes them: the first stub, with bti c or not, and others. */
#define FIRST_STUB                                                         \
    0xa9bf7bf0 /* stp x16, x30, [sp, #-16]! */, 0xf00000f0 /* adrp x16 */, \
        0xf947fe11 /* ldr x17, [x16, #4088] */,                            \
        0x913fe210 /* add x16, x16, #0xff8 */, 0xd61f0220 /* br x17 */
#define STUB                                                        \
    0x90000110 /* adrp x16 */, 0xf9400611 /* ldr x17, [x16, #8] */, \
        0x91002210 /* add x16, x16, #8 */, 0xd61f0220 /* br x17 */

/* The COUNT instructions at PC belong to a stub and have the rule RIGHT. */
static void
expect_stub(uint64_t pc, unsigned count, struct rule right)
{
    for (unsigned i = 0; i < count * 4; i++)
        assert_int_equal(code_pattern_stub(pc + i).word, right.word);
}

static void
stubs_are_recognized(void **state)
{
    static const uint32_t plain[] = {FIRST_STUB, NOP, NOP, NOP, STUB, STUB};
    static const uint32_t landing[] = {BTI_C, FIRST_STUB, NOP,   NOP, BTI_C,
                                       STUB,  NOP,        BTI_C, STUB};
    /* adrp x17; ldr w17, [x16, #16]; br x3; ldr x17, [x17, #16] */
    static const uint32_t other[] = {NOP, 0xd0000011, 0xb9401211, 0xd61f0060,
                                     0xf9400a31};
    struct rule none = rule_make(RULE_NONE), entry = rule_entry();
    struct rule pushed = rule_frame(RULE_CFA_SP, 16, RULE_FP_SAME, 0);
    uint64_t pc = (uint64_t)plain;

    (void)state;
    expect_stub(pc, 1, entry);
    expect_stub(pc + 4, 4, pushed);
    expect_stub(pc + 20, 3, none);
    expect_stub(pc + 32, 8, entry);
    pc = (uint64_t)landing;
    expect_stub(pc + 4, 1, entry);
    expect_stub(pc + 8, 4, pushed);
    expect_stub(pc + 36, 4, entry);
    expect_stub(pc + 60, 4, entry);
    expect_stub((uint64_t)other, 5, none);
    expect_stub(16, 1, none);
}

static void
ends_of_programs_are_recognized(void **state)
{
    /* mov w0, #0; bl exit; udf. mov x8, #93; svc #0; brk #0 */
    static const uint32_t by_call[] = {0x52800000, CALL, UDF, NOP, NOP, NOP};
    static const uint32_t by_svc[] = {0xd2800ba8, SVC, 0xd4200000,
                                      RET,        NOP, NOP};
    /* br x17 leads on. The last one does not end in time. */
    static const uint32_t others[][6] = {{NOP, RET, UDF, NOP, NOP, NOP},
                                         {BRANCH, UDF, UDF, UDF, UDF, UDF},
                                         {CALL, BACK, UDF, UDF, UDF, UDF},
                                         {NOP, 0xd61f0220, UDF, UDF, UDF, UDF},
                                         {NOP, NOP, NOP, NOP, NOP, NOP}};

    (void)state;
    assert_true(code_pattern_is_last((uint64_t)by_call));
    assert_true(code_pattern_is_last((uint64_t)by_svc));
    assert_false(code_pattern_is_last((uint64_t)by_svc + 2));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(code_pattern_is_last((uint64_t)others[i]));
    assert_false(code_pattern_is_last(16));
}

static void
slots_are_computed(void **state)
{
    uint64_t slot;

    (void)state;
    /* adrp x16, 0x19f000 at 0x27204; ldr x17, [x16, #4088] */
    assert_true(instruction_slot(CODE(0x90000bd0, 0xf947fe11), 0x27204, &slot));
    assert_int_equal(slot, 0x19fff8);
    /* adrp x16, 0x3ff000 at 0x400000 and 0x402000 at 0x400008; ldr x17, [x16,
     * #16] */
    assert_true(
        instruction_slot(CODE(0xf0fffff0, 0xf9400a11), 0x400000, &slot));
    assert_int_equal(slot, 0x3ff010);
    assert_true(
        instruction_slot(CODE(0xd0000010, 0xf9400a11), 0x400008, &slot));
    assert_int_equal(slot, 0x402010);
    /* adrp x17; ldr x17, [x17, #16]; ldr w17, [x16, #16]; adr x29, . */
    assert_false(instruction_slot(CODE(0xd0000011, 0xf9400a11), 0, &slot));
    assert_false(instruction_slot(CODE(0xd0000010, 0xf9400a31), 0, &slot));
    assert_false(instruction_slot(CODE(0xd0000010, 0xb9401211), 0, &slot));
    assert_false(instruction_slot(CODE(0x1000001d, 0xf9400a11), 0, &slot));
}

static const struct {
    uint32_t word;
    enum instruction_kind kind;
    int first, second; /* registers */
    int offset, move, target;
} known[] = {
    {PUSH, IN_STORE, 29, 30, -16, -16, 0},
    {POP, IN_LOAD, 29, 30, 0, 16, 0},
    {0xa9417bfd /* ldp x29, x30, [sp, #16] */, IN_LOAD, 29, 30, 16, 0, 0},
    {0x6cc17bfd /* ldp d29, d30, [sp], #16 */, IN_LOAD, 255, 255, 0, 16, 0},
    {0xb81f0fe0 /* str w0, [sp, #-16]! */, IN_STORE, 255, 255, -16, -16, 0},
    {0x28c17bfd /* ldp w29, w30, [sp], #8 */, IN_LOAD, 255, 255, 0, 8, 0},
    {0xf9400ffe /* ldr x30, [sp, #24] */, IN_LOAD, 30, 255, 24, 0, 0},
    {0xf84083fe /* ldur x30, [sp, #8] */, IN_LOAD, 30, 255, 8, 0, 0},
    {0xf8616be0 /* ldr x0, [sp, x1] */, IN_LOAD, 255, 255, 0, 0, 0},
    {0xa900781d /* stp x29, x30, [x0] */, IN_OTHER, 255, 255, 0, 0, 0},
    {0xf8410420 /* ldr x0, [x1], #16 */, IN_OTHER, 255, 255, 0, 0, 0},
    {0xd10043bf /* sub sp, x29, #16 */, IN_USE_FP, 255, 255, -16, 0, 0},
    {0x910043fd /* add x29, sp, #16 */, IN_SET_FP, 255, 255, 16, 0, 0},
    {0xd14007ff /* sub sp, sp, #1, lsl #12 */, IN_MOVE, 255, 255, -4096, 0, 0},
    {0xd100401d /* sub x29, x0, #16 */, IN_WRITE_FP, 255, 255, -16, 0, 0},
    {0xb10043ff /* cmn sp, #16 */, IN_OTHER, 255, 255, 16, 0, 0},
    {0x910003e0 /* mov x0, sp */, IN_OTHER, 255, 255, 0, 0, 0},
    {0xaa1e03fd /* mov x29, x30 */, IN_WRITE_FP, 255, 255, 0, 0, 0},
    {0x9000001d /* adrp x29, . */, IN_WRITE_FP, 255, 255, 0, 0, 0},
    {0x97ffffff /* bl .-4 */, IN_CALL, 255, 255, 0, 0, -4},
    {0x15000000 /* b .+0x4000000 */, IN_JUMP, 255, 255, 0, 0, 1 << 26},
    {0x54fffe00 /* b.eq .-64 */, IN_BRANCH, 255, 255, 0, 0, -64},
    {0xb4ffffc0 /* cbz x0, .-8 */, IN_BRANCH, 255, 255, 0, 0, -8},
    {0x371fffc0 /* tbnz w0, #3, .-8 */, IN_BRANCH, 255, 255, 0, 0, -8},
    {0xd73f0822 /* blraa x1, x2 */, IN_CALL_REGISTER, 255, 255, 0, 0, 0},
    {0xd71f0a11 /* braa x16, x17 */, IN_END, 255, 255, 0, 0, 0},
    {0xd65f0fff /* retab */, IN_RETURN, 255, 255, 0, 0, 0},
};

static void
instructions_are_read(void **state)
{
    struct instruction in;
    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        instruction_read(known[i].word, &in);
        assert_int_equal(in.kind, known[i].kind);
        assert_int_equal(in.first, known[i].first);
        assert_int_equal(in.second, known[i].second);
        assert_int_equal(in.offset, known[i].offset);
        assert_int_equal(in.move, known[i].move);
        assert_int_equal(in.target, known[i].target);
        assert_true(in.is_writing_back == (in.move != 0));
    }
}

static struct code_flow flow;

static void
expect_rule(unsigned instruction, struct rule rule)
{
    const struct code_row *row =
        code_flow_row(flow.rows, flow.count, instruction * 4);

    assert_non_null(row);
    assert_int_equal(row->rule.word, rule.word);
}

/* Follow a function that calls a helper of instructions WORDS in turn, and
 * keeps its return address in x15 (dav1d). Returns whether it is proved. */
static bool
read_helped(const uint32_t words[2])
{
    const uint32_t code[] = {0xaa1e03ef, /* 0: mov x15, x30 */
                             0x94000004, /* 1: bl 5 */
                             0x94000003, /* 2: bl 5 */
                             0xd65f01e0, /* 3: ret x15 */
                             NOP,        /* 4 */
                             words[0],   words[1], RET};

    return code_flow_read((const uint8_t *)code, sizeof(code), 0, false, &flow);
}

static void
a_return_address_is_in_a_register(void **state)
{
    static const uint32_t kept[][2] = {
        {0x4e2fd5ef /* fadd v15.4s, v15.4s, v15.4s */, NOP},
        {0x4c40780f /* ld1 {v15.4s}, [x0] */, 0x8b0f0021 /* add x1, x1, x15 */},
        {0x3dc0000f /* ldr q15, [x0] */, 0xf90001ef /* str x15, [x15] */},
        {0xa9003c0e /* stp x14, x15, [x0] */, 0xb4ffffe0 /* cbz x0, .-4 */},
        {0xeb0f001f /* cmp x0, x15 */, 0x1e6041ef /* fmov d15, d15 */}};
    static const uint32_t changed[] = {0xd280000f /* mov x15, #0 */,
                                       0xaa0003ef /* mov x15, x0 */,
                                       0xf940000f /* ldr x15, [x0] */,
                                       0xa9403c0e /* ldp x14, x15, [x0] */,
                                       0xb940000f /* ldr w15, [x0] */,
                                       0xf84085e0 /* ldr x0, [x15], #8 */,
                                       0xf8408de0 /* ldr x0, [x15, #8]! */,
                                       0x4cdf79e0 /* ld1 , [x15], #16 */,
                                       0x0e043c0f /* umov w15, v0.s[0] */,
                                       0x9e66000f /* fmov x15, d0 */,
                                       0x9e78000f /* fcvtzs x15, d0 */,
                                       0xc85f7c0f /* ldxr x15, [x0] */,
                                       0xc80f7c01 /* stxr w15, x1, [x0] */,
                                       0xd53bd04f /* mrs x15, tpidr_el0 */,
                                       0xf820000f /* ldadd x0, x15, [x0] */,
                                       0xf821800f /* swp */,
                                       0x5800000f /* ldr x15, . */,
                                       0x9000000f /* adrp x15, . */,
                                       0x0460e3ef /* cnth x15 */,
                                       0xd63f0000 /* blr x0 */,
                                       0xd61f0000 /* br x0 */};
    const struct rule by_x15 =
        rule_leaf(15, 0, rule_frame(RULE_CFA_SP, 0, RULE_FP_SAME, 0));

    (void)state;
    assert_int_equal(code_flow_begin(), 0);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        assert_true(read_helped(kept[i]));
        expect_rule(0, rule_entry());
        expect_rule(1, by_x15);
        expect_rule(2, by_x15);
        expect_rule(3, by_x15);
    }
    for (size_t i = 0; i < sizeof(changed) / sizeof(changed[0]); i++)
        assert_false(read_helped((const uint32_t[]){changed[i], NOP}));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_fixed_size_are_measured),
        cmocka_unit_test(code_that_is_not_understood_has_no_size),
        cmocka_unit_test(restorers_are_recognized),
        cmocka_unit_test(entries_are_recognized),
        cmocka_unit_test(stubs_are_recognized),
        cmocka_unit_test(ends_of_programs_are_recognized),
        cmocka_unit_test(slots_are_computed),
        cmocka_unit_test(instructions_are_read),
        cmocka_unit_test(a_return_address_is_in_a_register),
    };

    return cmocka_run_group_tests_name("code", tests, NULL, NULL);
}
