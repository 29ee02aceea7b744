/* SPDX-License-Identifier: MIT */
/*
 * php_test.c -- the frames of PHP in memory that looks like that of PHP 8.2.
 * This program exports what PHP exports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arch.h"
#include "process/modules.h"
#include "unwind/frame.h"
#include "unwind/interpreter.h"
#include "unwind/php.h"
#include "unwind/script_code.h"

#define FRAMES 4u
#define TOP (1u << 17)

__attribute__((visibility("default"))) uint8_t executor_globals[1800];
void execute_ex(void);

static struct module own;
static _Alignas(8) uint8_t frames[FRAMES][80], functions[FRAMES][240];
static _Alignas(8) uint8_t codes[FRAMES][32], texts[FRAMES][300];
static _Alignas(8) uint8_t class_entry[64], copied[SCRIPT_COPY_MOST];
static struct script_code code;
static uint8_t window[HEAP_VIEW_WINDOW];
static struct script_frame collected[8];
static struct script script = {.frames = collected, .capacity = 8};

__attribute__((visibility("default"), noinline)) void
execute_ex(void)
{
    __asm__ volatile("");
}

static void
see(const struct module *module, bool gone)
{
    uint64_t here = (uint64_t)see;
    if (!gone && here >= module->start && here < module->end)
        own = *module;
}

static int
begin_group(void **state)
{
    (void)state;
    return modules_begin(see) != 0 || modules_refresh() != 0 || own.start == 0;
}

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

static void
put_half(uint8_t *bytes, unsigned offset, uint32_t half)
{
    memcpy(bytes + offset, &half, sizeof(half));
}

static uint64_t
make_text(unsigned i, const char *text)
{
    put(texts[i], 16, strlen(text));
    strcpy((char *)texts[i] + 24, text);
    return address_of(texts[i]);
}

/* Function I of KIND, from line 10 * I + 1 to 10 * I + 9. Its instruction is in
 * line 10 * I + 5. */
static void
make_function(unsigned i, unsigned kind, const char *name)
{
    memset(functions[i], 0, sizeof(functions[i]));
    functions[i][0] = (uint8_t)kind;
    put(functions[i], 8, name != NULL ? make_text(i, name) : 0);
    put(functions[i], 152, address_of(texts[FRAMES - 1]));
    put_half(functions[i], 160, 10 * i + 1);
    put_half(functions[i], 164, 10 * i + 9);
    put_half(codes[i], 24, 10 * i + 5);
}

/* Frame I runs function I, and was called by frame I + 1. */
static void
make_frame(unsigned i, uint32_t info)
{
    put(frames[i], 0, address_of(codes[i]));
    put(frames[i], 24, address_of(functions[i]));
    put_half(frames[i], 40, info);
    put(frames[i], 48, i + 1 < FRAMES ? address_of(frames[i + 1]) : 0);
}

/* {main} calls a function, which calls a native one, which calls back. */
static int
begin(void **state)
{
    (void)state;
    make_function(0, 2, "leaf");
    make_function(1, 1, "usort");
    make_function(2, 2, "work");
    make_function(3, 2, NULL);
    make_text(3, "/a/b.php");
    make_frame(0, TOP);
    make_frame(1, 0);
    make_frame(2, 0);
    make_frame(3, TOP | 1u << 16);
    put(executor_globals, 488, address_of(frames[0]));
    interpreter_begin(true, 0);
    interpreter_module(&own, false);
    return php_is_there() ? 0 : -1;
}

static bool
collect(void)
{
    struct heap_view view;
    script_begin(&script, 0);
    heap_view_begin(&view, 0, 0, window, 64);
    return php_collect(&script, &view, NULL);
}

static void
native_functions_are_left_out(void **state)
{
    (void)state;
    assert_true(collect());
    assert_int_equal(script.count, 3);
    assert_true(collected[1].code == address_of(functions[2]));
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(collected[i].instruction,
                         10 * (i == 0 ? 0 : i + 1) + 5);
    /* What cannot be read stays, in no line. */
    put(frames[1], 24, 0x10);
    put(frames[2], 0, 0x10);
    assert_true(collect());
    assert_int_equal(script.count, 4);
    assert_int_equal(collected[2].instruction, 0);
    assert_int_equal(collected[3].instruction, 35);
}

static void
frames_without_a_function_are_none(void **state)
{
    (void)state;
    put(frames[1], 24, 0);
    assert_true(collect());
    assert_int_equal(script.count, 3);
    put(frames[1], 48, 0x10);
    assert_true(collect());
    assert_int_equal(script.count, 1);
    put(executor_globals, 488, 0);
    assert_false(collect());
}

/* LOOPS native frames of the loop, and others between them. */
static void
place(unsigned loops, bool is_rooted)
{
    struct frame native[16];
    unsigned count = 0;
    assert_true(collect());
    script.runtime = 16;
    for (unsigned i = 0; i < loops; i++) {
        native[count++] = frame_exact((uint64_t)begin);
        native[count++] = frame_exact((uint64_t)execute_ex);
    }
    native[count++] = frame_exact((uint64_t)begin_group);
    interpreter_place(&script, native, count, 16, 0, is_rooted);
}

static void
calls_of_native_code_begin_a_loop(void **state)
{
    (void)state;
    place(2, true);
    assert_int_equal(collected[0].depth, 2);
    assert_int_equal(collected[1].depth, 4);
    assert_int_equal(collected[2].depth, 4);
    /* The innermost loop has just begun. */
    place(3, true);
    assert_int_equal(collected[0].depth, 4);
    assert_int_equal(collected[2].depth, 6);
    /* The root is not known. */
    place(1, false);
    assert_int_equal(collected[0].depth, 2);
    assert_int_equal(collected[1].depth, 0);
    /* Another thread. */
    place(0, true);
    assert_int_equal(script.count, 0);
}

static void
a_function_is_described(void **state)
{
    uint64_t address = address_of(functions[0]);
    char text[SCRIPT_TEXT];
    (void)state;
    put(functions[0], 16, address_of(class_entry));
    put(class_entry, 8, make_text(1, "Shop"));
    uint32_t sum = php_sum(address), again;
    assert_int_not_equal(sum, 0);
    assert_int_equal(php_sums(&address, 1, &again), 1);
    assert_int_equal(again, sum);
    assert_int_not_equal(php_copy(address, sum, copied, sizeof(copied)), 0);
    script_code_take(&code, copied);
    assert_string_equal(code.name, "Shop::leaf");
    assert_string_equal(code.file, "/a/b.php");
    assert_int_equal(code.first_line, 1);
    assert_true(php_name(address_of(functions[3]), text));
    assert_string_equal(text, "{main}");
    /* Too little room, and another function. */
    assert_int_equal(php_copy(address, sum, copied, 36), 0);
    put_half(functions[0], 160, 3);
    assert_int_equal(php_copy(address, sum, copied, sizeof(copied)), 0);
    functions[0][0] = 7;
    assert_int_equal(php_sum(address), 0);
    assert_int_equal(php_sum(0x10), 0);
}

static void
long_names_are_cut(void **state)
{
    char text[SCRIPT_TEXT];
    (void)state;
    memset(texts[0] + 24, 'x', 270);
    put(texts[0], 16, 270);
    assert_true(php_name(address_of(functions[0]), text));
    assert_int_equal(strlen(text), 270);
    /* Between characters. */
    script_code_text(text, 4, (const uint8_t *)"a\xe6\x97\xa5", 4, 0);
    assert_string_equal(text, "a");
    script_code_text(text, 5, (const uint8_t *)"a\xe6\x97\xa5", 4, 0);
    assert_string_equal(text, "a\xe6\x97\xa5");
}

static void
it_goes_with_its_module(void **state)
{
    (void)state;
    interpreter_module(&own, true);
    assert_false(php_is_there());
    assert_false(interpreter_is_there());
}

int
main(void)
{
#define UNIT(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        UNIT(native_functions_are_left_out),
        UNIT(frames_without_a_function_are_none),
        UNIT(calls_of_native_code_begin_a_loop),
        UNIT(a_function_is_described),
        UNIT(long_names_are_cut),
        UNIT(it_goes_with_its_module),
    };
    return cmocka_run_group_tests(tests, begin_group, NULL);
}
