/* SPDX-License-Identifier: MIT */
/*
 * walk_test.c -- walks over hand-made stacks: every kind of frame, every way to
 * end, both ends of a deep stack.
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
#include "walk_maker.h"

/* Undo one frame with RULE; the caller has no rule, so that the walk stops in
 * it. SP and FP are the caller's. */
static void
expect_caller(struct rule rule, uint64_t sp, uint64_t fp)
{
    rules_begin();
    rules_put(LEAF, rule);
    stand_at(LEAF, word_at(4), word_at(20));
    assert_int_equal(walk_run(&walk, &view), WALK_MISS);
    assert_int_equal(walk.depth, 2);
    assert_int_equal(walk.regs.pc, F1);
    assert_int_equal(walk.regs.sp, sp);
    assert_int_equal(walk.regs.fp, fp);
    assert_true(walk.is_return);
    assert_frame(0, LEAF);
    assert_return(1, F1);
    assert_int_equal(frame_lookup(frames[0]), LEAF);
    assert_int_equal(frame_lookup(frames[1]), F1 - 1);
}

static void
frames_are_found_by_sp(void **state)
{
    (void)state;
    stack[7] = F1; /* CFA is word_at(8) */
    stack[6] = 0x66;
    stack[19] = 0x77;
    expect_caller(rule_frame(RULE_CFA_SP, 32, RULE_FP_SAME, 0), word_at(8),
                  word_at(20));
    expect_caller(rule_frame(RULE_CFA_SP, 32, RULE_FP_AT_CFA, -16), word_at(8),
                  0x66);
    expect_caller(rule_frame(RULE_CFA_SP, 32, RULE_FP_AT_FP, -8), word_at(8),
                  0x77);
}

static void
frames_are_found_by_fp(void **state)
{
    (void)state;
    stack[21] = F1; /* CFA is word_at(22) */
    stack[20] = 0x66;
    expect_caller(rule_frame(RULE_CFA_FP, 16, RULE_FP_SAME, 0), word_at(22),
                  word_at(20));
    expect_caller(rule_frame(RULE_CFA_FP, 16, RULE_FP_AT_CFA, -16), word_at(22),
                  0x66);
    expect_caller(rule_frame(RULE_CFA_FP, 16, RULE_FP_AT_FP, 0), word_at(22),
                  0x66);
}

static void
frames_are_found_by_a_pointer(void **state)
{
    (void)state;
    stack[19] = word_at(30); /* [fp - 8] is the CFA */
    stack[29] = F1;
    stack[28] = 0x66;
    stack[20] = 0x77;
    expect_caller(rule_frame(RULE_CFA_FP_DEREF, -8, RULE_FP_SAME, 0),
                  word_at(30), word_at(20));
    expect_caller(rule_frame(RULE_CFA_FP_DEREF, -8, RULE_FP_AT_CFA, -16),
                  word_at(30), 0x66);
    expect_caller(rule_frame(RULE_CFA_FP_DEREF, -8, RULE_FP_AT_FP, 0),
                  word_at(30), 0x77);
}

static void
frames_are_found_by_a_word_above_sp(void **state)
{
    const struct rule by_word =
        rule_frame(RULE_CFA_SP_DEREF, rule_deref_offset(48, 24), RULE_FP_AT_CFA,
                   -16);

    (void)state;
    /* The stack pointer is at word 4. */
    stack[10] = word_at(27); /* [sp + 48] + 24 is the CFA */
    stack[29] = F1;
    stack[28] = 0x66;
    assert_true(rule_deref_fits(48, 24));
    assert_int_equal(rule_deref_slot(by_word), 48);
    assert_int_equal(rule_deref_more(by_word), 24);
    assert_false(rule_deref_fits(-8, 0) || rule_deref_fits(1 << 20, 0) ||
                 rule_deref_fits(0, 1024) || rule_deref_fits(0, 4));
    expect_caller(by_word, word_at(30), 0x66);
}

static void
a_chain_is_followed(void **state)
{
    (void)state;
    stack[20] = word_at(25);
    stack[21] = F1;
    expect_caller(rule_chain(RULE_CHAIN_LAST), word_at(22), word_at(25));
    /* Neither below the stack pointer, nor between words. */
    stand_at(LEAF, word_at(21), word_at(20));
    expect_cut(CUT_NO_RULE, 1);
    stand_at(LEAF, word_at(4), word_at(20) + 4);
    expect_cut(CUT_NO_RULE, 1);
}

/* The register points into a page in the middle of the stack that cannot be
 * read; and one that can be after it. */
static void
a_chain_over_a_hole_is_followed(void **state)
{
    const uint64_t page = arch_page_size();
    uint8_t *pages = mmap(NULL, 5 * page, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t low = (uint64_t)pages, *behind = (uint64_t *)(low + 4 * page);

    (void)state;
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + 2 * page, page, PROT_NONE), 0);
    view_begin(&view, low, low + 5 * page, low + 64, window);
    rules_put(LEAF, rule_chain(RULE_CHAIN_LAST));
    stand_at(LEAF, low + 64, low + 2 * page + 64);
    expect_cut(CUT_BAD_READ, 1);
    behind[0] = (uint64_t)&behind[2];
    behind[1] = F1;
    put_rule(F1, rule_chain(RULE_CHAIN_LAST));
    behind[3] = ROOT;
    stand_at(LEAF, low + 64, (uint64_t)behind);
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    assert_int_equal(walk.depth, 3);
    munmap(pages, 5 * page);
}

/* A leaf, a signal handler, the restorer's frame, the code that was
 * interrupted, which is no return address and lies on a lower stack. */
static void
a_signal_frame_is_crossed(void **state)
{
    static uint64_t other[1024];

    (void)state;
    view_begin(&view, 0, 0, 0, window);
    rules_put(LEAF, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    put_rule(F1, rule_make(RULE_SIGNAL));
    rules_put(F2, rule_frame(RULE_CFA_FP, 16, RULE_FP_AT_CFA, -16));
    other[15] = F1; /* the restorer; its frame is the context */
    other[16 + arch_signal_offset(ARCH_PC) / 8] = F2;
    other[16 + arch_signal_offset(ARCH_SP) / 8] = word_at(8);
    other[16 + arch_signal_offset(ARCH_FP) / 8] = word_at(10);
    stack[11] = ROOT;
    stand_at(LEAF, (uint64_t)&other[15], 0);
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    assert_int_equal(walk.depth, 4);
    /* What is in front of the restorer is another function. */
    assert_frame(1, F1);
    assert_frame(2, F2);
    assert_return(3, ROOT);
}

/* The CFA is in a register of the leaf, which its caller has left as it was; or
 * in one of the frame that a signal has interrupted. */
static void
registers_of_the_interrupted_frame_are_known(void **state)
{
    static uint64_t other[1024];
    struct arch_registers registers = {{0}};
    struct rule by_register =
        rule_leaf(1, 16, rule_frame(RULE_CFA_SP, 8, RULE_FP_AT_CFA, -16));
    unsigned number = arch_register_of_code(1);

    (void)state;
    if (ARCH_HAS_LINK)
        skip();
    rules_put(LEAF, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    put_rule(F1, by_register);
    put_rule(F2, rule_make(RULE_ROOT));
    stack[4] = F1;
    stack[31] = F2;
    stack[30] = 0x66;
    registers.at[number] = word_at(30);
    stand_at(LEAF, word_at(4), word_at(20));
    walk.registers = &registers;
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    assert_int_equal(walk.depth, 3);
    assert_int_equal(walk.regs.fp, 0x66);
    assert_int_equal(walk.regs.sp, word_at(32));
    /* What is after a guess may be no frame. Fp leads nowhere. */
    stand_at(LEAF, word_at(4), 0);
    walk.registers = &registers;
    walk.is_guessed = true;
    assert_int_equal(walk_run(&walk, &view), WALK_LOST);
    assert_false(walk_knows_registers(&walk));
    stand_at(LEAF, word_at(4), 0);
    assert_int_equal(walk_run(&walk, &view), WALK_LOST);
    /* The helper is interrupted by a handler, whose registers do not count. */
    view_begin(&view, 0, 0, 0, window);
    rules_put(ROOT - 0x100, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    put_rule(ROOT, rule_make(RULE_SIGNAL));
    other[15] = ROOT;
    other[16 + arch_signal_offset(ARCH_PC) / 8] = LEAF;
    other[16 + arch_signal_offset(ARCH_SP) / 8] = word_at(4);
    other[16 + arch_signal_offset(number) / 8] = word_at(30);
    registers.at[number] = word_at(40);
    stand_at(ROOT - 0x100, (uint64_t)&other[15], 0);
    walk.registers = &registers;
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    assert_int_equal(walk.depth, 5);
    assert_int_equal(walk.regs.sp, word_at(32));
    /* And so is the function itself. */
    rules_put(LEAF, by_register);
    stand_at(ROOT - 0x100, (uint64_t)&other[15], 0);
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    assert_int_equal(walk.depth, 4);
}

/* A leaf, and its caller, have nothing on the stack. The caller's return
 * address is in a register of the leaf. */
static void
a_return_address_is_in_a_register(void **state)
{
    struct arch_registers registers = {{0}};
    struct rule nothing = rule_frame(RULE_CFA_SP, 0, RULE_FP_SAME, 0);
    struct regs regs = {.pc = LEAF, .sp = word_at(4), .fp = word_at(20)};

    (void)state;
    if (!ARCH_HAS_LINK)
        skip();
    rules_put(LEAF, rule_entry());
    put_rule(F1, rule_leaf(15, 0, nothing));
    put_rule(F2, rule_make(RULE_ROOT));
    arch_set_link(&regs, F1);
    registers.at[15] = F2;
    walk_begin(&walk, &regs);
    walk.registers = &registers;
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    assert_int_equal(walk.depth, 3);
    assert_int_equal(walk.regs.sp, word_at(4));
    /* A circle has an end. */
    registers.at[15] = F1;
    walk_begin(&walk, &regs);
    walk.registers = &registers;
    assert_int_equal(walk_run(&walk, &view), WALK_CUT);
    assert_int_equal(walk.cut, CUT_STUCK);
}

static void
a_0_is_a_root(void **state)
{
    (void)state;
    rules_put(LEAF, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    stand_at(LEAF, word_at(4), 0);
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    assert_int_equal(walk.depth, 1);
}

/* A caller must lie above; only a leaf may have no frame at all. */
static void
a_caller_must_lie_above(void **state)
{
    struct rule no_frame = rule_frame(RULE_CFA_SP, 0, RULE_FP_SAME, 0);

    (void)state;
    rules_put(LEAF, rule_frame(RULE_CFA_FP, 16, RULE_FP_SAME, 0));
    stack[3] = stack[4] = ROOT;
    stand_at(LEAF, word_at(6), word_at(2));
    expect_cut(CUT_STUCK, 1);
    rules_put(LEAF, no_frame);
    put_rule(F1, no_frame);
    stack[5] = F1;
    stand_at(LEAF, word_at(6), 0);
    expect_cut(CUT_STUCK, 2);
    put_rule(F1, rule_chain(RULE_CHAIN_LAST)); /* a chain that bites its tail */
    stack[8] = word_at(8);
    stack[9] = F1;
    stand_at(F1 - 1, word_at(6), word_at(8));
    expect_cut(CUT_NO_RULE, 2);
}

static void
a_bad_read_cuts_the_stack(void **state)
{
    static const enum rule_fp where[] = {RULE_FP_SAME, RULE_FP_AT_CFA};
    uint64_t none = 0x10; /* no process has its first page */

    (void)state;
    rules_put(LEAF, rule_frame(RULE_CFA_FP, 16, RULE_FP_SAME, 0));
    stand_at(LEAF, 8, none);
    expect_cut(CUT_BAD_READ, 1);
    rules_put(LEAF, rule_frame(RULE_CFA_FP_DEREF, 0, RULE_FP_SAME, 0));
    stand_at(LEAF, 8, none);
    expect_cut(CUT_BAD_READ, 1);
    rules_put(LEAF, rule_frame(RULE_CFA_SP, 8, RULE_FP_AT_FP, 0));
    stack[4] = ROOT;
    stand_at(LEAF, word_at(4), none);
    expect_cut(CUT_BAD_READ, 1);
    for (unsigned i = 0; i < 2; i++) {
        rules_put(LEAF, rule_frame(RULE_CFA_SP, -4096, where[i], 8));
        stand_at(LEAF, 4096, 0);
        expect_cut(CUT_BAD_READ, 1);
    }
    rules_put(LEAF, rule_chain(RULE_CHAIN_LAST));
    stand_at(LEAF, 8, none);
    expect_cut(CUT_BAD_READ, 1);
    rules_put(LEAF, rule_make(RULE_SIGNAL));
    stand_at(LEAF, none, 0);
    expect_cut(CUT_BAD_READ, 1);
    /* Far outside of what an address can be. */
    rules_put(LEAF, rule_frame(RULE_CFA_FP, -8, RULE_FP_SAME, 0));
    stand_at(LEAF, 8, 0);
    expect_cut(CUT_BAD_READ, 1);
    stand_at(LEAF, 8, 1ull << 63);
    expect_cut(CUT_BAD_READ, 1);
}

/* A return address to no code is no frame; a leaf's pc is one. */
static void
a_return_address_to_no_code_is_no_frame(void **state)
{
    (void)state;
    rules_put(LEAF, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    put_rule(0x1234, rule_make(RULE_NOWHERE));
    stack[4] = 0x1234;
    stand_at(LEAF, word_at(4), 0);
    expect_cut(CUT_NOT_CODE, 1);
    assert_frame(0, LEAF);
    rules_put(LEAF, rule_make(RULE_NOWHERE));
    stand_at(LEAF, word_at(4), 0);
    expect_cut(CUT_NOT_CODE, 1);
}

/* A walk that stopped for a rule goes on when it is there. */
static void
a_walk_goes_on_when_its_rule_is_there(void **state)
{
    (void)state;
    stack[4] = F1;
    stack[6] = F2;
    stack[8] = ROOT;
    stand_at(LEAF, word_at(4), 0);
    assert_int_equal(walk_run(&walk, &view), WALK_MISS);
    assert_int_equal(walk_run(&walk, &view), WALK_MISS);
    assert_int_equal(walk.depth, 1);
    rules_put(LEAF, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    put_rule(F1, rule_make(RULE_HARD));
    assert_int_equal(walk_run(&walk, &view), WALK_HARD);
    assert_int_equal(walk.depth, 2);
    struct regs caller = {.pc = F2, .sp = word_at(7), .fp = 0x55};
    assert_int_equal(walk_step_to(&walk, &caller), WALK_ON);
    put_rule(F2, rule_frame(RULE_CFA_SP, 16, RULE_FP_SAME, 0));
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    assert_int_equal(walk.depth, 4);
    assert_int_equal(walk.regs.fp, 0x55);
    assert_frame(0, LEAF);
    assert_return(1, F1);
    assert_return(2, F2);
    assert_return(3, ROOT);
    caller.sp = word_at(2);
    assert_int_equal(walk_step_to(&walk, &caller), WALK_CUT);
    assert_int_equal(walk.cut, CUT_STUCK);
    caller = (struct regs){.sp = word_at(40)};
    assert_int_equal(walk_step_to(&walk, &caller), WALK_ROOT);
}

#define DEEP 5000

static uint64_t deep[DEEP + 1];

/* A stack DEPTH frames deep, frame I having the pc CODE + I. */
static void
walk_deep(uint32_t depth, uint32_t capacity)
{
    for (uint32_t i = 1; i < depth; i++) {
        deep[i - 1] = CODE + i;
        put_rule(CODE + i, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    }
    rules_put(CODE, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    deep[depth - 1] = 0;
    walk.capacity = capacity;
    view_begin(&view, (uint64_t)deep, (uint64_t)(deep + DEEP + 1),
               (uint64_t)deep, window);
    stand_at(CODE, (uint64_t)deep, 0);
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    assert_int_equal(walk.depth, depth);
}

/* Both ends of the stack are there in order, and nothing else. */
static void
check_ends(uint32_t depth, uint32_t capacity)
{
    uint32_t gap = 0, elided = 0, kept = walk_finish(&walk, &gap, &elided);
    uint32_t expected = depth < capacity ? depth : capacity;

    assert_int_equal(kept, expected);
    assert_int_equal(elided, depth - expected);
    if (elided != 0)
        assert_in_range(gap, capacity / 2, capacity - 1);
    for (uint32_t i = 0; i < kept; i++) {
        uint32_t frame = elided != 0 && i >= gap ? i + elided : i;
        uint64_t flag = frame == 0 ? 0 : frame_return(0).word;
        assert_frame(i, (CODE + frame) | flag);
    }
}

static void
a_deep_stack_keeps_both_ends(void **state)
{
    (void)state;
    frames[64] = frame_exact(0x5afe);
    walk_deep(DEEP, 64);
    assert_frame(64, 0x5afe);
    check_ends(DEEP, 64);
}

/* However far the ring of root frames has turned. */
static void
the_ring_keeps_the_root_however_far_it_has_turned(void **state)
{
    static const uint32_t capacities[] = {4, 5, 7, 16, 63, 64, 200};

    (void)state;
    for (unsigned i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++)
        for (uint32_t depth = 1; depth < 3 * capacities[i] + 2; depth++) {
            walk_deep(depth, capacities[i]);
            check_ends(depth, capacities[i]);
        }
}

/* The stack of Go's scheduler ends in morestack, and the goroutine that needs a
 * larger stack has stopped in a function without a frame (morestack.h). */
static uint64_t scheduler[16], other[16], goroutine[16], thread[80], small[16];
static uint32_t morestack[64], needy[64];

/* Put a call over DISTANCE bytes in front of AT. */
#if defined(__x86_64__)
static void
put_call_bytes(uint32_t *at, int64_t distance)
{
    int32_t offset = (int32_t)distance;

    ((uint8_t *)at)[-5] = 0xe8;
    memcpy((char *)at - 4, &offset, sizeof(offset));
}
#else
static void
put_call_bytes(uint32_t *at, int64_t distance)
{
    at[-1] = 0x94000000u | ((uint32_t)((distance + 4) / 4) & 0x3ffffffu);
}
#endif

/* Put a call of TARGET in front of AT. Returns its return address. */
static uint64_t
put_call(uint32_t *at, const uint32_t *target)
{
    put_call_bytes(at, (const char *)target - (const char *)at);
    return (uint64_t)at;
}

static int
begin_growth(void **state)
{
    uint64_t newstack = put_call(morestack + 40, needy);
    uint64_t stopped = put_call(needy + 40, morestack);

    begin_walk(state);
    put_rule(newstack, rule_chain(RULE_CHAIN_ROOTED));
    rules_put(LEAF, rule_chain(RULE_CHAIN_ROOTED));
    put_rule(F1, rule_chain(RULE_CHAIN_ROOTED));
    stack[2] = 0;
    stack[3] = newstack;
    scheduler[6] = goroutine[6] = other[6] = (uint64_t)thread;
    scheduler[7] = word_at(4);
    thread[10] = (uint64_t)other;
    thread[20] = (uint64_t)goroutine;
    goroutine[0] = (uint64_t)small;
    goroutine[1] = (uint64_t)(small + 16);
    goroutine[7] = (uint64_t)(small + 4);
    goroutine[8] = stopped;
    goroutine[11] = F1; /* where there is a link register */
    goroutine[12] = (uint64_t)(small + 8);
    small[4] = F1;
    small[8] = 0;
    small[9] = ROOT;
    stand_at(LEAF, word_at(0), word_at(2));
    walk.go = (uint64_t)scheduler;
    return 0;
}

static void
a_stack_that_grows_goes_on_on_the_goroutines(void **state)
{
    (void)state;
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    assert_int_equal(walk.depth, 5);
    assert_return(1, (uint64_t)(morestack + 40));
    assert_return(2, (uint64_t)(needy + 40));
    assert_return(3, F1);
    assert_return(4, ROOT);
    /* In a copy of the scheduler's stack there is no goroutine. */
    stand_at(LEAF, word_at(0), word_at(2));
    walk.go = (uint64_t)scheduler;
    view_begin_copy(&view, word_at(0), sizeof(stack), (uint8_t *)stack);
    expect_cut(CUT_BAD_READ, 2);
    /* A scheduler that runs none has no more frames. */
    thread[20] = 0;
    view_begin(&view, word_at(0), word_at(WORDS), word_at(0), window);
    stand_at(LEAF, word_at(0), word_at(2));
    walk.go = (uint64_t)scheduler;
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    assert_int_equal(walk.depth, 2);
}

/* Nothing of what is read may contradict the rest. */
static void
another_root_of_a_scheduler_is_one(void **state)
{
    uint64_t *const fields[] = {&scheduler[7], &scheduler[6], &goroutine[6],
                                &goroutine[1], &goroutine[8]};

    (void)state;
    for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        uint64_t before = *fields[i];

        *fields[i] = (uint64_t)small;
        stand_at(LEAF, word_at(0), word_at(2));
        walk.go = (uint64_t)scheduler;
        assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
        assert_int_equal(walk.depth, 2);
        *fields[i] = before;
    }
    stand_at(LEAF, word_at(0), word_at(2));
    assert_int_equal(walk_run(&walk, &view), WALK_ROOT);
    assert_int_equal(walk.depth, 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(frames_are_found_by_sp, begin_walk),
        cmocka_unit_test_setup(frames_are_found_by_fp, begin_walk),
        cmocka_unit_test_setup(frames_are_found_by_a_pointer, begin_walk),
        cmocka_unit_test_setup(frames_are_found_by_a_word_above_sp, begin_walk),
        cmocka_unit_test_setup(a_chain_is_followed, begin_walk),
        cmocka_unit_test_setup(a_chain_over_a_hole_is_followed, begin_walk),
        cmocka_unit_test_setup(a_signal_frame_is_crossed, begin_walk),
        cmocka_unit_test_setup(a_return_address_is_in_a_register, begin_walk),
        cmocka_unit_test_setup(registers_of_the_interrupted_frame_are_known,
                               begin_walk),
        cmocka_unit_test_setup(a_0_is_a_root, begin_walk),
        cmocka_unit_test_setup(a_caller_must_lie_above, begin_walk),
        cmocka_unit_test_setup(a_bad_read_cuts_the_stack, begin_walk),
        cmocka_unit_test_setup(a_return_address_to_no_code_is_no_frame,
                               begin_walk),
        cmocka_unit_test_setup(a_walk_goes_on_when_its_rule_is_there,
                               begin_walk),
        cmocka_unit_test_setup(a_deep_stack_keeps_both_ends, begin_walk),
        cmocka_unit_test_setup(
            the_ring_keeps_the_root_however_far_it_has_turned, begin_walk),
        cmocka_unit_test_setup(another_root_of_a_scheduler_is_one,
                               begin_growth),
        cmocka_unit_test_setup(a_stack_that_grows_goes_on_on_the_goroutines,
                               begin_growth)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
