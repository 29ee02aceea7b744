/* SPDX-License-Identifier: MIT */
/*
 * code_shapes_test.c -- functions of x86-64 without a table, in the shapes that
 * numeric libraries have, and code that proves nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/code_flow.h"

static struct code_flow flow;
static bool is_read;

#define READ(code, entry) \
    code_flow_read(code, sizeof(code), entry, false, &flow)

static void
expect_rule(size_t at, struct rule rule)
{
    const struct code_row *row = code_flow_row(flow.rows, flow.count, at);

    assert_non_null(row);
    assert_int_equal(row->rule.word, rule.word);
}

static void
expect_none(size_t at)
{
    assert_null(code_flow_row(flow.rows, flow.count, at));
}

static int
begin(void **state)
{
    (void)state;
    return code_flow_begin();
}

static void
saves_are_moves(void **state)
{
    static const uint8_t code[] = {
        0x48, 0x83, 0xec, 0x40,       /* 0: sub $0x40, %rsp */
        0x48, 0x89, 0x6c, 0x24, 0x08, /* 4: mov %rbp, 8(%rsp) */
        0x31, 0xed,                   /* 9: xor %ebp, %ebp */
        0x48, 0x8b, 0x6c, 0x24, 0x08, /* 11: mov 8(%rsp), %rbp */
        0x48, 0x83, 0xc4, 0x40,       /* 16: add $0x40, %rsp */
        0xc3};                        /* 20: ret */

    (void)state;
    assert_true(READ(code, 0));
    expect_rule(0, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    expect_rule(4, rule_frame(RULE_CFA_SP, 72, RULE_FP_SAME, 0));
    expect_rule(11, rule_frame(RULE_CFA_SP, 72, RULE_FP_AT_CFA, -64));
    expect_rule(16, rule_frame(RULE_CFA_SP, 72, RULE_FP_SAME, 0));
    expect_rule(20, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
}

/* The stack is aligned, and what it was is in a word of it. */
static void
sp_is_in_a_word(void **state)
{
    static const uint8_t code[] = {
        0x55,                                           /* 0: push %rbp */
        0x53,                                           /* 1: push %rbx */
        0x48, 0x89, 0xe0,                               /* 2: mov %rsp, %rax */
        0x48, 0x83, 0xe4, 0xc0,                         /* 5: and $-64, %rsp */
        0x48, 0x81, 0xec, 0x40, 0x04, 0x00, 0x00,       /* 9: sub */
        0x48, 0x89, 0x84, 0x24, 0x00, 0x04, 0x00, 0x00, /* 16: mov %rax, */
        0x31, 0xed,                                     /* 24: xor */
        0xff, 0xd7,                                     /* 26: call *%rdi */
        0x48, 0x8b, 0xa4, 0x24, 0x00, 0x04, 0x00, 0x00, /* 28: mov , %rsp */
        0x5b, 0x5d, 0xc3};                              /* 36: pop, pop, ret */
    const struct rule by_word =
        rule_frame(RULE_CFA_SP_DEREF, rule_deref_offset(0x400, 24),
                   RULE_FP_AT_CFA, -16);

    (void)state;
    assert_true(READ(code, 0));
    expect_rule(5, rule_frame(RULE_CFA_SP, 24, RULE_FP_AT_CFA, -16));
    expect_rule(9, rule_leaf(0, 24,
                             rule_frame(RULE_CFA_SP, 24, RULE_FP_AT_CFA, -16)));
    expect_rule(24, by_word);
    expect_rule(26, by_word);
    expect_rule(28, by_word);
    expect_rule(36, rule_frame(RULE_CFA_SP, 24, RULE_FP_AT_CFA, -16));
    expect_rule(38, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
}

/* The stack is aligned, and what it was is in a register, which the first call
 * may change. The frame pointer is overwritten. */
static void
sp_is_in_a_register(void **state)
{
    static const uint8_t code[] = {0x48, 0x89, 0xe1, /* 0: mov %rsp, %rcx */
                                   0x48, 0x83, 0xe4,
                                   0xe0,       /* 3: and $-32, %rsp */
                                   0x31, 0xed, /* 7: xor %ebp, %ebp */
                                   0x48, 0x83, 0xec,
                                   0x40, /* 9: sub $64, %rsp */
                                   0x48, 0x89, 0xcc,
                                   0xc3};       /* 13: mov %rcx, %rsp; ret */
    static const uint8_t calls[] = {0x41, 0x56, /* 0: push %r14 */
                                    0x49, 0x89, 0xe6, /* 2: mov %rsp, %r14 */
                                    0x48, 0x83, 0xe4,
                                    0xe0,              /* 5: and $-32, %rsp */
                                    0x48, 0x89, 0xe1,  /* 9: mov %rsp, %rcx */
                                    0xff, 0xd7,        /* 12: call *%rdi */
                                    0x4c, 0x89, 0xf4,  /* 14: mov %r14, %rsp */
                                    0x41, 0x5e, 0xc3}; /* 17: pop %r14; ret */

    (void)state;
    assert_false(READ(code, 0));
    assert_true(code_flow_read(code, sizeof(code), 0, true, &flow));
    expect_rule(7,
                rule_leaf(1, 8, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0)));
    expect_rule(9,
                rule_leaf(1, 8, rule_frame(RULE_CFA_SP, 8, RULE_FP_LOST, 0)));
    expect_rule(16, rule_frame(RULE_CFA_SP, 8, RULE_FP_LOST, 0));
    assert_true(READ(calls, 0));
    expect_rule(9, rule_leaf(14, 16,
                             rule_frame(RULE_CFA_SP, 16, RULE_FP_SAME, 0)));
    expect_rule(14, rule_leaf(14, 16,
                              rule_frame(RULE_CFA_SP, 16, RULE_FP_SAME, 0)));
    expect_rule(17, rule_frame(RULE_CFA_SP, 16, RULE_FP_SAME, 0));
}

/* Where sp was is in a register over two calls of a helper, which has a helper
 * of its own. Its last instructions are HELPS, SIZE bytes. */
#define HELPER 48
static void
read_helped(const uint8_t *helps, size_t size)
{
    static const uint8_t caller[] = {
        0x48, 0x89, 0xe1,                        /* 0: mov %rsp, %rcx */
        0x48, 0x83, 0xe4, 0xe0,                  /* 3: and $-32, %rsp */
        0xe8, 0x24, 0x00, 0x00, 0x00,            /* 7: call 48 */
        0x48, 0x83, 0xec, 0x40,                  /* 12: sub $64, %rsp */
        0xe8, 0x1b, 0x00, 0x00, 0x00,            /* 16: call 48 */
        0x48, 0x89, 0xcc,                        /* 21: mov %rcx, %rsp */
        0xc3};                                   /* 24: ret */
    static const uint8_t helper[] = {0x85, 0xff, /* 48: test %edi, %edi */
                                     0x74, 0x03, /* 50: je 55 */
                                     0x31, 0xc0, /* 52: xor %eax, %eax */
                                     0xc3,       /* 54: ret */
                                     0xe8, 0x04, 0x00,
                                     0x00, 0x00}; /* 55: call 64 */
    uint8_t code[HELPER + 32] = {0};

    memcpy(code, caller, sizeof(caller));
    memcpy(code + HELPER, helper, sizeof(helper));
    code[HELPER + sizeof(helper)] = 0xc3; /* 60: ret */
    memcpy(code + HELPER + 16, helps, size);
    is_read = READ(code, 0);
}

static void
a_helper_leaves_a_register(void **state)
{
    static const uint8_t kept[] = {0xff, 0xc2, 0xc3};    /* inc %edx; ret */
    static const uint8_t changed[] = {0xff, 0xc1, 0xc3}; /* inc %ecx */
    static const uint8_t byte[] = {0xb5, 0x01, 0xc3};    /* mov $1, %ch */
    static const uint8_t shift[] = {0xe2, 0xfe, 0xc3};   /* loop */
    static const uint8_t text[] = {0x66, 0x0f, 0x3a, 0x63,
                                   0xc1, 0x00, 0xc3};   /* pcmpistri */
    static const uint8_t called[] = {0xff, 0xd0, 0xc3}; /* call *%rax */
    static const uint8_t gone[] = {0xff, 0xe0};         /* jmp *%rax */
    static const uint8_t away[] = {0xe9, 0x00, 0x01, 0x00, 0x00};
    static const uint8_t ending[] = {0x0f, 0x0b};  /* ud2 */
    static const uint8_t endless[] = {0xeb, 0xfe}; /* jmp . */
    const struct rule by_rcx =
        rule_leaf(1, 8, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));

    (void)state;
    read_helped(kept, sizeof(kept));
    assert_true(is_read);
    for (size_t at = 7; at < 24; at++)
        expect_rule(at, by_rcx);
    expect_rule(24, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    read_helped(ending, sizeof(ending));
    assert_true(is_read);
    read_helped(endless, sizeof(endless));
    assert_true(is_read);
    read_helped(changed, sizeof(changed));
    assert_false(is_read);
    read_helped(byte, sizeof(byte));
    assert_false(is_read);
    read_helped(shift, sizeof(shift));
    assert_false(is_read);
    read_helped(text, sizeof(text));
    assert_false(is_read);
    read_helped(called, sizeof(called));
    assert_false(is_read);
    read_helped(gone, sizeof(gone));
    assert_false(is_read);
    read_helped(away, sizeof(away));
    assert_false(is_read);
}

/* A function that has nothing on the stack calls two helpers. */
static void
helpers_are_called_in_a_row(void **state)
{
    static const uint8_t code[] = {0xe8, 0x0b, 0x00,
                                   0x00, 0x00, /* 0: call 16 */
                                   0x31, 0xc0, /* 5: xor %eax, %eax */
                                   0xe8, 0x04, 0x00,
                                   0x00, 0x00,        /* 7: call 16 */
                                   0x31, 0xc0,        /* 12: xor %eax, %eax */
                                   0xc3, 0x90,        /* 14: ret; nop */
                                   0xff, 0xc2, 0xc3}; /* 16: inc %edx; ret */

    (void)state;
    assert_true(READ(code, 0));
    for (size_t at = 0; at < 15; at++)
        expect_rule(at, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
}

/* A helper is called with nothing on the stack. What follows goes on with that,
 * unless it is another function, whose return does not fit. */
static void
a_helper_is_called(void **state)
{
    static const uint8_t code[] = {
        0x31, 0xc0,                   /* 0: xor %eax, %eax */
        0xe8, 0x09, 0x00, 0x00, 0x00, /* 2: call 16 */
        0x31, 0xdb,                   /* 7: xor %ebx, %ebx */
        0xc3,                         /* 9: ret */
        0x90, 0x90, 0x90, 0x90, 0x90,
        0x90, 0x31, 0xed, 0xc3}; /* 16: xor %ebp, %ebp; ret */

    (void)state;
    assert_false(READ(code, 0));
    assert_true(code_flow_read(code, sizeof(code), 0, true, &flow));
    expect_rule(7, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    assert_false(READ(code, 16));
    assert_true(code_flow_read(code, sizeof(code), 16, true, &flow));
    expect_rule(18, rule_frame(RULE_CFA_SP, 8, RULE_FP_LOST, 0));
}

/* A jump to a computed address leads to what no other way reaches, but not to
 * the next function. */
static void
a_switch_leads_on(void **state)
{
    static const uint8_t code[] = {0x53,             /* 0: push %rbx */
                                   0xff, 0xe0,       /* 1: jmp *%rax */
                                   0x31, 0xc0,       /* 3: xor %eax, %eax */
                                   0xeb, 0x02,       /* 5: jmp 9 */
                                   0x31, 0xdb,       /* 7: xor %ebx, %ebx */
                                   0x5b, 0xc3, 0x90, /* 9: pop %rbx; ret */
                                   0x5d, 0xc3};      /* 12: another one's */

    (void)state;
    assert_true(READ(code, 0));
    expect_rule(3, rule_frame(RULE_CFA_SP, 16, RULE_FP_SAME, 0));
    expect_rule(7, rule_frame(RULE_CFA_SP, 16, RULE_FP_SAME, 0));
    expect_rule(9, rule_frame(RULE_CFA_SP, 16, RULE_FP_SAME, 0));
    expect_none(12);
}

/* What follows a call that does not return is another function's. */
static void
a_call_that_does_not_return_ends_it(void **state)
{
    static const uint8_t code[] = {
        0x53,                         /* 0: push %rbx */
        0x85, 0xff,                   /* 1: test %edi, %edi */
        0x74, 0x02,                   /* 3: je 7 */
        0x5b, 0xc3,                   /* 5: pop %rbx; ret */
        0xe8, 0x00, 0x01, 0x00, 0x00, /* 7: call */
        0x55, 0x5d, 0xeb, 0xfc};      /* 12: another one, without an end */

    (void)state;
    assert_true(READ(code, 0));
    expect_rule(5, rule_frame(RULE_CFA_SP, 16, RULE_FP_SAME, 0));
    expect_none(7);
    expect_none(12);
}

/* After a call sp is not what it is where a jump leads. */
static void
a_frame_pointer_is_believed(void **state)
{
    static const uint8_t code[] = {
        0x55,                         /* 0: push %rbp */
        0x48, 0x89, 0xe5,             /* 1: mov %rsp, %rbp */
        0x48, 0x83, 0xec, 0x10,       /* 4: sub $16, %rsp */
        0x85, 0xff,                   /* 8: test %edi, %edi */
        0x74, 0x0b,                   /* 10: je 23 */
        0x48, 0x29, 0xc4,             /* 12: sub %rax, %rsp */
        0x48, 0x89, 0xe7,             /* 15: mov %rsp, %rdi */
        0xe8, 0x00, 0x01, 0x00, 0x00, /* 18: call */
        0x90,                         /* 23: nop */
        0xc9, 0xc3};                  /* 24: leave; ret */
    const struct rule by_fp = rule_frame(RULE_CFA_FP, 16, RULE_FP_AT_CFA, -16);

    (void)state;
    assert_true(READ(code, 0));
    expect_rule(4, by_fp);
    expect_rule(15, by_fp);
    expect_rule(24, by_fp);
    expect_rule(25, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
}

static void
nothing_is_proved(void **state)
{
    static const uint8_t lower[] = {0x50, 0xc3};         /* push %rax; ret */
    static const uint8_t higher[] = {0x58, 0xc3};        /* pop %rax; ret */
    static const uint8_t lost[] = {0x31, 0xdb, 0xc3};    /* xor %ebx; ret */
    static const uint8_t endless[] = {0x90, 0xeb, 0xfd}; /* jmp 0 */
    static const uint8_t away[] = {0xe9, 0x00, 0x01, 0x00, 0x00}; /* jmp */
    static const uint8_t gone[] = {0x53, 0xe9, 0x00, 0x01, 0x00, 0x00};
    static const uint8_t byte[] = {0xb3, 0x01, 0xc3}; /* mov $1, %bl; ret */
    static const uint8_t high[] = {0xb7, 0x01, 0xc3}; /* mov $1, %bh; ret */
    static const uint8_t unknown[] = {0x06, 0xc3};
    static const uint8_t small[] = {0x66, 0x50, 0x66, 0x58, 0xc3};
    static const uint8_t two[] = {0x74, 0x01, /* je 3 */
                                  0x53,       /* push %rbx */
                                  0x5b, 0xc3};

    (void)state;
    assert_false(READ(lower, 0));
    assert_false(READ(higher, 0));
    assert_false(READ(lost, 0));
    assert_false(READ(endless, 0));
    assert_false(READ(away, 0));
    assert_false(READ(gone, 0));
    assert_false(READ(byte, 0));
    assert_false(READ(high, 0));
    assert_false(READ(unknown, 0));
    assert_false(READ(small, 0)); /* push %ax; pop %ax; ret */
    assert_false(READ(two, 0));
    assert_false(READ(two, 5));
}

/* Registers of vector instructions, and bytes of registers, are
 * distinguished. */
static void
other_registers_may_change(void **state)
{
    static const uint8_t code[] = {0xc5, 0xf4, 0x58,
                                   0xda,       /* vaddps %ymm2, %ymm1, %ymm3 */
                                   0xb5, 0x01, /* mov $1, %ch */
                                   0xc4, 0xe2, 0x60,
                                   0xf2, 0xc1, /* andn %ecx, %ebx, %eax */
                                   0xc3};
    static const uint8_t of_rbx[] = {0xc5, 0xfa, 0x2d,
                                     0xd8, /* vcvtss2si %xmm0, %ebx */
                                     0xc3};
    static const uint8_t of_r12[] = {0xc5, 0x7a, 0x2d,
                                     0xe0, /* vcvtss2si %xmm0, %r12d */
                                     0xc3};

    (void)state;
    assert_true(READ(code, 0));
    assert_false(READ(of_rbx, 0));
    assert_false(READ(of_r12, 0));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saves_are_moves),
        cmocka_unit_test(sp_is_in_a_word),
        cmocka_unit_test(sp_is_in_a_register),
        cmocka_unit_test(a_helper_leaves_a_register),
        cmocka_unit_test(helpers_are_called_in_a_row),
        cmocka_unit_test(a_helper_is_called),
        cmocka_unit_test(a_switch_leads_on),
        cmocka_unit_test(a_call_that_does_not_return_ends_it),
        cmocka_unit_test(a_frame_pointer_is_believed),
        cmocka_unit_test(nothing_is_proved),
        cmocka_unit_test(other_registers_may_change)};

    return cmocka_run_group_tests(tests, begin, NULL);
}
