/* SPDX-License-Identifier: MIT */
/*
 * epilogue_test.c -- what the code shows of a frame: in sequences that are
 * known, and in every function of the C library, whose unwind table says what
 * is right.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/epilogue.h"
#include "unwind/x86_64/instruction.h"
#include "unwind/learn.h"
#include "process/modules.h"

static struct epilogue shown;

#define READ(code, way)                                                      \
    epilogue_read((const uint8_t *)(code), sizeof(code) - 1, (way), 0, NULL, \
                  &shown)
#define expect_rule(code, way, expected)                    \
    do {                                                    \
        assert_true(READ(code, way));                       \
        assert_int_equal(shown.rule.word, (expected).word); \
    } while (0)

static struct rule
from_sp(int32_t cfa)
{
    return rule_frame(RULE_CFA_SP, cfa, RULE_FP_SAME, 0);
}

/* CPython's trampoline for perf: endbr64; sub $8, %rsp; call *%rcx; add $8,
 * %rsp; ret */
static void
straight_code_is_followed(void **state)
{
    static const char code[] =
        "\xf3\x0f\x1e\xfa\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3";

    (void)state;
    expect_rule("\x48\x83\xc4\x08\xc3", EPILOGUE_STRAIGHT, from_sp(16));
    assert_true(epilogue_read((const uint8_t *)code, sizeof(code) - 1,
                              EPILOGUE_STRAIGHT, 0, NULL, &shown));
    assert_int_equal(shown.rule.word, from_sp(8).word);
    assert_int_equal(shown.same, 4);
    /* je; then it is none. */
    assert_false(READ("\x74\x00\x48\x83\xc4\x08\xc3", EPILOGUE_STRAIGHT));
    expect_rule("\x74\x00\x48\x83\xc4\x08\xc3", EPILOGUE_BRANCHED, from_sp(16));
}

static void
a_frame_pointer_is_followed(void **state)
{
    (void)state;
    /* add $0x40, %rsp; pop %rbp; ret: Go's */
    expect_rule("\x48\x83\xc4\x40\x5d\xc3", EPILOGUE_BRANCHED,
                rule_frame(RULE_CFA_SP, 80, RULE_FP_AT_CFA, -16));
    /* leave; ret */
    expect_rule("\xc9\xc3", EPILOGUE_BRANCHED,
                rule_frame(RULE_CFA_FP, 16, RULE_FP_AT_CFA, -16));
    /* push %rbp; mov %rsp, %rbp; leave; ret */
    expect_rule("\x55\x48\x89\xe5\xc9\xc3", EPILOGUE_BRANCHED, from_sp(8));
    /* lea -0x10(%rbp), %rsp; pop %rbx; pop %r12; pop %rbp; ret */
    expect_rule("\x48\x8d\x65\xf0\x5b\x41\x5c\x5d\xc3", EPILOGUE_BRANCHED,
                rule_frame(RULE_CFA_FP, 16, RULE_FP_AT_CFA, -16));
    /* mov 0x10(%rsp), %rbp; add $0x18, %rsp; ret */
    expect_rule("\x48\x8b\x6c\x24\x10\x48\x83\xc4\x18\xc3", EPILOGUE_BRANCHED,
                rule_frame(RULE_CFA_SP, 32, RULE_FP_AT_CFA, -16));
}

static void
a_jump_to_another_function_returns(void **state)
{
    (void)state;
    /* libffi's closure: lea -0xb(%rip), %r10; jmp *7(%rip) */
    expect_rule("\x4c\x8d\x15\xf5\xff\xff\xff\xff\x25\x07\x00\x00\x00",
                EPILOGUE_STRAIGHT, from_sp(8));
    assert_int_equal(shown.same, 7);
    /* add $8, %rsp; jmp *7(%rip) */
    expect_rule("\x48\x83\xc4\x08\xff\x25\x07\x00\x00\x00", EPILOGUE_BRANCHED,
                from_sp(16));
    /* push $3; jmp *7(%rip): the first call by a PLT. jmp *7(%rbx); jmp
     * *table(,%rax,8) */
    assert_false(READ("\x6a\x03\xff\x25\x07\x00\x00\x00", EPILOGUE_STRAIGHT));
    assert_false(READ("\xff\x63\x07", EPILOGUE_BRANCHED));
    assert_false(READ("\xff\x24\xc5\x00\x00\x00\x10", EPILOGUE_BRANCHED));
}

static void
branches_are_followed(void **state)
{
    (void)state;
    /* 1: dec %eax; jne 1b; pop %rbx; ret */
    expect_rule("\xff\xc8\x75\xfc\x5b\xc3", EPILOGUE_BRANCHED, from_sp(16));
    assert_int_equal(shown.same, 4);
    /* 1: je 2f; jmp 1b; 2: ret */
    expect_rule("\x74\x02\xeb\xfc\xc3", EPILOGUE_BRANCHED, from_sp(8));
    /* je 1f; ud2; 1: ret, and the same with a call, which may not return */
    expect_rule("\x74\x02\x0f\x0b\xc3", EPILOGUE_BRANCHED, from_sp(8));
    assert_false(READ("\xe8\x10\x20\x30\x40\xc3", EPILOGUE_BRANCHED));
    /* endbr64 begins another function; and $-32, %rsp; jmp *%rax; no end */
    assert_false(READ("\x90\xf3\x0f\x1e\xfa\xc3", EPILOGUE_BRANCHED));
    assert_false(READ("\x48\x83\xe4\xe0\xc3", EPILOGUE_BRANCHED));
    assert_false(READ("\xff\xe0\xc3", EPILOGUE_BRANCHED));
    assert_false(READ("\x90\x90", EPILOGUE_BRANCHED));
    assert_false(READ("\xeb\xfe", EPILOGUE_BRANCHED));
    /* What is below the return address is not part of the frame. */
    assert_false(READ("\x48\x83\xec\x08\xc3", EPILOGUE_BRANCHED));
}

static size_t
read_here(uint64_t address, uint8_t *to, size_t limit)
{
    memcpy(to, (const void *)address, limit);
    return limit;
}

/* A call is passed if what it calls returns with the stack as it was. */
static void
calls_are_passed(void **state)
{
    static const uint8_t code[4096] = {/* call 2f; call 1f; add $8, %rsp; ret */
                                       0xe8, 0x0b, 0, 0, 0, 0xe8, 0x05, 0, 0, 0,
                                       0x48, 0x83, 0xc4, 0x08, 0xc3,
                                       /* 1: push %rbx; 2: pop %rbx; ret */
                                       0x53, 0x5b, 0xc3};
    uint64_t pc = (uint64_t)code;

    (void)state;
    assert_false(
        epilogue_read(code, 18, EPILOGUE_BRANCHED, pc, read_here, &shown));
    assert_false(
        epilogue_read(code + 5, 13, EPILOGUE_BRANCHED, pc + 5, NULL, &shown));
    assert_true(epilogue_read(code + 5, 13, EPILOGUE_BRANCHED, pc + 5,
                              read_here, &shown));
    assert_int_equal(shown.rule.word, from_sp(16).word);
}

static unsigned right, wrong, silent;

static size_t
read_library(uint64_t address, uint8_t *to, size_t limit)
{
    if (modules_code_kind(address) != CODE_MODULE ||
        modules_code_kind(address + limit) != CODE_MODULE)
        return 0;
    return read_here(address, to, limit);
}

/* Compare what the code at PC shows with RULE, which the table says. */
static void
compare(uint64_t pc, uint64_t end, struct rule rule)
{
    if (rule_kind(rule) != RULE_FRAME || rule_cfa(rule) == RULE_CFA_FP_DEREF)
        return;
    if (!epilogue_read((const uint8_t *)pc, end - pc, EPILOGUE_BRANCHED, pc,
                       read_library, &shown)) {
        silent++;
        return;
    }
    /* By whichever register it is found, it is one place. */
    if (rule_cfa(rule) != rule_cfa(shown.rule))
        return;
    /* Where rbp has just been restored, it is in both places. */
    bool is_right = rule_cfa_offset(rule) == rule_cfa_offset(shown.rule) &&
                    (rule_fp(shown.rule) == RULE_FP_SAME ||
                     rule_fp_offset(rule) == rule_fp_offset(shown.rule));
    right += is_right;
    wrong += !is_right;
}

static void
ignore(const struct module *module, bool gone)
{
    (void)module;
    (void)gone;
}

static void
the_code_of_a_library_is_followed(void **state)
{
    struct instruction in;
    struct fde function;

    (void)state;
    assert_true(modules_begin(ignore) == 0 && rules_begin() == 0 &&
                learn_begin() == 0 && modules_refresh() == 0);
    const struct module *module =
        modules_find((uint64_t)dlsym(RTLD_DEFAULT, "getppid"));
    assert_non_null(module);
    for (uint64_t pc = module->start; pc < module->end; pc += 4096) {
        if (modules_find(pc) != module || !learn_function(pc, &function))
            continue;
        for (uint64_t at = function.start;
             at < function.end &&
             instruction_read((const uint8_t *)at, function.end - at, &in);
             at += in.length)
            compare(at, function.end, learn_rule(at, false));
    }
    print_message("%u right, %u wrong, %u not told\n", right, wrong, silent);
    assert_true(right > 10000 && wrong * 1000 < right);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_code_is_followed),
        cmocka_unit_test(a_frame_pointer_is_followed),
        cmocka_unit_test(a_jump_to_another_function_returns),
        cmocka_unit_test(branches_are_followed),
        cmocka_unit_test(calls_are_passed),
        cmocka_unit_test(the_code_of_a_library_is_followed),
    };

    return cmocka_run_group_tests_name("epilogue", tests, NULL, NULL);
}
