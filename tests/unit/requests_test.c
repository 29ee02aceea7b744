/* SPDX-License-Identifier: MIT */
/*
 * requests_test.c -- the queue of requests and the way of the answers: what a
 * signal carries, the order, the limits, and a caller that gives up.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/requests.h"
#include "base/phase.h"
#include "base/state.h"
#include "base/sys.h"

#define RING 64u  /* requests in the queue */
#define CALLS 16u /* calls that wait for an answer, or are left */
#define SOON_NS 1000000u
#define LATE_NS 60000000000u

static int
begin(void **state)
{
    (void)state;
    state_renew_profile();
    phase_begin();
    return requests_begin(0);
}

/* A signal of another process with VALUE. */
static siginfo_t
queued(uint64_t value)
{
    siginfo_t info = {.si_code = SI_QUEUE};
    info.si_pid = getpid() + 1;
    info.si_value.sival_ptr = (void *)(uintptr_t)value;
    return info;
}

static bool
send(enum request request, uint32_t nonce)
{
    const siginfo_t info = queued(request_value(request, nonce));
    return requests_take(&info);
}

static struct requests_item
next(void)
{
    struct requests_item request;
    assert_true(requests_is_wanted());
    assert_true(requests_next(&request));
    return request;
}

static void
a_signal_carries_a_request(void **state)
{
    (void)state;
    assert_false(requests_is_wanted());
    assert_true(send(REQUEST_WRITE, 4711));
    const struct requests_item request = next();
    assert_int_equal(request.request, REQUEST_WRITE);
    assert_int_equal(request.nonce, 4711);
    assert_null(request.call);
    assert_false(requests_is_wanted());
    assert_false(requests_next(&(struct requests_item){.fd = 0}));
}

static void
a_bare_signal_asks_for_a_print(void **state)
{
    siginfo_t info = queued(17);
    (void)state;
    assert_true(requests_take(&info));
    info.si_code = SI_USER;
    assert_true(requests_take(&info));
    for (int i = 0; i < 2; i++) {
        const struct requests_item request = next();
        assert_int_equal(request.request, REQUEST_PRINT);
        assert_int_equal(request.nonce, 0);
    }
}

static void
signals_of_the_program_are_its_own(void **state)
{
    siginfo_t info = queued(request_value(REQUEST_STOP, 1));
    (void)state;
    info.si_pid = getpid();
    assert_false(requests_take(&info));
    info.si_pid = getpid() + 1;
    info.si_code = SI_TIMER;
    assert_false(requests_take(&info));
    assert_false(requests_is_wanted());
}

/* A request that finds the queue full is dropped, and the others keep their
 * order. */
static void
requests_come_in_turn(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < RING + 2; i++)
            assert_true(send(REQUEST_STACKS, i + 1));
        for (uint32_t i = 0; i < RING; i++)
            assert_int_equal(next().nonce, i + 1);
        assert_false(requests_is_wanted());
    }
}

static void *
answer(void *error)
{
    struct requests_item request;
    while (!requests_next(&request))
        usleep(100);
    struct all_stacks_memory *memory = requests_memory(&request);
    if (memory != NULL)
        memory->used = 8;
    requests_answer(&request, *(int *)error, "");
    return NULL;
}

static void
a_caller_gets_its_answer(void **state)
{
    static const size_t size = 4096;
    struct all_stacks_memory memory = {.bytes = sys_reserve(size),
                                       .size = size};
    pthread_t sampler;
    int error = 0;
    (void)state;
    assert_int_equal(pthread_create(&sampler, NULL, answer, &error), 0);
    assert_int_equal(requests_ask(REQUEST_STACKS, -1, &memory, LATE_NS), 0);
    assert_int_equal(pthread_join(sampler, NULL), 0);
    assert_int_equal(memory.used, 8);
    sys_release(memory.bytes, size);
    error = EBUSY;
    assert_int_equal(pthread_create(&sampler, NULL, answer, &error), 0);
    assert_int_equal(requests_ask(REQUEST_START, -1, NULL, LATE_NS), EBUSY);
    assert_int_equal(pthread_join(sampler, NULL), 0);
}

/* The place of a caller that has left is free when the sampler has answered. */
static void
a_caller_that_leaves_keeps_its_place_until_the_answer(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < CALLS; i++)
            assert_int_equal(requests_ask(REQUEST_WRITE, -1, NULL, SOON_NS),
                             ETIMEDOUT);
        assert_int_equal(requests_ask(REQUEST_WRITE, -1, NULL, SOON_NS),
                         EAGAIN);
        for (unsigned i = 0; i < CALLS; i++) {
            const struct requests_item request = next();
            assert_null(requests_memory(&request));
            requests_answer(&request, 0, "");
        }
    }
}

static void
a_full_queue_takes_no_call(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < RING; i++)
        (void)send(REQUEST_STACKS, 1);
    for (unsigned i = 0; i < 2 * CALLS; i++)
        assert_int_equal(requests_ask(REQUEST_WRITE, -1, NULL, SOON_NS),
                         EAGAIN);
    for (uint32_t i = 0; i < RING; i++)
        (void)next();
    assert_int_equal(requests_ask(REQUEST_WRITE, -1, NULL, SOON_NS), ETIMEDOUT);
}

static void
a_child_begins_with_an_empty_queue(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CALLS; i++)
        assert_int_equal(requests_ask(REQUEST_WRITE, -1, NULL, SOON_NS),
                         ETIMEDOUT);
    state_renew_profile();
    assert_int_equal(requests_begin(0), 0);
    assert_false(requests_is_wanted());
    assert_int_equal(requests_ask(REQUEST_WRITE, -1, NULL, SOON_NS), ETIMEDOUT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_signal_carries_a_request, begin),
        cmocka_unit_test_setup(a_bare_signal_asks_for_a_print, begin),
        cmocka_unit_test_setup(signals_of_the_program_are_its_own, begin),
        cmocka_unit_test_setup(requests_come_in_turn, begin),
        cmocka_unit_test_setup(a_caller_gets_its_answer, begin),
        cmocka_unit_test_setup(
            a_caller_that_leaves_keeps_its_place_until_the_answer, begin),
        cmocka_unit_test_setup(a_full_queue_takes_no_call, begin),
        cmocka_unit_test_setup(a_child_begins_with_an_empty_queue, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
