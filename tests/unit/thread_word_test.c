/* SPDX-License-Identifier: MIT */
/*
 * thread_word_test.c -- the forms of code that read a thread-local word, and
 * where such a word of this program lies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arch.h"
#include "unwind/thread_word.h"

static __thread uint64_t word_here;
static uint8_t bytes[64];
static struct thread_word word;

static uint64_t
address_of(const void *at)
{
    return (uint64_t)at;
}

/* Make the LENGTH bytes at FORM the code, and read it. */
static bool
read_form(const char *form, size_t length)
{
    memset(bytes, 0xcc, sizeof(bytes));
    memcpy(bytes, form, length);
    return thread_word_read(&word, address_of(bytes));
}

#define READ_FORM(form) read_form(form, sizeof(form) - 1)

static void
fixed_distances_are_in_the_code(void **state)
{
    (void)state;
    assert_true(READ_FORM("\x64\x48\x8b\x04\x25\xf0\xff\xff\xff\xc3"));
    assert_int_equal(thread_word_place(&word, 0), -16);
    assert_true(READ_FORM("\xf3\x0f\x1e\xfa\x64\x48\x8b\x04\x25\xe0\xff\xff\xff"
                          "\xc3"));
    assert_int_equal(thread_word_place(&word, 0), -32);
    /* The distance is in a word, 32 bytes after the instruction's end. */
    assert_true(READ_FORM("\x48\x8b\x05\x20\x00\x00\x00\x64\x48\x8b\x00\xc3"
                          "                           "
                          "\xd8\xff\xff\xff\xff\xff\xff\xff"));
    assert_int_equal(thread_word_place(&word, 0), -40);
}

static void
called_forms_name_a_pair(void **state)
{
    (void)state;
    assert_true(READ_FORM("\x48\x83\xec\x08\x66\x48\x8d\x3d\x08\x00\x00\x00"
                          "\x66\x66\x48\xe8\x00\x00\x00\x00\x48\x8b\x00"));
    assert_true(word.index == address_of(bytes) + 12 + 8);
    assert_int_equal(word.more, 0);
    assert_true(READ_FORM("\x50\x48\x8d\x3d\x08\x00\x00\x00\xe8\x00\x00\x00\x00"
                          "\x48\x8b\x80\x18\x00\x00\x00"));
    assert_true(word.index == address_of(bytes) + 8 + 8);
    assert_int_equal(word.more, 0x18);
}

static void
other_code_is_refused(void **state)
{
    (void)state;
    assert_false(READ_FORM("\xc3"));
    assert_false(READ_FORM("\x64\x48\x8b\x04\x25\xf0\xff\xff\xff\x90"));
    assert_false(READ_FORM("\x48\x83\xec\x08\xe8\x00\x00\x00\x00"));
    assert_false(thread_word_read(&word, 0x10));
}

/* The program's own data is module 1, which is there in each thread. */
static void
the_word_is_where_the_thread_has_it(void **state)
{
    (void)state;
    uint64_t pair[2] = {1, 0}, pointer = arch_thread_pointer();
    int64_t distance = (int64_t)(address_of(&word_here) - pointer);
    word = (struct thread_word){.index = address_of(pair)};
    int64_t start = thread_word_place(&word, pointer);
    assert_true(start < 0 && start <= distance);
    pair[1] = (uint64_t)(distance - start);
    assert_int_equal(thread_word_place(&word, pointer), distance);
    /* Not loaded; unknown; a thread that is not there. */
    pair[0] = 0;
    assert_int_equal(thread_word_place(&word, pointer), 0);
    pair[0] = 4000;
    assert_int_equal(thread_word_place(&word, pointer), 0);
    pair[0] = 1;
    assert_int_equal(thread_word_place(&word, 0x10), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_distances_are_in_the_code),
        cmocka_unit_test(called_forms_name_a_pair),
        cmocka_unit_test(other_code_is_refused),
        cmocka_unit_test(the_word_is_where_the_thread_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
