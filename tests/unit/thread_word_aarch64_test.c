/* SPDX-License-Identifier: MIT */
/*
 * thread_word_aarch64_test.c -- functions that return a thread-local word, as
 * compilers make them, and where the word lies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arch.h"
#include "unwind/thread_word.h"

#define FUNCTION __attribute__((noinline, noclone, noipa)) static uint64_t
#define MODEL(name) __attribute__((tls_model(name)))

static __thread uint64_t far_away[600];
static __thread MODEL("local-exec") uint64_t by_code;
static __thread MODEL("initial-exec") uint64_t by_table;
static __thread uint64_t by_any;
static struct thread_word word;

FUNCTION
read_by_code(void)
{
    return by_code;
}

FUNCTION
read_by_table(void)
{
    return by_table;
}

FUNCTION
read_by_any(void)
{
    return by_any;
}

FUNCTION
read_far(void)
{
    return far_away[599];
}

FUNCTION
read_no_word(void)
{
    return by_any + 1;
}

static int64_t
distance_of(const void *at)
{
    return (int64_t)((uint64_t)at - arch_thread_pointer());
}

static void
check(uint64_t (*function)(void), const uint64_t *variable)
{
    assert_true(thread_word_read(&word, (uint64_t)function));
    assert_int_equal(thread_word_place(&word, arch_thread_pointer()),
                     distance_of(variable));
}

static void
functions_of_the_compiler_are_read(void **state)
{
    (void)state;
    check(read_by_code, &by_code);
    check(read_by_table, &by_table);
    check(read_by_any, &by_any);
    check(read_far, &far_away[599]);
    assert_false(thread_word_read(&word, (uint64_t)read_no_word));
    assert_false(thread_word_read(&word, (uint64_t)strlen));
    assert_false(thread_word_read(&word, 0x10));
}

/* A library's function: its descriptor is in front of the code here. */
static struct {
    uint64_t descriptor[2];
    uint32_t code[16];
} library __attribute__((aligned(4096))) = {
    .code = {0xa9bf7bfd /* stp x29, x30, [sp, #-16]! */,
             0xd53bd041 /* mrs x1, tpidr_el0 */, 0x910003fd /* mov x29, sp */,
             0x90000000 /* adrp x0, . */, 0xf9400002 /* ldr x2, [x0] */,
             0x91000000 /* add x0, x0, #0 */, 0xd63f0040 /* blr x2 */,
             0xf8606820 /* ldr x0, [x1, x0] */,
             0xa8c17bfd /* ldp x29, x30, [sp], #16 */, 0xd65f03c0 /* ret */}};

static void
descriptors_are_asked(void **state)
{
    static const uint32_t fixed[] = {0xd503245f, 0xf9400400, 0xd65f03c0};
    static const uint32_t other[] = {0xd503245f, 0xf9400401, 0xd65f03c0};
    uint64_t pair[2] = {1, 0}, pointer = arch_thread_pointer();
    (void)state;
    library.descriptor[0] = (uint64_t)fixed;
    library.descriptor[1] = 0x48;
    assert_true(thread_word_read(&word, (uint64_t)library.code));
    assert_int_equal(thread_word_place(&word, pointer), 0x48);
    /* The program's own data is module 1. */
    library.descriptor[0] = (uint64_t)other;
    library.descriptor[1] = (uint64_t)pair;
    assert_true(thread_word_read(&word, (uint64_t)library.code));
    int64_t start = thread_word_place(&word, pointer);
    assert_true(start > 0 && start <= distance_of(&by_any));
    pair[1] = 8;
    assert_int_equal(thread_word_place(&word, pointer), start + 8);
    pair[0] = 4000;
    assert_int_equal(thread_word_place(&word, pointer), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_the_compiler_are_read),
        cmocka_unit_test(descriptors_are_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
