/* SPDX-License-Identifier: MIT */
/*
 * expression_test.c -- expressions of unwind tables: the value of each
 * operation, and code that makes no sense, which must end with no value.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/expression.h"

/* Register N is 100 + N, up to 16. The word at 8 * N ends with N, up to 10. */
static bool
get_register(void *from, uint64_t number, uint64_t *value)
{
    (void)from;
    *value = 100 + number;
    return number <= 16;
}

static bool
load_word(void *from, uint64_t address, uint64_t *word)
{
    (void)from;
    *word = 0x1122334455667700 + address / 8;
    return address <= 80;
}

static bool
run(const uint8_t *code, size_t length, const uint64_t *first, uint64_t *result)
{
    const struct expression_source source = {load_word, get_register, NULL};
    uint8_t copy[EXPRESSION_MAX];
    memcpy(copy, code, length);
    return expression_run(copy, length, &source, first, result);
}

static void
check_value(const char *code, size_t length, uint64_t expected)
{
    uint64_t result = ~expected;
    if (!run((const uint8_t *)code, length, NULL, &result))
        fail_msg("no value in place of %#lx", expected);
    assert_int_equal(result, expected);
}
#define EXPECT(code, expected) check_value(code, sizeof(code) - 1, expected)

static void
check_none(const char *code, size_t length)
{
    uint64_t result;
    assert_false(run((const uint8_t *)code, length, NULL, &result));
}
#define NONE(code) check_none(code, sizeof(code) - 1)

static void
constants_are_pushed(void **state)
{
    (void)state;
    EXPECT("\x30", 0);
    EXPECT("\x4f", 31);
    EXPECT("\x03\1\2\3\4\5\6\7\x88", 0x8807060504030201);
    EXPECT("\x08\xff", 255);
    EXPECT("\x09\xff", UINT64_MAX);
    EXPECT("\x0a\xfe\xff", 65534);
    EXPECT("\x0b\xfe\xff", (uint64_t)-2);
    EXPECT("\x0c\0\0\0\x80", 0x80000000);
    EXPECT("\x0d\0\0\0\x80", 0xffffffff80000000);
    EXPECT("\x0e\0\0\0\0\0\0\0\x80", 1ull << 63);
    EXPECT("\x0f\1\0\0\0\0\0\0\x80", 1ull << 63 | 1);
    EXPECT("\x10\x80\1", 128);
    EXPECT("\x11\x7f", UINT64_MAX);
}

static void
registers_and_memory_are_read(void **state)
{
    (void)state;
    EXPECT("\x57", 107);
    EXPECT("\x77\x78", 99); /* register 7 - 8 */
    EXPECT("\x80\x00", 116);
    EXPECT("\x90\3", 103);
    EXPECT("\x92\3\x80\1", 231);
    EXPECT("\x38\x06", 0x1122334455667701);
    EXPECT("\x40\x94\1", 2);
    EXPECT("\x40\x94\4", 0x55667702);
    EXPECT("\x38\x94\x08", 0x1122334455667701);
    NONE("\x61");         /* register 17 */
    NONE("\x92\x40\0");   /* register 64 */
    NONE("\x08\x58\x06"); /* address 88 */
    NONE("\x38\x94\0");
    NONE("\x38\x94\x09");
}

static void
the_stack_is_moved(void **state)
{
    uint64_t first = 40, result = 0;
    (void)state;
    EXPECT("\x33\x12\x1e", 9);                               /* 3 dup mul */
    EXPECT("\x33\x34\x13", 3);                               /* drop */
    EXPECT("\x39\x34\x14\x1c\x1c", (uint64_t)(9 - (4 - 9))); /* over */
    EXPECT("\x39\x34\x35\x15\2", 9);                         /* pick */
    EXPECT("\x39\x34\x16\x1c", (uint64_t)-5);                /* swap minus */
    EXPECT("\x31\x32\x33\x17", 2);                           /* rot: 3 1 2 */
    EXPECT("\x31\x32\x33\x17\x13", 1);
    EXPECT("\x31\x32\x33\x17\x13\x13", 3);
    assert_true(run((const uint8_t *)"\x32\x22", 2, &first, &result));
    assert_int_equal(result, 42);
    assert_true(run((const uint8_t *)"", 0, &first, &result));
    assert_int_equal(result, 40);
    NONE("");
    NONE("\x13");
    NONE("\x31\x14");
    NONE("\x31\x15\1");
    NONE("\x31\x16");
    NONE("\x31\x32\x17");
}

static void
values_are_combined(void **state)
{
    (void)state;
    EXPECT("\x3c\x3a\x1a", 8);
    EXPECT("\x3c\x33\x1b", 4);
    EXPECT("\x11\x77\x32\x1b", (uint64_t)-4); /* -9 / 2 */
    EXPECT("\x0f\0\0\0\0\0\0\0\x80\x11\x7f\x1b", 1ull << 63);
    EXPECT("\x33\x35\x1c", (uint64_t)-2);
    EXPECT("\x3d\x35\x1d", 3);
    EXPECT("\x33\x35\x1e", 15);
    EXPECT("\x33\x35\x21", 7);
    EXPECT("\x33\x35\x22", 8);
    EXPECT("\x33\x35\x24", 96);
    EXPECT("\x33\x08\x40\x24", 0);
    EXPECT("\x11\x70\x32\x25", (uint64_t)-16 >> 2);
    EXPECT("\x11\x70\x08\x41\x25", 0);
    EXPECT("\x11\x70\x32\x26", (uint64_t)-4);
    EXPECT("\x11\x70\x08\x41\x26", UINT64_MAX);
    EXPECT("\x33\x35\x27", 6);
    EXPECT("\x11\x7b\x19", 5);
    EXPECT("\x35\x1f", (uint64_t)-5);
    EXPECT("\x35\x20", ~5ull);
    EXPECT("\x35\x23\x80\1", 133);
    NONE("\x35\x30\x1b");
    NONE("\x35\x30\x1d");
    NONE("\x35\x22");
}

static void
values_are_compared_with_their_sign(void **state)
{
    /* -1 with 1, 1 with 1, 1 with -1: eq, ge, gt, le, lt, ne */
    static const unsigned expected[] = {02, 06, 04, 03, 01, 05};
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        const char code[] = {0x11, 0x7f, 0x31, (char)(0x29 + i)};
        const char same[] = {0x31, 0x31, (char)(0x29 + i)};
        const char other[] = {0x31, 0x11, 0x7f, (char)(0x29 + i)};
        check_value(code, 4, expected[i] & 1);
        check_value(same, 3, expected[i] >> 1 & 1);
        check_value(other, 4, expected[i] >> 2);
    }
}

static void
jumps_stay_in_the_code(void **state)
{
    (void)state;
    EXPECT("\x31\x2f\1\0\x35\x96", 1); /* skip over lit5 */
    EXPECT("\x37\x31\x28\1\0\x35", 7); /* bra taken */
    EXPECT("\x37\x30\x28\1\0\x35", 5); /* and not */
    /* 0 and eight times 8 */
    EXPECT("\x30\x38\x16\x38\x22\x16\x31\x1c\x12\x28\xf6\xff\x13", 64);
    NONE("\x31\x2f\1\0");     /* one byte too far */
    NONE("\x31\x2f\xfb\xff"); /* before the start */
    NONE("\x31\x2f\xff\x7f");
    NONE("\x2f\xfd\xff");     /* for ever */
    NONE("\x31\x2f\xfc\xff"); /* until the stack is full */
}

static void
nonsense_has_no_value(void **state)
{
    uint8_t full[65];
    uint64_t result;
    (void)state;
    NONE("\x08"); /* without its byte */
    NONE("\x03\1\2\3");
    NONE("\x10\x80\x80");
    NONE("\x02"); /* no operation */
    NONE("\x31\xff");
    NONE("\x31\x9c"); /* the CFA, which is what is sought */
    memset(full, 0x31, sizeof(full));
    assert_true(run(full, 64, NULL, &result));
    assert_false(run(full, 65, NULL, &result));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_pushed),
        cmocka_unit_test(registers_and_memory_are_read),
        cmocka_unit_test(the_stack_is_moved),
        cmocka_unit_test(values_are_combined),
        cmocka_unit_test(values_are_compared_with_their_sign),
        cmocka_unit_test(jumps_stay_in_the_code),
        cmocka_unit_test(nonsense_has_no_value)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
