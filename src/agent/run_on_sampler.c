/* SPDX-License-Identifier: MIT */
/*
 * run_on_sampler.c -- see run_on_sampler.h. One word is the whole conversation.
 * The sampler moves ABSENT to OFFERED, and OFFERED back to ABSENT when no
 * thread has come. The ending thread moves OFFERED to GIVEN. The sampler moves
 * GIVEN to DONE.
 */
#include <stdatomic.h>

#include "base/clock.h"
#include "base/state.h"
#include "base/sys.h"
#include "run_on_sampler.h"

/* How long the offer stands, in ns. The thread that ends the process asks at
 * once, but it may lose its CPU before it does. */
#define OFFER_NS 2000000000u

enum state { STATE_ABSENT, STATE_OFFERED, STATE_GIVEN, STATE_DONE };

static OF_PROFILE _Atomic uint32_t state;
static OF_PROFILE void (*given)(void *); /* valid while GIVEN */
static OF_PROFILE void *given_argument;

/* Wait until the state is no longer AS, or the time UNTIL. */
static void
wait_while(enum state as, uint64_t until)
{
    while (atomic_load(&state) == as && clock_now() < until)
        sys_futex_wait(&state, as, until);
}

void
run_on_sampler_offer(void)
{
    atomic_store(&state, STATE_OFFERED);
}

void
run_on_sampler_serve(void)
{
    uint32_t offered = STATE_OFFERED;
    wait_while(STATE_OFFERED, clock_now() + OFFER_NS);
    if (atomic_compare_exchange_strong(&state, &offered, STATE_ABSENT) ||
        offered == STATE_ABSENT)
        return;
    /* A thread came, and waits for this one. */
    given(given_argument);
    atomic_store(&state, STATE_DONE);
    sys_futex_wake(&state, 1);
}

bool
run_on_sampler(void (*function)(void *), void *argument, uint64_t ns)
{
    uint32_t offered = STATE_OFFERED;
    given = function;
    given_argument = argument;
    if (!atomic_compare_exchange_strong(&state, &offered, STATE_GIVEN)) {
        function(argument);
        return true;
    }
    sys_futex_wake(&state, 1);
    /* The sampler has it now, and will say DONE. */
    wait_while(STATE_GIVEN, clock_now() + ns);
    return atomic_load(&state) == STATE_DONE;
}
