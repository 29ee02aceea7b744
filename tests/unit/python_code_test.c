/* SPDX-License-Identifier: MIT */
/*
 * python_code_test.c -- copies of what code objects say, which handlers make,
 * of objects in memory that looks like CPython's; and the states that a thread
 * has in several interpreters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/python_code.h"
#include "unwind/python_nested.h"

static struct python python;
static uint8_t type[8], code_bytes[256], name[512], file[512], table[512];
static _Alignas(8) uint8_t copy[SCRIPT_COPY_MOST];
static struct script_code code;

static uint64_t
address_of(const void *bytes)
{
    return (uint64_t)bytes;
}

static void
put(uint8_t *bytes, unsigned offset, uint64_t word)
{
    memcpy(bytes + offset, &word, sizeof(word));
}

/* Make BYTES a text of COUNT characters of WIDTH bytes. */
static void
put_text(uint8_t *bytes, const void *characters, unsigned count, unsigned width,
         bool is_ascii)
{
    uint32_t text_state = 1u << 5 | width << 2 | (is_ascii ? 1u << 6 : 0);
    unsigned at =
        is_ascii ? python.layout.text.ascii : python.layout.text.compact;
    put(bytes, python.layout.text.length, count);
    memcpy(bytes + python.layout.text.state, &text_state, sizeof(text_state));
    memcpy(bytes + at, characters, (size_t)count * width);
}

static int
begin(void **state)
{
    (void)state;
    python.layout = *python_layout_of(12);
    python.code_type = address_of(type);
    memset(code_bytes, 0, sizeof(code_bytes));
    put(code_bytes, 0, 2);
    put(code_bytes, 8, python.code_type);
    put(code_bytes, python.layout.code.first_line & ~7u, 0x2a2a2a2a0000002a);
    memcpy(code_bytes + python.layout.code.first_line, &(int32_t){42}, 4);
    put(code_bytes, python.layout.code.name, address_of(name));
    put(code_bytes, python.layout.code.file, address_of(file));
    put(code_bytes, python.layout.code.table, address_of(table));
    put_text(name, "C.work", 6, 1, true);
    put_text(file, "/a/b.py", 7, 1, true);
    put(table, python.layout.bytes.length, 3);
    memcpy(table + python.layout.bytes.data, "\x80\x01\x02", 3);
    return 0;
}

static size_t
copy_into(size_t room)
{
    uint64_t address = address_of(code_bytes);
    return python_code_copy(&python, address, python_code_sum(&python, address),
                            copy, room);
}

static void
a_copy_tells_what_the_object_said(void **state)
{
    (void)state;
    assert_int_equal(copy_into(sizeof(copy)),
                     sizeof(struct script_copy) + 6 + 7 + 3);
    memset(name, 0xff, sizeof(name));
    memset(code_bytes, 0xff, sizeof(code_bytes));
    script_code_take(&code, copy);
    assert_string_equal(code.name, "C.work");
    assert_string_equal(code.file, "/a/b.py");
    assert_int_equal(code.first_line, 42);
    assert_int_equal(code.table_length, 3);
    assert_memory_equal(code.table, "\x80\x01\x02", 3);
}

static void
characters_of_all_widths_become_utf8(void **state)
{
    (void)state;
    put_text(name, "\xe4", 1, 1, false);
    put_text(file, (uint16_t[]){0x20ac, 'x'}, 2, 2, false);
    assert_int_not_equal(copy_into(sizeof(copy)), 0);
    script_code_take(&code, copy);
    assert_string_equal(code.name, "\xc3\xa4");
    assert_string_equal(code.file, "\xe2\x82\xacx");
    put_text(name, (uint32_t[]){0x1f40d}, 1, 4, false);
    assert_int_not_equal(copy_into(sizeof(copy)), 0);
    script_code_take(&code, copy);
    assert_string_equal(code.name, "\xf0\x9f\x90\x8d");
}

/* Longer texts than what is read at once. */
static void
long_texts_are_whole(void **state)
{
    (void)state;
    char word[401];
    memset(word, 'w', 400);
    word[400] = '\0';
    put_text(name, word, 400, 1, true);
    assert_int_not_equal(copy_into(sizeof(copy)), 0);
    script_code_take(&code, copy);
    assert_string_equal(code.name, word);
}

static void
nothing_is_copied_of_what_is_none(void **state)
{
    (void)state;
    uint64_t address = address_of(code_bytes);
    uint32_t sum = python_code_sum(&python, address);
    size_t whole = copy_into(sizeof(copy));
    for (size_t room = 0; room < whole; room++)
        assert_int_equal(copy_into(room), 0);
    assert_int_equal(copy_into(whole), whole);
    assert_int_equal(python_code_copy(&python, address, sum + 2, copy,
                                      sizeof(copy)),
                     0);
    put(code_bytes, python.layout.code.file, 0x10);
    assert_int_equal(copy_into(sizeof(copy)), 0);
    put(code_bytes, 8, 0);
    assert_int_equal(python_code_sum(&python, address), 0);
    assert_int_equal(copy_into(sizeof(copy)), 0);
    assert_int_equal(python_code_sum(&python, 0x10), 0);
}

static void
many_sums_end_before_what_cannot_be_read(void **state)
{
    (void)state;
    uint64_t address = address_of(code_bytes);
    uint32_t sums[3] = {0}, sum = python_code_sum(&python, address);
    assert_int_equal(python_code_sums(&python,
                                      (uint64_t[]){address, address, address},
                                      3, sums),
                     3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(sums[i], sum);
    sums[1] = 0;
    assert_int_equal(python_code_sums(&python,
                                      (uint64_t[]){address, 0x10, address}, 3,
                                      sums),
                     1);
    assert_int_equal(sums[0], sum);
    assert_int_equal(sums[1], 0);
}

/* Two interpreters, the newer one first. Thread 7 has a state in each. */
static uint8_t runtime[64], interpreters[2][512], states[3][512];

static void
put_interpreters(void)
{
    const struct python_layout *layout = &python.layout;
    python.runtime = address_of(runtime);
    memset(states, 0, sizeof(states));
    put(runtime, layout->runtime.interpreters, address_of(interpreters[0]));
    put(runtime, layout->runtime.interpreters + 8, address_of(interpreters[1]));
    put(interpreters[0], layout->interpreter.next, address_of(interpreters[1]));
    put(interpreters[0], layout->interpreter.threads, address_of(states[0]));
    put(interpreters[1], layout->interpreter.next, 0);
    put(interpreters[1], layout->interpreter.threads, address_of(states[1]));
    put(states[0], layout->thread.thread_id, 7);
    put(states[0], layout->thread.interpreter, address_of(interpreters[0]));
    put(states[1], layout->thread.thread_id, 8);
    put(states[1], layout->thread.next, address_of(states[2]));
    put(states[2], layout->thread.thread_id, 7);
    put(states[2], layout->thread.interpreter, address_of(interpreters[1]));
}

static void
other_states_are_found_and_kept(void **state)
{
    (void)state;
    uint64_t others[PYTHON_NESTED_MOST];
    put_interpreters();
    python_nested_forget();
    assert_true(python_nested_is_there(&python));
    assert_true(python_nested_is_inner(&python, address_of(states[0])));
    assert_false(python_nested_is_inner(&python, address_of(states[2])));
    assert_int_equal(python_nested_find(&python, 7, address_of(states[0]),
                                        others),
                     1);
    assert_true(others[0] == address_of(states[2]));
    /* It is kept until it is forgotten, or an interpreter comes. */
    put(states[2], python.layout.thread.thread_id, 9);
    assert_int_equal(python_nested_find(&python, 7, address_of(states[0]),
                                        others),
                     1);
    put(runtime, python.layout.runtime.interpreters,
        address_of(interpreters[1]));
    assert_int_equal(python_nested_find(&python, 7, address_of(states[0]),
                                        others),
                     0);
    assert_false(python_nested_is_there(&python));
    python_nested_forget();
    assert_int_equal(python_nested_find(&python, 8, address_of(states[0]),
                                        others),
                     1);
}

/* A list that ends nowhere. */
static void
a_search_ends(void **state)
{
    (void)state;
    uint64_t others[PYTHON_NESTED_MOST];
    put_interpreters();
    python_nested_forget();
    put(states[2], python.layout.thread.next, address_of(states[1]));
    put(interpreters[1], python.layout.interpreter.next,
        address_of(interpreters[0]));
    assert_in_range(python_nested_find(&python, 7, address_of(states[0]),
                                       others),
                    1, PYTHON_NESTED_MOST);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_copy_tells_what_the_object_said, begin),
        cmocka_unit_test_setup(characters_of_all_widths_become_utf8, begin),
        cmocka_unit_test_setup(long_texts_are_whole, begin),
        cmocka_unit_test_setup(nothing_is_copied_of_what_is_none, begin),
        cmocka_unit_test_setup(many_sums_end_before_what_cannot_be_read, begin),
        cmocka_unit_test_setup(other_states_are_found_and_kept, begin),
        cmocka_unit_test_setup(a_search_ends, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
