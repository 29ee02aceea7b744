/* SPDX-License-Identifier: MIT */
/*
 * learn_test.c -- learned rules against libunwind's own answer, for random pcs
 * of every module of this process; every pc of a row of the unwind table
 * against the row's first; and the code that has no table.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cmocka.h>

#include "process/modules.h"
#include "unwind/cfi.h"

#include "synthetic.h"

#define PCS_OF_MODULE 3000
#define PCS_OF_ROWS 30000

extern const char _start[];

static int
check_module(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)size;
    memset(kinds, 0, sizeof(kinds));
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0)
            continue;
        for (unsigned k = 0; k < PCS_OF_MODULE; k++)
            check_pc(info->dlpi_addr + part->p_vaddr +
                     random_number() % part->p_memsz);
    }
    print_message("%s: %u frame, %u chain, %u root, %u hard, %u signal\n",
                  info->dlpi_name[0] != '\0' ? info->dlpi_name : "this program",
                  kinds[RULE_FRAME], kinds[RULE_CHAIN], kinds[RULE_ROOT],
                  kinds[RULE_HARD], kinds[RULE_SIGNAL]);
    /* Rules are useless if most code has none. Some linkers put what is only
     * read into the segment of the code. */
    unsigned least = ARCH_HAS_LINK ? 60 : 97;
    if (strstr(info->dlpi_name, "libc.so") != NULL)
        assert_true(kinds[RULE_FRAME] > PCS_OF_MODULE / 100 * least);
    ++*(unsigned *)count;
    return 0;
}

static void
rules_of_all_modules_are_libunwinds(void **state)
{
    unsigned count = 0;

    (void)state;
    dl_iterate_phdr(check_module, &count);
    assert_true(count >= 4);
}

static void *volatile returns_to;

static void
note_restorer(int signo)
{
    (void)signo;
    returns_to = __builtin_return_address(0);
}

static void
the_restorer_is_a_signal_frame(void **state)
{
    struct sigaction action = {.sa_handler = note_restorer}, old;

    (void)state;
    sigaction(SIGUSR1, &action, &old);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &old, NULL);
    assert_non_null(returns_to);
    assert_int_equal(check_pc((uint64_t)returns_to), RULE_SIGNAL);
    assert_int_equal(check_pc((uint64_t)returns_to - 1), RULE_SIGNAL);
}

static void *
note_root(void *frame)
{
    void *frames[64];
    int count = backtrace(frames, 64);

    for (int i = 0; i + 1 < count; i++)
        assert_int_equal(check_pc((uint64_t)frames[i] - 1), RULE_FRAME);
    *(void **)frame = frames[count - 1];
    return NULL;
}

/* Threads begin in clone or clone3, programs in _start. */
static void
roots_end_a_stack(void **state)
{
    pthread_t thread;
    void *frame = NULL;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, note_root, &frame), 0);
    pthread_join(thread, NULL);
    enum rule_kind kind = check_pc((uint64_t)frame - 1);
    /* Where threads begin without a caller, backtrace leaves out the root. */
    assert_true(kind == RULE_ROOT || (ARCH_HAS_LINK && kind == RULE_FRAME));
    note_root(&frame);
    assert_in_range((uint64_t)frame, (uint64_t)_start, (uint64_t)_start + 64);
    for (unsigned i = 0; i < 34; i++)
        assert_int_equal(check_pc((uint64_t)_start + i), RULE_ROOT);
}

static void
code_of_no_module_has_no_rule(void **state)
{
    static int data;
    uint8_t *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const uint64_t nowhere[] = {
        0,          1,          4096,       (uint64_t)&data, (uint64_t)&nowhere,
        1ull << 47, 1ull << 63, UINT64_MAX, (uint64_t)stack};

    (void)state;
    if (code == MAP_FAILED)
        skip();
    modules_refresh();
    for (unsigned i = 0; i < 8192; i += 100)
        assert_int_equal(rule_kind(learn_rule((uint64_t)code + i, false)),
                         RULE_CHAIN);
    for (unsigned i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++)
        assert_int_equal(rule_kind(learn_rule(nowhere[i], false)),
                         RULE_NOWHERE);
    munmap(code, 8192);
    modules_refresh();
    assert_int_equal(rule_kind(learn_rule((uint64_t)code, false)),
                     RULE_NOWHERE);
    rules_begin();
}

static ucontext_t maker, made;

static void
note_context_root(void)
{
    returns_to = __builtin_return_address(0);
}

/* A context that makecontext made returns to the start of a function, which
 * no call precedes: that is its root. */
static void
a_made_context_is_a_root(void **state)
{
    static char memory[65536];

    (void)state;
    getcontext(&made);
    made.uc_stack.ss_sp = memory;
    made.uc_stack.ss_size = sizeof(memory);
    made.uc_link = &maker;
    makecontext(&made, note_context_root, 0);
    assert_int_equal(swapcontext(&maker, &made), 0);
    assert_int_equal(check_pc((uint64_t)returns_to - 1), RULE_ROOT);
}

/* The loader's first instructions may have no table. */
static void
the_loaders_entry_is_a_root(void **state)
{
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)getauxval(AT_BASE);

    (void)state;
    if (head == NULL)
        skip();
    uint64_t entry = (uint64_t)head + head->e_entry;
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(check_pc(entry + i), RULE_ROOT);
}

/* However full the table is, what was learned is in it. */
static void
a_full_table_takes_what_is_learned(void **state)
{
    const uint64_t pc = (uint64_t)dlsym(RTLD_DEFAULT, "qsort_r") + 100;
    struct rule filler = rule_make(RULE_CHAIN);
    uint64_t most = 0;

    (void)state;
    rules_begin();
    do
        rules_put(1ull << 50 | most++, filler);
    while (rules_find(1ull << 50).word == filler.word);
    for (uint64_t count = most - 64; count < most; count++) {
        rules_begin();
        for (uint64_t i = 0; i < count; i++)
            rules_put(1ull << 50 | i, filler);
        struct rule rule = learn_rule(pc, false);
        assert_int_equal(rules_find(pc).word, rule.word);
    }
    rules_begin();
}

static struct pages pages;
static unsigned pcs, rows, refused;

static bool
is_same(const struct answer *a, const struct answer *b)
{
    return a->result == b->result && a->slot == b->slot &&
           memcmp(&a->caller, &b->caller, sizeof(a->caller)) == 0;
}

/* Every pc of ROW is undone as its first one is. */
static void
check_row(const struct cfi_row *row)
{
    random_registers(row->start);
    struct answer expected = ask_libunwind();
    for (uint64_t pc = row->start + 1; pc < row->end; pc++) {
        unwinder.registers[ARCH_PC] = pc;
        struct answer answer = ask_libunwind();
        if (!is_same(&answer, &expected))
            fail_msg("%#lx is not as its row's start, %#lx", pc, row->start);
    }
    pcs += (unsigned)(row->end - row->start);
    rows++;
}

struct tiles {
    uint64_t at; /* the next row begins here */
};

static void
take_row(void *to, const struct cfi_row *row)
{
    struct tiles *tiles = to;
    assert_int_equal(row->start, tiles->at);
    assert_true(row->end > row->start);
    tiles->at = row->end;
    if (rule_kind(row->rule) == RULE_NONE)
        refused++;
    else
        check_row(row);
}

/* The rows of the function at START tile it. */
static void
check_function(const struct module *module, uint64_t start)
{
    struct fde fde, next;
    struct tiles tiles = {start};

    assert_true(fde_find(&pages, module, start, &fde));
    assert_int_equal(fde.start, start);
    if (!cfi_rows(&pages, &fde, fde.start, fde.end, take_row, &tiles)) {
        refused++;
        return;
    }
    assert_int_equal(tiles.at, fde.end);
    /* What follows is another function, or padding without a table. */
    if (fde_find(&pages, module, fde.end, &next))
        assert_int_equal(next.start, fde.end);
}

static void
a_row_is_as_its_start(void **state)
{
    const struct module *module =
        modules_find((uint64_t)dlsym(RTLD_DEFAULT, "getppid"));
    unsigned functions = 0;

    (void)state;
    assert_non_null(module);
    pages_begin(&pages);
    const uint32_t count = *(const uint32_t *)(module->table + 8);
    const int32_t *table = (const int32_t *)(module->table + 12);
    for (pcs = 0; pcs < PCS_OF_ROWS; functions++)
        check_function(module, module->table +
                                   (uint64_t)(int64_t)
                                       table[random_number() % count * 2]);
    print_message("%u functions, %u rows, %u pcs; %u not followed\n", functions,
                  rows, pcs, refused);
    assert_true(refused <= functions / 20);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_restorer_is_a_signal_frame),
        cmocka_unit_test(roots_end_a_stack),
        cmocka_unit_test(a_made_context_is_a_root),
        cmocka_unit_test(the_loaders_entry_is_a_root),
        cmocka_unit_test(a_full_table_takes_what_is_learned),
        cmocka_unit_test(rules_of_all_modules_are_libunwinds),
        cmocka_unit_test(code_of_no_module_has_no_rule),
        cmocka_unit_test(a_row_is_as_its_start)};

    return cmocka_run_group_tests(tests, begin_frames, NULL);
}
