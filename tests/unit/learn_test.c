/* SPDX-License-Identifier: MIT */
/*
 * learn_test.c -- learned rules against libunwind's own answer. Random
 * registers and a stack of random words, which all are addresses of that stack
 * again, make a synthetic frame for any pc; one step by the rule and one step
 * by libunwind must find the same caller. For every module of this process, for
 * hand-written tables, and for every pc of a row.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cmocka.h>

#include "capture/fde.h"
#include "capture/learn.h"
#include "capture/walk.h"

#include "unwinder.h"

#define STACK_SIZE (8u << 20)
#define HALF (STACK_SIZE / 2)
#define PCS_OF_MODULE 3000
#define PCS_OF_ROWS 30000

enum { DWARF_RBP = 6, DWARF_RSP = 7, DWARF_RIP = 16 };

static uint8_t *stack;
static uint8_t window[VIEW_WINDOW];
static struct unwinder unwinder;
static unsigned kinds[RULE_NOWHERE + 1];
static uint64_t random_state = 1;

static uint64_t
random_number(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 20;
}

/* An address in the upper half of the stack, room for a frame around it. */
static uint64_t
random_address(void)
{
    uint64_t offset = HALF + 65536 + random_number() % (HALF - 131072);

    return (uint64_t)stack + (offset & ~7ull);
}

/* The stack pointer lies below all else, so that every caller lies above. */
static void
random_registers(uint64_t pc)
{
    for (int i = 0; i < UNWINDER_REGISTERS; i++)
        unwinder.registers[i] = random_address();
    unwinder.registers[DWARF_RSP] =
        (uint64_t)stack + (1u << 20) + random_number() % 65536 * 8;
    unwinder.registers[DWARF_RIP] = pc;
}

static void
on_module(const struct module *module, bool gone)
{
    (void)module;
    (void)gone;
}

static int
begin(void **state)
{
    (void)state;
    dlopen("libstdc++.so.6", RTLD_NOW);
    stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return -1;
    for (uint64_t *word = (uint64_t *)stack;
         word < (uint64_t *)(stack + STACK_SIZE); word++)
        *word = random_address();
    return modules_begin(on_module) | modules_refresh() | rules_begin() |
           learn_begin() | unwinder_begin(&unwinder);
}

/* What libunwind says of the caller; RESULT as unw_step's. */
struct answer {
    int result;
    struct regs caller;
    uint64_t slot; /* address of the return address */
};

static struct answer
ask(void)
{
    struct answer answer = {.result = -1};
    unw_save_loc_t slot;

    if (unwinder_start(&unwinder) != 0)
        return answer;
    answer.result = unw_step(&unwinder.cursor);
    if (answer.result <= 0)
        return answer;
    answer.caller.pc = unwinder_get(&unwinder, UNW_REG_IP);
    answer.caller.sp = unwinder_get(&unwinder, UNW_REG_SP);
    answer.caller.fp = unwinder_get(&unwinder, UNW_X86_64_RBP);
    if (unw_get_save_loc(&unwinder.cursor, UNW_X86_64_RIP, &slot) == 0)
        answer.slot = slot.u.addr;
    return answer;
}

static void
check_frame(uint64_t pc, const struct answer *answer)
{
    uint64_t frames[8];
    struct walk walk = {.capacity = 8, .frames = frames};
    struct view view;
    struct regs regs = {pc, unwinder.registers[DWARF_RSP],
                        unwinder.registers[DWARF_RBP]};

    view_begin(&view, (uint64_t)stack, (uint64_t)stack + STACK_SIZE, window);
    walk_begin(&walk, &regs);
    /* The caller is no code, and nobody has learned that yet. */
    enum walk_outcome outcome = walk_run(&walk, &view);
    if (answer->result <= 0 || outcome != WALK_MISS ||
        walk.regs.pc != answer->caller.pc ||
        walk.regs.sp != answer->caller.sp ||
        walk.regs.fp != answer->caller.fp || walk.regs.sp - 8 != answer->slot) {
        const struct module *module = modules_find(pc);
        fail_msg("%s+%#lx: rule %#lx; libunwind %d: pc %#lx %#lx, sp %#lx "
                 "%#lx, fp %#lx %#lx",
                 module->path, pc - module->base, rules_find(pc).word,
                 answer->result, walk.regs.pc, answer->caller.pc, walk.regs.sp,
                 answer->caller.sp, walk.regs.fp, answer->caller.fp);
    }
}

/* A function's first instruction where no table says so, which libunwind does
 * not know: only the return address is on the stack. */
static bool
is_bare_entry(uint64_t pc, struct rule rule)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

    return !unwinder.has_table && modules_code_kind(pc + 3) == CODE_MODULE &&
           memcmp((const void *)pc, endbr64, sizeof(endbr64)) == 0 &&
           rule.word == rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0).word;
}

/* The registers as a signal's context has them. */
static void
fill_context(gregset_t context)
{
    static const int8_t order[UNWINDER_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX,
                                                     REG_RBX, REG_RSI, REG_RDI,
                                                     REG_RBP, REG_RSP, REG_R8,
                                                     REG_R9,  REG_R10, REG_R11,
                                                     REG_R12, REG_R13, REG_R14,
                                                     REG_R15, REG_RIP};

    for (int i = 0; i < UNWINDER_REGISTERS; i++)
        context[order[i]] = (greg_t)unwinder.registers[i];
}

/* A frame without a rule: learn_step undoes it on the real registers. */
static void
check_step(uint64_t pc, struct view *view, const struct answer *answer)
{
    gregset_t context;
    struct regs caller = {0, 0, 0};
    bool is_root = false;

    memset(context, 0, sizeof(context));
    fill_context(context);
    int result = learn_step(context, 0, pc, view, &caller, &is_root);
    assert_int_equal(result, answer->result < 0 ? -1 : 0);
    if (answer->result <= 0)
        return;
    assert_false(is_root);
    assert_int_equal(caller.pc, answer->caller.pc);
    assert_int_equal(caller.sp, answer->caller.sp);
    assert_int_equal(caller.fp, answer->caller.fp);
}

static bool
is_entry(uint64_t pc)
{
    const struct module *module = modules_find(pc);

    return module != NULL && module->entry != 0 && pc >= module->entry &&
           pc < module->entry + 256;
}

/* The rule for PC says what libunwind says. Returns its kind. */
static enum rule_kind
check_pc(uint64_t pc)
{
    struct rule rule = learn_rule(pc);
    struct view view;

    assert_int_equal(rules_find(pc).word, rule.word);
    random_registers(pc);
    struct answer answer = ask();
    switch (rule_kind(rule)) {
    case RULE_FRAME:
        if (!is_bare_entry(pc, rule))
            check_frame(pc, &answer);
        break;
    case RULE_HARD:
        view_begin(&view, 0, 0, window);
        check_step(pc, &view, &answer);
        break;
    case RULE_CHAIN:
        assert_false(unwinder.has_table);
        break;
    case RULE_ROOT:
        assert_true(answer.result == 0 ||
                    (!unwinder.has_table && is_entry(pc)));
        break;
    case RULE_SIGNAL:
        assert_true(unw_is_signal_frame(&unwinder.cursor) > 0);
        answer.slot = answer.caller.sp - 8; /* it has none */
        check_frame(pc, &answer);
        break;
    default:
        fail_msg("%#lx: kind %d", pc, rule_kind(rule));
    }
    kinds[rule_kind(rule)]++;
    return rule_kind(rule);
}

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
    /* Rules are for nothing if most code has none. */
    if (strstr(info->dlpi_name, "libc.so") != NULL)
        assert_true(kinds[RULE_FRAME] > PCS_OF_MODULE / 100 * 97);
    ++*(unsigned *)count;
    return 0;
}

static void
test_modules(void **state)
{
    unsigned count = 0;

    (void)state;
    dl_iterate_phdr(check_module, &count);
    assert_true(count >= 4);
}

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
        "table far_return\n"
        ".cfi_def_cfa_offset 32\n"
        ".cfi_offset 16, -24\n"
        "end_table\n"
        "table huge\n"
        ".cfi_def_cfa_offset 0x2000000\n"
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
        ".purgem table\n"
        ".purgem end_table\n"
        ".globl stub_call\n"
        ".hidden stub_call\n"
        "stub_call: call getppid@PLT\n"
        ".popsection\n");

extern const char table_plain[], table_pushed[], table_pointer[],
    table_realigned[], table_fp_in_register[], table_fp_by_value[],
    table_fp_by_sp[], table_cfa_by_r10[], table_cfa_by_stack[],
    table_cfa_by_sum[], table_cfa_by_two[], table_far_return[], table_huge[],
    table_root[], stub_call[], _start[];
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
test_tables(void **state)
{
    (void)state;
    expect_rule(table_plain, rule_frame(RULE_CFA_SP, 8, RULE_FP_SAME, 0));
    expect_rule(table_pushed, rule_frame(RULE_CFA_SP, 16, RULE_FP_AT_CFA, -16));
    expect_rule(table_pointer,
                rule_frame(RULE_CFA_FP, 16, RULE_FP_AT_CFA, -16));
    expect_rule(table_realigned,
                rule_frame(RULE_CFA_FP_DEREF, -8, RULE_FP_AT_FP, 0));
    expect_rule(table_root, rule_make(RULE_ROOT));
}

/* What no rule can say must not become one; libunwind undoes it each time. */
static void
test_hard_tables(void **state)
{
    static const char *const hard[] = {table_cfa_by_r10, table_cfa_by_stack,
                                       table_cfa_by_sum, table_cfa_by_two,
                                       table_far_return, table_fp_by_sp};

    (void)state;
    for (unsigned i = 0; i < sizeof(hard) / sizeof(hard[0]); i++)
        expect_rule(hard[i], rule_make(RULE_HARD));
    assert_int_equal(rule_kind(learn_rule((uint64_t)table_huge)), RULE_HARD);
}

static void
test_fp_elsewhere(void **state)
{
    (void)state;
    expect_rule(table_fp_in_register, rule_make(RULE_HARD));
    expect_rule(table_fp_by_value, rule_make(RULE_HARD));
}

/* The sampler may have no more than a copy of the stack. */
static void
test_step_on_copy(void **state)
{
    uint64_t pc = (uint64_t)table_cfa_by_r10;
    struct view view;

    (void)state;
    random_registers(pc);
    struct answer answer = ask();
    assert_true(answer.result > 0);
    learn_forget_pages();
    view_begin_copy(&view, (uint64_t)stack, STACK_SIZE, stack);
    check_step(pc, &view, &answer);
}

/* The stub that calls of other libraries' functions go through. */
static void
test_stub(void **state)
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

static void *volatile restorer;

static void __attribute__((noinline)) note_restorer(int signo)
{
    (void)signo;
    restorer = __builtin_return_address(0);
}

static void
test_restorer(void **state)
{
    struct sigaction action = {.sa_handler = note_restorer}, old;

    (void)state;
    sigaction(SIGUSR1, &action, &old);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &old, NULL);
    assert_non_null(restorer);
    assert_int_equal(check_pc((uint64_t)restorer), RULE_SIGNAL);
    assert_int_equal(check_pc((uint64_t)restorer - 1), RULE_SIGNAL);
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
test_roots(void **state)
{
    pthread_t thread;
    void *frame = NULL;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, note_root, &frame), 0);
    pthread_join(thread, NULL);
    assert_int_equal(check_pc((uint64_t)frame - 1), RULE_ROOT);
    note_root(&frame);
    assert_in_range((uint64_t)frame, (uint64_t)_start, (uint64_t)_start + 64);
    for (unsigned i = 0; i < 34; i++)
        assert_int_equal(check_pc((uint64_t)_start + i), RULE_ROOT);
}

static struct view own_view;
static uint64_t own_frames[128];
static unsigned hard_frames;

/* Walk on by rules, learning them, and by libunwind where there is none. */
static enum walk_outcome
walk_on(struct walk *walk, const gregset_t registers)
{
    enum walk_outcome outcome;
    struct regs caller;
    bool is_root = false;

    while ((outcome = walk_run(walk, &own_view)) == WALK_MISS)
        learn_rule(frame_lookup(own_frames[walk->depth - 1]));
    if (outcome != WALK_HARD)
        return outcome;
    hard_frames++;
    assert_int_equal(learn_step(registers, walk->depth - 1, walk->regs.pc,
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
    view_begin(&own_view, 0, 0, window);
    walk_begin(&walk, &regs);
    hard_frames = 0;
    while ((outcome = walk_on(&walk, context.uc_mcontext.gregs)) == WALK_ON)
        ;
    assert_int_equal(outcome, WALK_ROOT);
    assert_int_equal(walk.depth, count);
    for (int i = 1; i < count; i++)
        assert_int_equal(own_frames[i], (uint64_t)expected[i] | FRAME_RETURN);
}

static void
test_own_stack(void **state)
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
test_hard_frame(void **state)
{
    (void)state;
    call_by_rbx(check_own_stack);
    assert_int_equal(hard_frames, 1);
    call_by_rbx(call_by_rbx_again);
    assert_int_equal(hard_frames, 2);
}

static void
test_no_module(void **state)
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
        assert_int_equal(rule_kind(learn_rule((uint64_t)code + i)), RULE_CHAIN);
    for (unsigned i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++)
        assert_int_equal(rule_kind(learn_rule(nowhere[i])), RULE_NOWHERE);
    munmap(code, 8192);
    modules_refresh();
    assert_int_equal(rule_kind(learn_rule((uint64_t)code)), RULE_NOWHERE);
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

/* Every pc of the row from START to END is undone as its first one is. */
static void
check_row(const struct fde *fde, uint64_t start, uint64_t end)
{
    uint64_t first, last;

    assert_true(fde_row(&pages, fde, end - 1, &first, &last));
    assert_int_equal(first, start);
    assert_int_equal(last, end);
    random_registers(start);
    struct answer expected = ask();
    for (uint64_t pc = start + 1; pc < end; pc++) {
        unwinder.registers[DWARF_RIP] = pc;
        struct answer answer = ask();
        if (!is_same(&answer, &expected))
            fail_msg("%#lx is not as its row's start, %#lx", pc, start);
    }
    pcs += (unsigned)(end - start);
    rows++;
}

/* The rows of the function at START tile it. */
static void
check_function(const struct module *module, uint64_t start)
{
    struct fde fde;
    uint64_t first, last, pc = start;

    assert_true(fde_find(&pages, module, start, &fde));
    assert_int_equal(fde.start, start);
    while (pc < fde.end) {
        if (!fde_row(&pages, &fde, pc, &first, &last)) {
            refused++;
            return;
        }
        assert_int_equal(first, pc);
        assert_true(last > pc && last <= fde.end);
        check_row(&fde, first, last);
        pc = last;
    }
    assert_int_equal(pc, fde.end);
    assert_false(fde_find(&pages, module, start, &fde) && pc < fde.end);
}

static void
test_rows(void **state)
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables),
                                       cmocka_unit_test(test_hard_tables),
                                       cmocka_unit_test(test_fp_elsewhere),
                                       cmocka_unit_test(test_step_on_copy),
                                       cmocka_unit_test(test_stub),
                                       cmocka_unit_test(test_restorer),
                                       cmocka_unit_test(test_roots),
                                       cmocka_unit_test(test_own_stack),
                                       cmocka_unit_test(test_hard_frame),
                                       cmocka_unit_test(test_modules),
                                       cmocka_unit_test(test_no_module),
                                       cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, begin, NULL);
}
