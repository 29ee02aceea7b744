/* SPDX-License-Identifier: MIT */
/* perf_kernel_test.c -- which kernels may have perf's events. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampling/trigger/perf_kernel.h"

static void
old_ones_may_not(void **state)
{
    static const char *const releases[] = {
        "4.18.0-553.el8",
        "5.13.0",
        "5.15.0-94-generic",
        "6.0.12",
        "6.",
        "",
        "x",
    };
    (void)state;
    for (unsigned i = 0; i < sizeof releases / sizeof releases[0]; i++)
        assert_int_equal(perf_kernel_check(releases[i]), -EOPNOTSUPP);
}

static void
those_that_wait_may_not(void **state)
{
    static const char *const releases[] = {
        "6.11.0-29-generic", "6.11.11", "6.12.23", "6.12-rc1",
        "6.13.11",           "6.14.0",  "6.14.2",
    };
    (void)state;
    for (unsigned i = 0; i < sizeof releases / sizeof releases[0]; i++)
        assert_int_equal(perf_kernel_check(releases[i]), -EDEADLK);
}

static void
other_kernels_may(void **state)
{
    static const char *const releases[] = {
        "6.1.0-18-amd64",
        "6.6.87.2-microsoft-standard-WSL2",
        "6.10.14",
        "6.12.24",
        "6.12.41+deb13-amd64",
        "6.13.12",
        "6.14.3-300.fc42",
        "6.15.0",
        "6.18.44",
        "7.0.0",
        "10.11.0",
    };
    (void)state;
    for (unsigned i = 0; i < sizeof releases / sizeof releases[0]; i++)
        assert_int_equal(perf_kernel_check(releases[i]), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_ones_may_not),
        cmocka_unit_test(those_that_wait_may_not),
        cmocka_unit_test(other_kernels_may),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
