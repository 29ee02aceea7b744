/* SPDX-License-Identifier: MIT */
/* program_action_test.c -- dispositions that threads set while others read
 * them, also under ThreadSanitizer. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "signals/program_action.h"

#define SETTERS 3u
#define SETTINGS 20000u

static _Atomic uint64_t replaced; /* sum of the numbers of those replaced */
static _Atomic unsigned ended, torn;

/* All words tell one number. */
static struct sys_action
numbered(uint64_t number)
{
    return (struct sys_action){.handler = (void *)number,
                               .flags = number,
                               .restorer = (void *)number,
                               .mask = number};
}

static uint64_t
number_of(struct sys_action action)
{
    if (action.flags != action.mask ||
        (uint64_t)action.handler != action.mask ||
        (uint64_t)action.restorer != action.mask)
        atomic_fetch_add(&torn, 1);
    return action.mask;
}

static void *
set_often(void *first)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < SETTINGS; i++) {
        struct sys_action action = numbered((uint64_t)first + i);
        sum += number_of(program_action_set(SIGUSR1, &action));
        (void)number_of(program_action_get(SIGUSR1, NULL));
        /* Two numbers share the copies. */
        (void)number_of(program_action_set(SIGUSR2, &action));
    }
    atomic_fetch_add(&replaced, sum);
    atomic_fetch_add(&ended, 1);
    return NULL;
}

static void
each_is_read_as_a_whole_and_replaced_once(void **state)
{
    pthread_t setters[SETTERS];
    uint64_t sum = 0;
    (void)state;
    for (uint64_t i = 0; i < SETTERS; i++) {
        uint64_t first = 1 + i * SETTINGS;
        sum += SETTINGS * first + SETTINGS * (SETTINGS - 1ull) / 2;
        assert_int_equal(pthread_create(&setters[i], NULL, set_often,
                                        (void *)first),
                         0);
    }
    while (atomic_load(&ended) < SETTERS) {
        (void)number_of(program_action_get(SIGUSR1, NULL));
        (void)number_of(program_action_get(SIGUSR2, NULL));
    }
    for (unsigned i = 0; i < SETTERS; i++)
        assert_int_equal(pthread_join(setters[i], NULL), 0);
    assert_int_equal(atomic_load(&torn), 0);
    assert_int_equal(atomic_load(&replaced) +
                         number_of(program_action_get(SIGUSR1, NULL)),
                     sum);
}

static void
a_later_one_is_not_replaced(void **state)
{
    uint32_t version;
    struct sys_action first = numbered(1), second = numbered(2);
    (void)state;
    (void)program_action_set(SIGTERM, &first);
    assert_int_equal(program_action_get(SIGTERM, &version).mask, 1);
    (void)program_action_set(SIGTERM, &second);
    program_action_replace(SIGTERM, version, &first);
    assert_int_equal(program_action_get(SIGTERM, &version).mask, 2);
    program_action_replace(SIGTERM, version, &first);
    assert_int_equal(program_action_get(SIGTERM, NULL).mask, 1);
}

/* As many times as there are copies, and more. */
static void
copies_are_used_again(void **state)
{
    (void)state;
    for (int signo = 1; signo < NSIG; signo++)
        for (uint64_t i = 0; i < 300; i++) {
            uint32_t version = program_action_version(signo);
            struct sys_action action = numbered((uint64_t)signo + i);
            program_action_replace(signo, version, &action);
            program_action_replace(signo, version, &action);
            (void)program_action_set(signo, &action);
        }
    for (int signo = 1; signo < NSIG; signo++)
        assert_int_equal(program_action_get(signo, NULL).mask, signo + 299);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_read_as_a_whole_and_replaced_once),
        cmocka_unit_test(a_later_one_is_not_replaced),
        cmocka_unit_test(copies_are_used_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
