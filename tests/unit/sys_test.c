/* SPDX-License-Identifier: MIT */
/* sys_test.c -- memory that is reserved: where it lies, and what is in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/sys.h"

#define SMALL 4096u
#define LARGE (96u << 20)
#define MANY 12u

/* All of it lies together, as long as there is room. */
static void
test_neighbours(void **state)
{
    (void)state;
    char *first = sys_reserve(SMALL), *second = sys_reserve(SMALL);
    assert_non_null(first);
    assert_non_null(second);
    assert_true(second - first < (64 << 20) && first - second < (64 << 20));
    sys_release(first, SMALL);
    sys_release(second, SMALL);
}

/* What was given back is used again, and is empty. */
static void
test_again(void **state)
{
    (void)state;
    char *first = sys_reserve(SMALL);
    memset(first, 1, SMALL);
    sys_release(first, SMALL);
    char *again = sys_reserve(SMALL);
    assert_ptr_equal(again, first);
    for (unsigned i = 0; i < SMALL; i++)
        assert_int_equal(again[i], 0);
    sys_release(again, SMALL);
    assert_false(sys_copy_memory(&(char){0}, (uint64_t)(uintptr_t)again, 1));
}

/* More than the first range has room for. */
static void
test_growth(void **state)
{
    char *blocks[MANY];
    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        blocks[i] = sys_reserve(LARGE);
        assert_non_null(blocks[i]);
        blocks[i][0] = blocks[i][LARGE - 1] = (char)i;
    }
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(blocks[i][0], i);
        assert_int_equal(blocks[i][LARGE - 1], i);
        sys_release(blocks[i], LARGE);
    }
    void *huge = sys_reserve((size_t)1 << 30);
    assert_non_null(huge);
    sys_release(huge, (size_t)1 << 30);
}

/* A child inherits the one kind, and finds the other one empty. */
static void
test_fork(void **state)
{
    int status;
    (void)state;
    char *kept = sys_reserve(SMALL), *renewed = sys_reserve_for_one(SMALL);
    *kept = *renewed = 5;
    pid_t pid = fork();
    if (pid == 0)
        _exit(*kept * 10 + *renewed);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 50);
    sys_release(renewed, SMALL);
    sys_release(kept, SMALL);
}

/* Nearly all of the first range, part of which had been the other kind. */
static void
test_other_kind(void **state)
{
    const size_t most = (size_t)270 << 20;
    int status;
    (void)state;
    char *renewed = sys_reserve_for_one(LARGE);
    sys_release(renewed, LARGE);
    char *kept = sys_reserve(most);
    kept[0] = kept[most - 1] = 5;
    pid_t pid = fork();
    if (pid == 0)
        _exit(kept[0] * 10 + kept[most - 1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 55);
    sys_release(kept, most);
}

/* The page below a stack cannot be touched. */
static void
test_stack(void **state)
{
    (void)state;
    char *stack = sys_reserve_stack(SMALL);
    stack[0] = stack[SMALL - 1] = 1;
    assert_false(
        sys_copy_memory(&(char){0}, (uint64_t)(uintptr_t)stack - 1, 1));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_neighbours), cmocka_unit_test(test_again),
        cmocka_unit_test(test_growth),     cmocka_unit_test(test_fork),
        cmocka_unit_test(test_other_kind), cmocka_unit_test(test_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
