/* SPDX-License-Identifier: MIT */
/*
 * perf_event_test.c -- which descriptors belong to events. The events are the
 * kernel's own; where it forbids them, the tests are skipped.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/sys.h"
#include "sampling/trigger/perf_event.h"

/* Longer than any run of this test, in ns of CPU time. */
#define PERIOD 1000000000000u

static int
open_event(void)
{
    bool sees_kernel;
    return perf_event_open_on(sys_gettid(), true, PERIOD, 0, &sees_kernel);
}

static bool
is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* The descriptor that the next file gets. */
static int
next_free(void)
{
    int fd = dup(STDIN_FILENO);
    assert_true(fd >= 0);
    close(fd);
    return fd;
}

static void
a_stop_closes_events_alone(void **state)
{
    (void)state;
    int event = next_free(), ends[2];
    perf_event_begin();
    if (open_event() != 0)
        skip();
    assert_true(is_open(event));
    assert_int_equal(pipe(ends), 0);
    int other = next_free();
    assert_int_equal(open_event(), 0);
    assert_true(is_open(other));
    perf_event_stop();
    assert_false(is_open(event));
    assert_false(is_open(other));
    assert_true(is_open(ends[0]));
    assert_true(is_open(ends[1]));
    close(ends[0]);
    close(ends[1]);
}

/* A file that was closed leaves a lower number for the second event. */
static void
a_stop_closes_lower_descriptors(void **state)
{
    (void)state;
    int low = dup(STDIN_FILENO), event = next_free();
    perf_event_begin();
    if (open_event() != 0)
        skip();
    close(low);
    assert_int_equal(open_event(), 0);
    assert_true(is_open(low));
    perf_event_stop();
    assert_false(is_open(low));
    assert_false(is_open(event));
    assert_int_equal(next_free(), low);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_closes_events_alone),
        cmocka_unit_test(a_stop_closes_lower_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
