/* SPDX-License-Identifier: MIT */
/*
 * code_flow_test.c -- what the code of a function says of its frames, against
 * its unwind table: each row of each function of this process's libraries. Then
 * shapes of assembly, and code that must not be believed.
 */
#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/arch.h"
#include "process/modules.h"
#include "unwind/cfi.h"
#include "unwind/code_effect.h"
#include "unwind/code_flow.h"
#include "unwind/pages.h"

#include "synthetic.h"

static struct pages pages;
static struct code_flow flow;

static struct tally {
    unsigned functions, proved;
    unsigned rows, equal, silent, different;
    unsigned forgotten; /* the table is wrong */
} tally;
static unsigned different;

/* Whether STATE knows that the caller's fp is where RULE says. After a function
 * has restored it, the word that it was in may still hold it. */
static bool
agrees_on_fp(const struct code_state *state, struct rule rule)
{
    const struct code_value fp = state->registers[CODE_FP];
    bool is_own = code_state_is_entry(fp, CODE_FP);
    struct code_value at = {VALUE_CFA, 0, (int32_t)rule_fp_offset(rule)};
    if (rule_fp(rule) == RULE_FP_LOST)
        return true;
    if (rule_fp(rule) == RULE_FP_SAME)
        return is_own;
    if (rule_fp(rule) == RULE_FP_AT_FP)
        at = code_state_plus(fp, rule_fp_offset(rule));
    return code_state_is_entry(code_state_load(state, at), CODE_FP) || is_own;
}

/* Whether STATE knows that RULE holds. */
static bool
agrees(const struct code_state *state, struct rule rule)
{
    const struct code_value sp = state->registers[CODE_SP];
    const struct code_value fp = state->registers[CODE_FP];
    bool is_by_sp =
        rule_cfa(rule) == RULE_CFA_SP || rule_cfa(rule) == RULE_CFA_SP_DEREF;
    int64_t offset = rule_cfa(rule) == RULE_CFA_SP_DEREF
                         ? (int64_t)rule_deref_slot(rule)
                         : rule_cfa_offset(rule);
    struct code_value cfa = code_state_plus(is_by_sp ? sp : fp, offset);
    if (rule_kind(rule) == RULE_LEAF && ARCH_HAS_LINK)
        cfa = code_state_is_entry(state->registers[rule_leaf_number(rule)],
                                  CODE_LINK)
                  ? code_state_plus(sp, rule_leaf_offset(rule))
                  : (struct code_value){0};
    else if (rule_kind(rule) == RULE_LEAF)
        cfa = code_state_plus(state->registers[rule_leaf_number(rule)],
                              rule_leaf_offset(rule));
    if (rule_cfa(rule) >= RULE_CFA_FP_DEREF)
        cfa = code_state_load(state, cfa);
    if (rule_cfa(rule) == RULE_CFA_SP_DEREF)
        cfa = code_state_plus(cfa, (int64_t)rule_deref_more(rule));
    return cfa.kind == VALUE_CFA && cfa.offset == 0 &&
           agrees_on_fp(state, rule);
}

/* RULE, which does not say where fp is. */
static struct rule
without_fp(struct rule rule)
{
    return (struct rule){rule.word | (uint64_t)RULE_FP_LOST << 6};
}

/* Functions of which some rows are checked: of the module called NAME, whose
 * code was followed from BASE on. */
struct visit {
    uint64_t base;
    const struct fde *fde;
    const char *name;
};

static void
take_rule(void *to, const struct cfi_row *row)
{
    *(struct rule *)to = row->rule;
}

static struct rule
rule_in_table(const struct fde *fde, uint64_t pc)
{
    struct rule rule = rule_make(RULE_NONE);
    (void)cfi_rows(&pages, fde, pc, pc + 1, take_rule, &rule);
    return rule;
}

/* Whether the table of FDE is wrong: it has the CFA at the same distance from
 * sp before and after an instruction that moves sp, or at a return not where
 * the caller had its sp. That is so in assembly, where authors write tables. */
static bool
is_wrong_table(const struct fde *fde)
{
    struct code_state state = {0}, entry = {0};
    struct code_value before;
    size_t length;
    int64_t target;
    code_effect_enter(&entry);
    for (uint64_t at = fde->start; at < fde->end; at += length) {
        state.registers[CODE_SP] = before =
            (struct code_value){VALUE_CFA, 0, 0};
        enum code_step step = code_effect_step(&state, (const uint8_t *)at,
                                               fde->end - at, &length, &target);
        struct rule here = rule_in_table(fde, at);
        if (step == CODE_RETURN && rule_cfa(here) == RULE_CFA_SP &&
            rule_cfa_offset(here) != -entry.registers[CODE_SP].offset)
            return true;
        if (step == CODE_ON && rule_cfa(here) == RULE_CFA_SP &&
            !code_state_is_same(state.registers[CODE_SP], before) &&
            rule_in_table(fde, at + length).word == here.word)
            return true;
    }
    return false;
}

/* What the code says of PC, where the table says RULE. */
static void
check_pc_of(const struct visit *visit, uint64_t pc, struct rule rule)
{
    const struct code_state *state = code_flow_state(pc - visit->base);
    const struct code_row *own =
        code_flow_row(flow.rows, flow.count, pc - visit->base);
    size_t length;
    /* What fills a gap is not executed. */
    if (state == NULL || code_effect_is_padding((const uint8_t *)pc,
                                                visit->fde->end - pc, &length))
        return;
    tally.rows++;
    if (own == NULL)
        tally.silent++;
    else if (agrees(state, rule) && agrees(state, own->rule))
        tally.equal++;
    else if (rule_fp(own->rule) == RULE_FP_LOST &&
             agrees(state, without_fp(rule)) && agrees(state, own->rule))
        tally.silent++;
    else if (is_wrong_table(visit->fde))
        tally.forgotten++;
    else if (tally.different++ < 20)
        print_message("%s+%#lx (function at +%#lx): table %#lx, code %#lx\n",
                      visit->name, pc - modules_find(pc)->base,
                      visit->fde->start - modules_find(pc)->base, rule.word,
                      own->rule.word);
}

static void
check_row(void *to, const struct cfi_row *row)
{
    if (rule_kind(row->rule) == RULE_FRAME)
        for (uint64_t pc = row->start; pc < row->end; pc++)
            check_pc_of(to, pc, row->rule);
}

static void
check_rows(void *to, const struct fde *fde)
{
    struct visit *visit = to;
    struct visit of = {visit->base, fde, visit->name};
    (void)cfi_rows(&pages, fde, fde->start, fde->end, check_row, &of);
}

static unsigned
module_code(const struct module *module)
{
    unsigned i = 0;
    while (!module->loads[i].executable)
        i++;
    return i;
}

/* IS_CALLED: that the function begins at its FDE's start is known. */
static void
check_entry(void *to, const struct fde *fde, bool is_called)
{
    struct visit visit = {fde->start, fde, to};
    size_t length = fde->end - fde->start;
    if (length < 8 || length > CODE_FLOW_REACH)
        return;
    tally.functions++;
    if (!code_flow_read((const uint8_t *)fde->start, length, 0, is_called,
                        &flow))
        return;
    tally.proved++;
    (void)cfi_rows(&pages, fde, fde->start, fde->end, check_row, &visit);
}

static void
check_function(void *to, const struct fde *fde)
{
    check_entry(to, fde, false);
}

static void
check_called(void *to, const struct fde *fde)
{
    check_entry(to, fde, true);
}

/* Call VISIT with TO for each function of MODULE, and print the result of
 * checking WHAT. */
static void
check_all(const struct module *module, const char *what,
          void (*visit)(void *to, const struct fde *fde), const void *to,
          unsigned *count)
{
    if (module->is_vdso || module->table == 0)
        return;
    tally = (struct tally){0};
    fde_each(&pages, module, module->start, module->end, visit, (void *)to);
    print_message("%s: %u of %u %s proved; of %u rows %u equal, %u silent, "
                  "%u where the table is wrong, %u different\n",
                  module->path, tally.proved, tally.functions, what, tally.rows,
                  tally.equal, tally.silent, tally.forgotten, tally.different);
    different += tally.different;
    ++*count;
}

static void
check_module(void *count, const struct module *module)
{
    check_all(module, "functions", check_function, module->path, count);
    check_all(module, "called functions", check_called, module->path, count);
}

/* Load one library of each kind that is installed: by a compiler of C, of C++
 * and of Rust, CPython's loop, and assembly. */
static void
load_libraries(void)
{
    static const char *const libraries[] = {
        "/usr/lib/*/libcrypto.so.3", "/usr/lib/*/libstdc++.so.6",
        "/usr/lib/*/libpython3.*.so.1.0",
        "{/usr/lib/*,~/.rustup/toolchains/*/lib/rustlib/*/lib}/libstd-*.so"};
    glob_t found;
    for (unsigned i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        if (glob(libraries[i], GLOB_BRACE | GLOB_TILDE, NULL, &found) != 0)
            continue;
        for (size_t j = 0; j < found.gl_pathc; j++)
            if (dlopen(found.gl_pathv[j], RTLD_NOW) != NULL)
                break;
        globfree(&found);
    }
}

static void
code_says_what_tables_say(void **state)
{
    unsigned count = 0;

    (void)state;
    load_libraries();
    modules_refresh();
    assert_int_equal(code_flow_begin(), 0);
    modules_each(check_module, &count);
    assert_true(count >= 8);
    assert_int_equal(different, 0);
}

/* What follows jumps and returns in FDE's function, as if a function began
 * there. The code around it may be taken for its own. */
static void
check_function_at(void *to, const struct fde *fde)
{
    const struct module *module = to;
    const uint64_t low = module->loads[module_code(module)].start;
    const uint64_t high = module->loads[module_code(module)].end;
    struct visit visit = {fde->start - 4096 > low ? fde->start - 4096 : low,
                          fde, module->path};
    uint64_t end = fde->end + 65536 < high ? fde->end + 65536 : high;
    size_t length;
    struct code_state state = {0};
    int64_t target;
    enum code_step last = CODE_ON;
    for (uint64_t at = fde->start; at < fde->end; at += length) {
        const uint8_t *code = (const uint8_t *)at;
        if (code_effect_is_padding(code, end - at, &length))
            continue;
        bool may_begin =
            last != CODE_ON && last != CODE_BRANCH && last != CODE_CALL;
        last = code_effect_step(&state, code, end - at, &length, &target);
        if (!may_begin)
            continue;
        tally.functions++;
        if (!code_flow_read((const uint8_t *)visit.base, end - visit.base,
                            at - visit.base, false, &flow))
            continue;
        tally.proved++;
        fde_each(&pages, module, visit.base, end, check_rows, &visit);
    }
}

static void
check_module_at(void *count, const struct module *module)
{
    check_all(module, "places", check_function_at, module, count);
}

static void
a_wrong_beginning_does_no_harm(void **state)
{
    unsigned count = 0;

    (void)state;
    modules_each(check_module_at, &count);
    assert_true(count >= 4);
    assert_int_equal(different, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_says_what_tables_say),
        cmocka_unit_test(a_wrong_beginning_does_no_harm)};

    return cmocka_run_group_tests(tests, begin_frames, NULL);
}
