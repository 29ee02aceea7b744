/* SPDX-License-Identifier: MIT */
/*
 * row_table_test.c -- the rows of whole pieces of code against the row that the
 * unwind table has for one pc, for random pcs of every module of this process.
 * (learn_test compares rules with libunwind.) Then what is forgotten, and what
 * is compiled ahead.
 */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/modules.h"
#include "unwind/cfi.h"
#include "unwind/pages.h"
#include "unwind/row_table.h"

#include "synthetic.h"

#define PIECES_OF_MODULE 20
#define PCS_OF_PIECE 500
#define PIECE 4096u
#define AREA (16 * PIECE)
#define REGION (256 * PIECE)

static struct pages pages;
static unsigned asked, known;

/* Have the piece of PC compiled. */
static struct rule
compile(uint64_t pc)
{
    const struct module *module = modules_find(pc);
    return module != NULL ? row_table_learn(&pages, module, pc)
                          : rule_make(RULE_NONE);
}

/* The row that holds PC, among those that are visited. */
struct search {
    uint64_t pc;
    struct rule rule;
};

static void
take_row(void *to, const struct cfi_row *row)
{
    struct search *search = to;
    if (search->pc >= row->start && search->pc < row->end)
        search->rule = row->rule;
}

static struct rule
rule_in_row(uint64_t pc)
{
    struct search search = {.pc = pc};
    const struct module *module = modules_find(pc);
    struct fde fde;
    if (module != NULL && fde_find(&pages, module, pc, &fde))
        (void)cfi_rows(&pages, &fde, fde.start, fde.end, take_row, &search);
    return search.rule;
}

/* What the table knows of random pcs around PC is what their rows say. */
static void
check_piece(uint64_t pc, uint64_t start, uint64_t end)
{
    (void)compile(pc);
    for (unsigned i = 0; i < PCS_OF_PIECE; i++) {
        uint64_t at = (pc & ~(uint64_t)(PIECE - 1)) + random_number() % PIECE;
        if (at < start || at >= end)
            continue;
        struct rule found = row_table_find(at);
        struct rule row = rule_in_row(at);
        if (found.word != RULE_NONE && found.word != row.word)
            fail_msg("%#lx: %#lx in the table, %#lx in its row", at, found.word,
                     row.word);
        asked += rule_kind(row) == RULE_FRAME;
        known += rule_kind(row) == RULE_FRAME && found.word != RULE_NONE;
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
pieces_say_what_rows_say(void **state)
{
    unsigned count = 0;

    (void)state;
    dl_iterate_phdr(check_module, &count);
    assert_true(count >= 4);
}

/* A piece is compiled when a walk has missed in it, and not before; and it is
 * forgotten with its code. */
static void
a_piece_comes_and_goes(void **state)
{
    uint64_t pc = (uint64_t)check_pc + 4;

    (void)state;
    row_table_begin();
    assert_int_equal(row_table_find(pc).word, RULE_NONE);
    row_table_ahead(&pages);
    assert_int_equal(row_table_find(pc).word, RULE_NONE);
    assert_int_equal(rule_kind(compile(pc)), RULE_FRAME);
    assert_int_equal(rule_kind(row_table_find(pc)), RULE_FRAME);
    row_table_forget(pc + PIECE, pc + 2 * PIECE);
    assert_int_equal(rule_kind(row_table_find(pc)), RULE_FRAME);
    row_table_forget(pc, pc + 1);
    assert_int_equal(row_table_find(pc).word, RULE_NONE);
    assert_int_equal(rule_kind(compile(pc)), RULE_FRAME);
    row_table_begin();
    assert_int_equal(row_table_find(pc).word, RULE_NONE);
}

/* Code of many MiB without a table leaves what is known, until there is no room
 * for more. */
static void
many_regions_have_room(void **state)
{
    static const struct module nothing;
    uint64_t pc = (uint64_t)check_pc + 4, far = 0x100000000000;

    (void)state;
    row_table_begin();
    struct rule rule = compile(pc);
    assert_int_equal(rule_kind(rule), RULE_FRAME);
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t at = far + i * REGION;
        assert_int_equal(row_table_learn(&pages, &nothing, at).word, RULE_NONE);
        assert_int_equal(row_table_find(at + PIECE).word, RULE_NONE);
        assert_int_equal(row_table_find(pc).word, rule.word);
    }
    for (uint64_t i = 0; i < 1000; i++)
        (void)row_table_learn(&pages, &nothing, far + i * 3 * REGION);
    assert_int_equal(compile(pc).word, rule.word);
    assert_int_equal(row_table_find(pc).word, rule.word);
}

/* Returns a pc of the area of PC that has a rule, but not in the page of PC; 0:
 * there is none yet. */
static uint64_t
known_beside(uint64_t pc)
{
    uint64_t area = pc & ~(uint64_t)(AREA - 1);
    for (uint64_t at = area; at < area + AREA; at += 64)
        if (at / PIECE != pc / PIECE &&
            rule_kind(row_table_find(at)) == RULE_FRAME)
            return at;
    return 0;
}

/* To fetch is no look-up: it needs no piece, and changes none. */
static void
fetch(uint64_t pc)
{
    row_table_fetch(pc);
    row_table_fetch_entry(pc);
    row_table_fetch_rule(pc);
}

static void
any_pc_is_fetched(void **state)
{
    (void)state;
    uint64_t pc = (uint64_t)any_pc_is_fetched;
    row_table_begin();
    fetch(pc);
    fetch(0);
    fetch(UINT64_MAX);
    assert_int_equal(rule_kind(row_table_find(pc)), RULE_NONE);
    struct rule rule = compile(pc);
    for (uint64_t at = pc & ~(uint64_t)(PIECE - 1), i = 0; i < PIECE; i++)
        fetch(at + i);
    assert_int_equal(row_table_find(pc).word, rule.word);
}

/* The rest of an area follows ahead of any miss, and other areas do not. */
static void
an_area_follows_its_piece(void **state)
{
    uint64_t pc = (uint64_t)memcpy - 1024 * 64;

    (void)state;
    row_table_begin();
    (void)compile(pc);
    assert_int_equal(known_beside(pc), 0);
    for (unsigned i = 0; i < 60000 && known_beside(pc) == 0; i++) {
        usleep(1000);
        row_table_ahead(&pages);
    }
    assert_int_not_equal(known_beside(pc), 0);
    for (unsigned i = 0; i < 100; i++) {
        usleep(1000);
        row_table_ahead(&pages);
    }
    for (uint64_t at = (pc | (AREA - 1)) + 1, i = 0; i < AREA; i += 64)
        assert_int_equal(row_table_find(at + i).word, RULE_NONE);
}

/* For each area of a segment, a pc with a rule in its last page; 0: it has
 * none. A segment may begin and end with data. */
static uint64_t last_pcs[1024];

/* Fill last_pcs for the code from START to END. Returns how many have a pc. */
static unsigned
find_last_pcs(uint64_t start, uint64_t end)
{
    unsigned count = 0, i = 0;
    memset(last_pcs, 0, sizeof(last_pcs));
    for (uint64_t area = start; area + AREA <= end && i < 1024;
         area += AREA, i++) {
        for (uint64_t at = area + AREA - PIECE;
             at < area + AREA && last_pcs[i] == 0; at += 16)
            if (rule_kind(rule_in_row(at)) == RULE_FRAME)
                last_pcs[i] = at;
        count += last_pcs[i] != 0;
    }
    return count;
}

/* Returns how many pcs of last_pcs have a rule in the table. */
static unsigned
known_areas(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < 1024; i++)
        count += last_pcs[i] != 0 &&
                 rule_kind(row_table_find(last_pcs[i])) == RULE_FRAME;
    return count;
}

/* A segment in which walks have missed here and there follows as a whole. */
static void
a_segment_follows_its_areas(void **state)
{
    const struct module *module = modules_find((uint64_t)memcpy);
    const struct module_load *code = &module->loads[0];

    (void)state;
    while (!code->executable)
        code++;
    unsigned all = find_last_pcs(code->start, code->end);
    assert_true(all >= 4);
    row_table_begin();
    for (uint64_t at = code->start; at < code->end; at += 3 * AREA)
        (void)compile(at + AREA / 2);
    for (unsigned i = 0; i < 60000 && known_areas() < all; i++) {
        usleep(1000);
        row_table_ahead(&pages);
    }
    assert_int_equal(known_areas(), all);
    row_table_forget(module->start, module->end);
    assert_int_equal(known_areas(), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_say_what_rows_say),
        cmocka_unit_test(a_piece_comes_and_goes),
        cmocka_unit_test(many_regions_have_room),
        cmocka_unit_test(any_pc_is_fetched),
        cmocka_unit_test(an_area_follows_its_piece),
        cmocka_unit_test(a_segment_follows_its_areas)};

    return cmocka_run_group_tests(tests, begin_frames, NULL);
}
