/* SPDX-License-Identifier: MIT */
/*
 * rules_test.c -- the rule table: what was put is found, for one pc and for the
 * blocks of a row, until it is forgotten or the table is emptied; and a reader
 * never gets the rule of another pc while the writer moves cells.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unwind/rules.h"

#define CODE 0x7f0000400000ull
#define MOST 1000000u   /* rules; no table here holds that many */
#define FITTING 100000u /* the largest holds these */
#define ROW_REACH 8192u

static int
empty(void **state)
{
    (void)state;
    return rules_begin();
}

/* A rule that no other number below 2^40 has. */
static struct rule
rule_numbered(uint64_t n)
{
    return rule_frame(RULE_CFA_SP, (int32_t)(n & 0x3ffffff), RULE_FP_AT_CFA,
                      (int32_t)(n >> 26));
}

#define assert_rule(pc, rule) assert_int_equal(rules_find(pc).word, (rule).word)
#define assert_no_rule(pc) \
    assert_int_equal(rule_kind(rules_find(pc)), RULE_NONE)

/* A frame whose fp is 40 bytes above sp. All else stays as it is. */
static void
a_rule_by_fp_becomes_one_by_sp(void **state)
{
    struct rule by_fp = rule_frame(RULE_CFA_FP, 16, RULE_FP_AT_CFA, -16);

    (void)state;
    assert_int_equal(rule_by_sp(by_fp, 40).word,
                     rule_frame(RULE_CFA_SP, 56, RULE_FP_AT_CFA, -16).word);
    assert_int_equal(rule_by_sp(by_fp, 0).word,
                     rule_frame(RULE_CFA_SP, 16, RULE_FP_AT_CFA, -16).word);
}

static void
an_exact_rule_is_found(void **state)
{
    uint64_t before = rules_count();

    (void)state;
    assert_no_rule(CODE);
    assert_false(rules_has_exact(CODE));
    rules_put(CODE, rule_numbered(1));
    rules_put(CODE + 1, rule_numbered(2));
    assert_rule(CODE, rule_numbered(1));
    assert_rule(CODE + 1, rule_numbered(2));
    assert_true(rules_has_exact(CODE));
    assert_no_rule(CODE - 1);
    assert_no_rule(CODE + 2);
    rules_put(CODE, rule_make(RULE_ROOT));
    assert_rule(CODE, rule_make(RULE_ROOT));
    assert_int_equal(rules_count() - before, 3);
}

static void
rules_are_packed_without_loss(void **state)
{
    static const int32_t offsets[] = {0,
                                      1,
                                      -1,
                                      8,
                                      -8,
                                      4096,
                                      -16,
                                      123456,
                                      -123456,
                                      1 << 20,
                                      RULE_OFFSET_MAX,
                                      -RULE_OFFSET_MAX};
    const unsigned count = sizeof(offsets) / sizeof(offsets[0]);

    (void)state;
    for (unsigned i = 0; i < count * count; i++)
        for (unsigned form = 0; form < 9; form++) {
            int32_t cfa = offsets[i / count], fp = offsets[i % count];
            if (!rule_bits_fit(fp))
                continue;
            struct rule rule = rule_frame((enum rule_cfa)(form / 3), cfa,
                                          (enum rule_fp)(form % 3), fp);

            assert_int_equal(rule_kind(rule), RULE_FRAME);
            assert_int_equal(rule_cfa(rule), form / 3);
            assert_int_equal(rule_fp(rule), form % 3);
            assert_int_equal(rule_cfa_offset(rule), cfa);
            assert_int_equal(rule_fp_offset(rule), fp);
        }
}

/* Whether a block of SIZE around PC lies within START to END. */
static bool
fits(uint64_t pc, uint64_t size, uint64_t start, uint64_t end)
{
    uint64_t block = pc & ~(size - 1);

    return block >= start && block + size <= end;
}

/* A row holds for every pc whose 16 bytes lie in it, and for no other. */
static void
check_row(uint64_t start, uint64_t end)
{
    rules_begin();
    rules_put_row(start + (end - start) / 2, start, end, rule_numbered(7));
    for (uint64_t pc = start - 2048; pc < end + 2048; pc++)
        if (fits(pc, 16, start, end))
            assert_rule(pc, rule_numbered(7));
        else
            assert_no_rule(pc);
}

static void
rows_are_found_as_they_were_put(void **state)
{
    static const uint16_t starts[] = {0, 1, 15, 16, 100, 127, 128, 1023, 1040};
    static const uint16_t sizes[] = {1,   15,  16,   17,   31,   32,  127,
                                     128, 144, 1024, 1031, 2048, 5000};

    (void)state;
    for (unsigned i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        for (unsigned k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
            check_row(CODE + starts[i], CODE + starts[i] + sizes[k]);
}

/* Large blocks take few cells: each level is used where it fits. */
static void
large_blocks_take_few_cells(void **state)
{
    uint64_t before = rules_count();

    (void)state;
    rules_put_row(CODE, CODE, CODE + 1024 + 128 + 16 + 15, rule_numbered(1));
    assert_int_equal(rules_count() - before, 3);
    assert_rule(CODE + 1023, rule_numbered(1));
    assert_rule(CODE + 1151, rule_numbered(1));
    assert_rule(CODE + 1167, rule_numbered(1));
    assert_no_rule(CODE + 1168);
    assert_false(rules_has_exact(CODE));
}

/* A pc's own rule stands before that of its block. */
static void
an_exact_rule_stands_before_its_blocks(void **state)
{
    (void)state;
    rules_put_row(CODE, CODE, CODE + 1024, rule_numbered(1));
    rules_put(CODE + 20, rule_make(RULE_HARD));
    assert_rule(CODE + 20, rule_make(RULE_HARD));
    assert_rule(CODE + 19, rule_numbered(1));
    assert_rule(CODE + 21, rule_numbered(1));
}

/* Of a long row no more than ROW_REACH on both sides of the pc is entered. */
static void
a_long_row_is_entered_near_its_pc(void **state)
{
    uint64_t pc = CODE + (1 << 20) + 512, before = rules_count();

    (void)state;
    rules_put_row(pc, CODE, CODE + (2 << 20), rule_numbered(3));
    assert_rule(pc, rule_numbered(3));
    assert_rule(pc - ROW_REACH + 16, rule_numbered(3));
    assert_rule(pc + ROW_REACH - 17, rule_numbered(3));
    assert_no_rule(pc - ROW_REACH - 16);
    assert_no_rule(pc + ROW_REACH + 16);
    assert_in_range(rules_count() - before, 16, 64);
}

static void
forgotten_rules_are_gone(void **state)
{
    (void)state;
    rules_put(CODE, rule_numbered(1));
    rules_put_row(CODE + 4096, CODE + 4096, CODE + 6144, rule_numbered(2));
    rules_put(CODE + 4100, rule_numbered(4));
    rules_put(CODE + 0x100000, rule_numbered(3));
    rules_forget(CODE + 4096, CODE + 6144);
    for (uint64_t pc = CODE + 4096; pc < CODE + 6144; pc++)
        assert_no_rule(pc);
    assert_rule(CODE, rule_numbered(1));
    assert_rule(CODE + 0x100000, rule_numbered(3));
    /* A block that only reaches into what is forgotten goes too. */
    rules_put_row(CODE + 8192, CODE + 8192, CODE + 9216, rule_numbered(5));
    rules_forget(CODE + 9000, CODE + 9001);
    assert_no_rule(CODE + 9000);
    /* What is forgotten may be learned anew. */
    rules_put(CODE + 4100, rule_numbered(6));
    assert_rule(CODE + 4100, rule_numbered(6));
}

/* A pc somewhere in 1 GiB of code, another one for every N. */
static uint64_t
scattered(uint64_t n)
{
    uint64_t mixed = n * 0xff51afd7ed558ccdu;

    mixed = (mixed ^ mixed >> 33) * 0xc4ceb9fe1a85ec53u;
    return CODE + (mixed >> 40) * 64 + n % 64;
}

/* Whatever cells lie beside each other: all others stay. */
static void
all_others_stay(void **state)
{
    const uint64_t first = CODE + (100 << 20), last = CODE + (600 << 20);

    (void)state;
    for (uint64_t i = 0; i < 30000; i++)
        rules_put(scattered(i), rule_make(RULE_CHAIN));
    rules_forget(first, last);
    for (uint64_t i = 0; i < 30000; i++) {
        uint64_t pc = scattered(i);
        if (pc < first - 1024 || pc >= last)
            assert_rule(pc, rule_make(RULE_CHAIN));
        else if (pc >= first)
            assert_no_rule(pc);
    }
}

static void
forgetting_nothing_harms_nothing(void **state)
{
    (void)state;
    rules_put(CODE, rule_make(RULE_NOWHERE));
    rules_put(CODE + 1, rule_numbered(1));
    rules_put(0, rule_make(RULE_NOWHERE));
    assert_rule(0, rule_make(RULE_NOWHERE));
    rules_forget_nowhere();
    assert_no_rule(CODE);
    assert_no_rule(0);
    assert_rule(CODE + 1, rule_numbered(1));
    rules_put(CODE, rule_make(RULE_NOWHERE));
    assert_rule(CODE, rule_make(RULE_NOWHERE));
    rules_forget_nowhere();
    assert_no_rule(CODE);
}

/* Where N more rules do not fit any more the table grows, and all are still
 * there: of single pcs, of rows, and of pcs that were given another rule. */
static void
a_table_grows_and_keeps_all(void **state)
{
    (void)state;
    rules_put_row(CODE - 8192, CODE - 8192, CODE - 4096, rule_numbered(5));
    rules_put(CODE - 100, rule_numbered(1));
    rules_put(CODE - 50, rule_make(RULE_NOWHERE));
    for (uint64_t i = 0; i < FITTING; i++) {
        rules_put(CODE + i * 3, rule_numbered(i + 1));
        rules_put(CODE + i * 3, rule_numbered(i));
        /* Growth happens some time before a power of two: look often. */
        if (i % 512 == 0)
            for (uint64_t k = 0; k <= i; k += 1 + i / 4096)
                assert_rule(CODE + k * 3, rule_numbered(k));
    }
    for (uint64_t pc = CODE - 8192; pc < CODE - 4096; pc++)
        assert_rule(pc, rule_numbered(5));
    assert_rule(CODE - 100, rule_numbered(1));
    rules_forget_nowhere();
    assert_no_rule(CODE - 50);
    rules_begin();
    assert_no_rule(CODE);
    rules_put(CODE + 3, rule_numbered(2));
    assert_no_rule(CODE + 6);
}

/* What was forgotten does not come back when the table grows. */
static void
what_was_forgotten_does_not_come_back(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        rules_put(CODE + i * 64, rule_numbered(i));
    rules_forget(CODE + 500 * 64, CODE + 1000 * 64);
    for (uint64_t i = 0; i < FITTING; i++)
        rules_put(CODE + 0x1000000 + i, rule_numbered(i));
    for (uint64_t i = 0; i < 1000; i++)
        if (i < 480)
            assert_rule(CODE + i * 64, rule_numbered(i));
        else if (i >= 500)
            assert_no_rule(CODE + i * 64);
}

/* A table that is full is emptied, and takes new rules for ever. */
static void
a_full_table_is_emptied(void **state)
{
    uint64_t count = 0;

    (void)state;
    for (; count < MOST; count++) {
        rules_put(CODE + count * 3, rule_numbered(count));
        if (rules_find(CODE).word != rule_numbered(0).word)
            break;
    }
    assert_in_range(count, FITTING, MOST - 1);
    assert_rule(CODE + count * 3, rule_numbered(count));
    assert_no_rule(CODE + (count - 1) * 3);
    for (uint64_t i = 0; i < count / 2; i++)
        rules_put(CODE + i * 7, rule_numbered(i));
    for (uint64_t i = 0; i < count / 2; i++)
        assert_rule(CODE + i * 7, rule_numbered(i));
    for (uint64_t i = 0; i < 5 * count; i++) {
        rules_put(CODE + i * 5, rule_numbered(i));
        assert_rule(CODE + i * 5, rule_numbered(i));
    }
    assert_no_rule(CODE + 1);
}

/* Cells of forgotten rules are not lost for ever: loading and unloading a
 * library a thousand times leaves a table that works. */
static void
cells_of_forgotten_rules_are_not_lost(void **state)
{
    (void)state;
    rules_put(CODE - 4096, rule_numbered(1));
    for (uint64_t i = 0; i < 1000; i++) {
        for (uint64_t k = 0; k < 100; k++) {
            rules_put(CODE + k * 5, rule_numbered(i + k));
            assert_rule(CODE + k * 5, rule_numbered(i + k));
        }
        rules_forget(CODE, CODE + 500);
        assert_no_rule(CODE);
    }
    assert_no_rule(CODE + 1);
}

#define PCS 3000000u /* pcs that the writer goes through, far more than fit */
#define RECENT 40000u
#define FOUND 1000000u /* by the readers, at the least */
#define READERS 3

static _Atomic uint64_t written, found, wrong;
static _Atomic int is_over;

/* Every pc's rule is its own number, every row's that of its start. */
static void *
read_rules(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument * 2 + 1;

    while (!atomic_load(&is_over)) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        /* Half of the time what is being written right now. */
        uint64_t range = random >> 63 ? RECENT : 4;
        uint64_t back = (random >> 33 & 0x3fffffff) % range;
        uint64_t n = (atomic_load(&written) + 2 + PCS - back) % PCS;
        struct rule rule = rules_find(CODE + n * 16);
        if (rule.word == rule_numbered(n).word ||
            rule.word == rule_numbered(n / 64 * 64).word)
            atomic_fetch_add_explicit(&found, 1, memory_order_relaxed);
        else if (rule_kind(rule) != RULE_NONE)
            atomic_fetch_add(&wrong, 1);
    }
    return NULL;
}

static void
write_rules(uint64_t n)
{
    uint64_t pc = CODE + n * 16;

    rules_put(pc, rule_numbered(n));
    if (n % 64 == 0)
        rules_put_row(pc, pc, pc + 1024, rule_numbered(n));
    if (n % 5000 == 0)
        rules_forget(pc - 65536, pc - 32768);
    atomic_store(&written, n);
}

static void
a_reader_beside_a_writer_sees_whole_rules(void **state)
{
    pthread_t threads[READERS];

    (void)state;
    atomic_store(&is_over, 0);
    for (uintptr_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_rules,
                                        (void *)i),
                         0);
    for (uint64_t n = 0; n < PCS || atomic_load(&found) < FOUND; n++)
        write_rules(n % PCS);
    atomic_store(&is_over, 1);
    for (unsigned i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&wrong), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_by_fp_becomes_one_by_sp),
        cmocka_unit_test_setup(an_exact_rule_is_found, empty),
        cmocka_unit_test(rules_are_packed_without_loss),
        cmocka_unit_test(rows_are_found_as_they_were_put),
        cmocka_unit_test_setup(large_blocks_take_few_cells, empty),
        cmocka_unit_test_setup(an_exact_rule_stands_before_its_blocks, empty),
        cmocka_unit_test_setup(a_long_row_is_entered_near_its_pc, empty),
        cmocka_unit_test_setup(forgotten_rules_are_gone, empty),
        cmocka_unit_test_setup(all_others_stay, empty),
        cmocka_unit_test_setup(forgetting_nothing_harms_nothing, empty),
        cmocka_unit_test_setup(a_table_grows_and_keeps_all, empty),
        cmocka_unit_test_setup(what_was_forgotten_does_not_come_back, empty),
        cmocka_unit_test_setup(a_full_table_is_emptied, empty),
        cmocka_unit_test_setup(cells_of_forgotten_rules_are_not_lost, empty),
        cmocka_unit_test_setup(a_reader_beside_a_writer_sees_whole_rules,
                               empty)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
