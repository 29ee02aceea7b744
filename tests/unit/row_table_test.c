/* SPDX-License-Identifier: MIT */
/*
 * row_table_test.c -- the rows of whole pieces of code against the rule that is
 * learned for one pc, for random pcs of every module of this process.
 * (learn_test compares those rules with libunwind.) Then what is forgotten, and
 * a table that is full.
 */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "process/modules.h"
#include "unwind/pages.h"
#include "unwind/row_table.h"

#include "synthetic.h"

#define PIECES_OF_MODULE 20
#define PCS_OF_PIECE 500
#define PIECE 65536u

static struct pages pages;
static unsigned asked, known;

/* Have the piece of PC compiled. */
static void
compile(uint64_t pc)
{
    for (unsigned i = 0; i < 8; i++)
        row_table_miss(pc);
    row_table_compile(&pages);
}

/* What the table knows of random pcs around PC is what is learned for them. */
static void
check_piece(uint64_t pc, uint64_t start, uint64_t end)
{
    compile(pc);
    for (unsigned i = 0; i < PCS_OF_PIECE; i++) {
        uint64_t at = (pc & ~(uint64_t)(PIECE - 1)) + random_number() % PIECE;
        if (at < start || at >= end)
            continue;
        struct rule found = row_table_find(at);
        rules_drop(at);
        struct rule learned = learn_rule(at, false);
        if (found.word != RULE_NONE && found.word != learned.word)
            fail_msg("%#lx: %#lx in the table, %#lx learned", at, found.word,
                     learned.word);
        asked += rule_kind(learned) == RULE_FRAME;
        known += rule_kind(learned) == RULE_FRAME && found.word != RULE_NONE;
    }
}

static int
check_module(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)size;
    asked = known = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0)
            continue;
        for (unsigned k = 0; k < PIECES_OF_MODULE; k++)
            check_piece(start + random_number() % part->p_memsz, start,
                        start + part->p_memsz);
    }
    print_message("%s: %u of %u frames known\n",
                  info->dlpi_name[0] != '\0' ? info->dlpi_name : "this program",
                  known, asked);
    /* The vdso's pages are few. */
    if (strstr(info->dlpi_name, "libc.so") != NULL)
        assert_true(known > asked / 100 * 95);
    ++*(unsigned *)count;
    return 0;
}

static void
rows_are_what_is_learned(void **state)
{
    unsigned count = 0;

    (void)state;
    dl_iterate_phdr(check_module, &count);
    assert_true(count >= 4);
}

/* A piece is compiled when walks have missed in it, and not before; and it is
 * forgotten with its code. */
static void
a_piece_comes_and_goes(void **state)
{
    uint64_t pc = (uint64_t)check_pc + 4;

    (void)state;
    row_table_begin();
    assert_int_equal(row_table_find(pc).word, RULE_NONE);
    row_table_compile(&pages);
    assert_int_equal(row_table_find(pc).word, RULE_NONE);
    compile(pc);
    assert_int_equal(rule_kind(row_table_find(pc)), RULE_FRAME);
    row_table_forget(pc + PIECE, pc + 2 * PIECE);
    assert_int_equal(rule_kind(row_table_find(pc)), RULE_FRAME);
    row_table_forget(pc, pc + 1);
    assert_int_equal(row_table_find(pc).word, RULE_NONE);
    compile(pc);
    assert_int_equal(rule_kind(row_table_find(pc)), RULE_FRAME);
    row_table_begin();
    assert_int_equal(row_table_find(pc).word, RULE_NONE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_what_is_learned),
        cmocka_unit_test(a_piece_comes_and_goes)};

    return cmocka_run_group_tests(tests, begin_frames, NULL);
}
