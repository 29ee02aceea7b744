/* SPDX-License-Identifier: MIT */
/*
 * learn_tables_test.c -- rules learned from unwind tables that were written by
 * hand, one for each form of a rule and for what no rule can say; and frames of
 * the latter kind on a real stack.
 */
#include <execinfo.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include <cmocka.h>

#include "synthetic.h"

/* Code whose unwind table was written by hand, one label for each rule. */
__asm__(".pushsection .text\n"
        ".macro table name\n"
        ".globl table_\\name\n"
        ".hidden table_\\name\n"
        "table_\\name: .cfi_startproc\n"
        ".endm\n"
        ".macro end_table\n"
        "nop; nop; nop; nop\n"
        ".cfi_endproc\n"
        ".endm\n"
        "table plain\n" /* sp + 8 */
        "end_table\n"
        "table pushed\n" /* push %rbp */
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset 6, -16\n"
        "end_table\n"
        "table pointer\n" /* mov %rsp, %rbp */
        ".cfi_def_cfa 6, 16\n"
        ".cfi_offset 6, -16\n"
        "end_table\n"
        "table realigned\n" /* CFA = [rbp - 8], rbp at [rbp] */
        ".cfi_escape 0x0f, 3, 0x76, 0x78, 0x06\n"
        ".cfi_escape 0x10, 6, 2, 0x76, 0\n"
        "end_table\n"
        "table fp_in_register\n"
        ".cfi_register 6, 3\n"
        "end_table\n"
        "table fp_by_value\n" /* rbp = rsp + 64 */
        ".cfi_escape 0x16, 6, 3, 0x77, 0xc0, 0x00\n"
        "end_table\n"
        "table fp_by_sp\n" /* rbp at [rsp + 8] while CFA = rbp + 16 */
        ".cfi_def_cfa 6, 16\n"
        ".cfi_escape 0x10, 6, 2, 0x77, 8\n"
        "end_table\n"
        "table cfa_by_r10\n"
        ".cfi_def_cfa 10, 0\n"
        "end_table\n"
        "table cfa_by_stack\n" /* CFA = [rsp + 8] */
        ".cfi_escape 0x0f, 3, 0x77, 8, 0x06\n"
        "end_table\n"
        "table cfa_by_sum\n" /* CFA = [rbp - 8] + 16 */
        ".cfi_escape 0x0f, 5, 0x76, 0x78, 0x06, 0x23, 16\n"
        "end_table\n"
        "table cfa_by_two\n" /* CFA = [[rbp - 8]] */
        ".cfi_escape 0x0f, 4, 0x76, 0x78, 0x06, 0x06\n"
        "end_table\n"
        "table cfa_by_loop\n" /* CFA = rsp and eight times 8 */
        ".cfi_escape 0x0f, 14, 0x77, 0, 0x38, 0x16, 0x38, 0x22, 0x16, 0x31\n"
        ".cfi_escape 0x1c, 0x12, 0x28, 0xf6, 0xff, 0x13\n"
        "end_table\n"
        "table kept_at_sum\n" /* rbp at [rsp + 8 * 5], return at [rsp + 72] */
        ".cfi_def_cfa 7, 16\n"
        ".cfi_escape 0x10, 6, 6, 0x77, 0, 0x38, 0x35, 0x1e, 0x22\n"
        ".cfi_escape 0x10, 16, 3, 0x77, 0xc8, 0x00\n"
        "end_table\n"
        "table return_in_register\n" /* longjmp's kind: rip in rdx */
        ".cfi_def_cfa 5, 0\n"
        ".cfi_register 6, 9\n"
        ".cfi_register 16, 1\n"
        "end_table\n"
        "table recalled\n" /* CFA = r12 + 24 again, after rsp + 8 */
        ".cfi_def_cfa 12, 24\n"
        ".cfi_remember_state\n"
        ".cfi_def_cfa 7, 8\n"
        ".cfi_restore_state\n"
        "end_table\n"
        /* rbp = CFA - 32: DW_CFA_val_offset 6, 4 (DWARF 5, 7.24), for which
         * clang 14 has no directive. */
        "table by_value\n"
        ".cfi_escape 0x14, 6, 4\n"
        "end_table\n"
        "table far_return\n"
        ".cfi_def_cfa_offset 32\n"
        ".cfi_offset 16, -24\n"
        "end_table\n"
        "table huge\n"
        ".cfi_def_cfa_offset 0x10000000\n"
        "end_table\n"
        "table long\n" /* 18 KB of instructions, as Cython's functions have */
        ".rept 3000\n"
        ".cfi_adjust_cfa_offset 8\n"
        "nop\n"
        ".cfi_adjust_cfa_offset -8\n"
        "nop\n"
        ".endr\n"
        ".cfi_def_cfa_offset 24\n"
        "table_long_end:\n"
        "end_table\n"
        "table root\n"
        ".cfi_undefined 16\n"
        "end_table\n"
        "table call\n" /* call_by_rbx(function): CFA = rbx + 16 */
        "push %rbx\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset 3, -16\n"
        "mov %rsp, %rbx\n"
        ".cfi_def_cfa 3, 16\n"
        "sub $4096, %rsp\n"
        "call *%rdi\n"
        "mov %rbx, %rsp\n"
        ".cfi_def_cfa 7, 16\n"
        "pop %rbx\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        "end_table\n"
        /* Signal restorers whose tables do not say that they are such. */
        ".macro restorer\n"
        ".byte 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05\n"
        ".endm\n"
        "table restorer\n"
        "restorer\n"
        "end_table\n"
        "table restorer_inside\n" /* its table knows better */
        "nop; nop; nop; nop\n"
        "restorer\n"
        "end_table\n"
        ".globl bare_restorer\n"
        ".hidden bare_restorer\n"
        "bare_restorer: restorer\n"
        ".purgem restorer\n"
        ".purgem table\n"
        ".purgem end_table\n"
        ".globl table_long_end\n"
        ".hidden table_long_end\n"
        ".globl stub_call\n"
        ".hidden stub_call\n"
        "stub_call: call getppid@PLT\n"
        ".popsection\n");

extern const char table_plain[], table_pushed[], table_pointer[],
    table_realigned[], table_fp_in_register[], table_fp_by_value[],
    table_fp_by_sp[], table_cfa_by_r10[], table_cfa_by_stack[],
    table_cfa_by_sum[], table_cfa_by_two[], table_far_return[], table_huge[],
    table_long_end[], table_root[], stub_call[], table_restorer[],
    table_restorer_inside[], bare_restorer[], table_cfa_by_loop[],
    table_kept_at_sum[], table_return_in_register[], table_recalled[],
    table_by_value[];
void call_by_rbx(void (*function)(void)) __asm__("table_call");

static void
expect_rule(const char *code, struct rule rule)
{
    for (unsigned i = 0; i < 4; i++) {
        check_pc((uint64_t)code + i);
        assert_int_equal(rules_find((uint64_t)code + i).word, rule.word);
    }
}

static void
rows_of_tables_become_rules(void **state)
{
    (void)state;
    expect_rule(table_plain, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    expect_rule(table_pushed, rule_frame(RULE_CFA_SP, 16, RULE_FP_AT_CFA, -16));
    expect_rule(table_pointer,
                rule_frame(RULE_CFA_FP, 16, RULE_FP_AT_CFA, -16));
    expect_rule(table_realigned,
                rule_frame(RULE_CFA_FP_DEREF, -8, RULE_FP_AT_FP, 0));
    expect_rule(table_long_end, rule_frame(RULE_CFA_SP, 24, RULE_FP_SAME, 0));
    expect_rule(table_root, rule_make(RULE_ROOT));
}

/* What no rule can say must not become one. learn_step undoes it each time, and
 * finds what libunwind finds. */
static void
hard_rows_become_no_rules(void **state)
{
    static const char *const hard[] = {
        table_cfa_by_r10,  table_cfa_by_stack, table_cfa_by_sum,
        table_cfa_by_two,  table_far_return,   table_fp_by_sp,
        table_cfa_by_loop, table_kept_at_sum,  table_return_in_register,
        table_recalled};

    (void)state;
    for (unsigned i = 0; i < sizeof(hard) / sizeof(hard[0]); i++)
        expect_rule(hard[i], rule_make(RULE_HARD));
    assert_int_equal(rule_kind(learn_rule((uint64_t)table_huge, false)),
                     RULE_HARD);
}

static void
a_frame_pointer_that_is_kept_elsewhere_is_found(void **state)
{
    (void)state;
    expect_rule(table_fp_in_register, rule_make(RULE_HARD));
    expect_rule(table_fp_by_value, rule_make(RULE_HARD));
}

/* The CFA is sp + 8, and fp is 32 below it. libunwind 1.6 reads a word there.
 */
static void
a_register_may_be_a_distance(void **state)
{
    uint64_t pc = (uint64_t)table_by_value;
    struct hard_registers origin = {.known = HARD_ALL_KNOWN};
    struct regs caller;
    struct view view;
    bool is_root;

    (void)state;
    random_registers(pc);
    memcpy(origin.registers.at, unwinder.registers,
           sizeof(origin.registers.at));
    view_begin(&view, 0, 0, 0, window);
    assert_int_equal(rule_kind(learn_rule(pc, false)), RULE_HARD);
    assert_int_equal(learn_step(&origin, 0, pc, &view, &caller, &is_root), 0);
    assert_int_equal(caller.sp, unwinder.registers[ARCH_SP] + 8);
    assert_int_equal(caller.fp, caller.sp - 32);
    assert_int_equal(caller.pc, *(uint64_t *)(caller.sp - 8));
}

/* A register that is not known: once it is needed, once it is not. */
static void
what_is_not_known_is_not_used(void **state)
{
    struct hard_registers origin = {.known = HARD_ALL_KNOWN};
    struct regs caller;
    struct view view;
    bool is_root;

    (void)state;
    random_registers((uint64_t)table_cfa_by_r10);
    memcpy(origin.registers.at, unwinder.registers,
           sizeof(origin.registers.at));
    view_begin(&view, 0, 0, 0, window);
    origin.known = ~(1ull << 6);
    assert_int_equal(learn_step(&origin, 0, (uint64_t)table_cfa_by_r10, &view,
                                &caller, &is_root),
                     0);
    assert_int_equal(caller.sp, unwinder.registers[10]);
    assert_int_equal(caller.fp, REGS_FP_UNKNOWN);
    origin.known = ~(1ull << 10);
    assert_int_equal(learn_step(&origin, 0, (uint64_t)table_cfa_by_r10, &view,
                                &caller, &is_root),
                     -1);
}

/* The sampler may have no more than a copy of the stack. */
static void
a_step_needs_no_more_than_a_copy(void **state)
{
    uint64_t pc = (uint64_t)table_cfa_by_r10;
    struct view view;

    (void)state;
    random_registers(pc);
    struct answer answer = ask_libunwind();
    assert_true(answer.result > 0);
    learn_forget_pages();
    view_begin_copy(&view, (uint64_t)stack, FRAME_STACK_SIZE, stack);
    check_step(pc, &view, &answer);
}

/* Where a handler returns to, and the byte in front, which is what is asked
 * for: another function's last, if nothing lies between. */
static void
restorers_are_signal_frames(void **state)
{
    const struct rule plain = rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0);
    uint64_t first = (uint64_t)table_restorer, bare = (uint64_t)bare_restorer;

    (void)state;
    for (uint64_t back = 0; back < 2; back++) {
        assert_int_equal(learn_rule(first - back, false).word, RULE_SIGNAL);
        assert_int_equal(learn_rule(bare - back, false).word, RULE_SIGNAL);
    }
    /* The system call is the second instruction. */
    assert_int_equal(learn_rule(first + 7, false).word, RULE_SIGNAL);
    assert_int_equal(learn_rule(bare + 7, false).word, RULE_SIGNAL);
    assert_int_equal(
        learn_rule((uint64_t)table_restorer_inside + 4, false).word,
        plain.word);
}

/* The stub that calls of other libraries' functions go through. */
static void
the_stub_of_calls_is_crossed(void **state)
{
    int32_t offset;

    (void)state;
    memcpy(&offset, stub_call + 1, sizeof(offset));
    uint64_t stub = (uint64_t)stub_call + 5 + (uint64_t)(int64_t)offset;
    for (unsigned i = 0; i < 16; i++) {
        enum rule_kind kind = check_pc(stub + i);
        assert_true(kind == RULE_FRAME || kind == RULE_HARD);
    }
}

static struct view own_view;
static struct frame own_frames[128];
static unsigned hard_frames;

/* Walk on by rules, learning them, and by learn_step where there is none. */
static enum walk_outcome
walk_on(struct walk *walk, const ucontext_t *context)
{
    enum walk_outcome outcome;
    struct regs caller;
    bool is_root = false;
    struct hard_registers origin = {.known = HARD_ALL_KNOWN};

    arch_all_registers(context, &origin.registers);
    while ((outcome = walk_run(walk, &own_view)) == WALK_MISS)
        learn_rule(frame_lookup(own_frames[walk->depth - 1]), false);
    if (outcome != WALK_HARD)
        return outcome;
    hard_frames++;
    assert_int_equal(learn_step(&origin, walk->depth - 1, walk->regs.pc,
                                &own_view, &caller, &is_root),
                     0);
    assert_false(is_root);
    return walk_step_to(walk, &caller);
}

/* From here to the root, as backtrace(3) sees it. */
static void
check_own_stack(void)
{
    void *expected[128];
    struct walk walk = {.capacity = 128, .frames = own_frames};
    struct regs regs;
    ucontext_t context;
    enum walk_outcome outcome;
    int count = backtrace(expected, 128);

    rules_begin();
    getcontext(&context);
    arch_regs(&context, &regs);
    view_begin(&own_view, 0, 0, 0, window);
    walk_begin(&walk, &regs);
    hard_frames = 0;
    while ((outcome = walk_on(&walk, &context)) == WALK_ON)
        ;
    assert_int_equal(outcome, WALK_ROOT);
    assert_int_equal(walk.depth, count);
    for (int i = 1; i < count; i++)
        assert_int_equal(own_frames[i].word,
                         frame_return((uint64_t)expected[i]).word);
}

static void
the_own_stack_is_walked(void **state)
{
    (void)state;
    check_own_stack();
    assert_int_equal(hard_frames, 0);
}

static void
call_by_rbx_again(void)
{
    call_by_rbx(check_own_stack);
    assert_int_equal(hard_frames, 2);
}

/* A frame in the middle whose CFA is in rbx, which its callees have saved. */
static void
a_hard_frame_is_crossed(void **state)
{
    (void)state;
    call_by_rbx(check_own_stack);
    assert_int_equal(hard_frames, 1);
    call_by_rbx(call_by_rbx_again);
    assert_int_equal(hard_frames, 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_tables_become_rules),
        cmocka_unit_test(hard_rows_become_no_rules),
        cmocka_unit_test(a_frame_pointer_that_is_kept_elsewhere_is_found),
        cmocka_unit_test(a_register_may_be_a_distance),
        cmocka_unit_test(what_is_not_known_is_not_used),
        cmocka_unit_test(a_step_needs_no_more_than_a_copy),
        cmocka_unit_test(restorers_are_signal_frames),
        cmocka_unit_test(the_stub_of_calls_is_crossed),
        cmocka_unit_test(the_own_stack_is_walked),
        cmocka_unit_test(a_hard_frame_is_crossed)};

    return cmocka_run_group_tests(tests, begin_frames, NULL);
}
