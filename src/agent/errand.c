/* SPDX-License-Identifier: MIT */
/*
 * errand.c -- see errand.h. One word is the whole conversation: the sampler
 * moves ABSENT to OFFERED, and OFFERED back to ABSENT when nobody has come; the
 * ending thread moves OFFERED to GIVEN; the sampler moves GIVEN to DONE.
 */
#include <stdatomic.h>

#include "base/clock.h"
#include "base/sys.h"
#include "errand.h"

/* Who ends the process asks at once; but it may lose its CPU before it does. */
#define OFFER_NS 2000000000u

enum state { STATE_ABSENT, STATE_OFFERED, STATE_GIVEN, STATE_DONE };

static _Atomic uint32_t state;
static void (*given)(void *); /* valid while GIVEN */
static void *given_argument;

/* Wait until the state is no longer AS, or the time UNTIL. */
static void
wait_while(enum state as, uint64_t until)
{
    while (atomic_load(&state) == as && clock_now() < until)
        sys_futex_wait(&state, as, until);
}

void
errand_reset(void)
{
    atomic_store(&state, STATE_ABSENT);
}

void
errand_offer(void)
{
    atomic_store(&state, STATE_OFFERED);
}

void
errand_serve(void)
{
    uint32_t offered = STATE_OFFERED;
    wait_while(STATE_OFFERED, clock_now() + OFFER_NS);
    if (atomic_compare_exchange_strong(&state, &offered, STATE_ABSENT) ||
        offered == STATE_ABSENT)
        return;
    /* Somebody came, and waits for us. */
    given(given_argument);
    atomic_store(&state, STATE_DONE);
    sys_futex_wake(&state, 1);
}

bool
errand_run(void (*errand)(void *), void *argument, uint64_t ns)
{
    uint32_t offered = STATE_OFFERED;
    given = errand;
    given_argument = argument;
    if (!atomic_compare_exchange_strong(&state, &offered, STATE_GIVEN)) {
        errand(argument);
        return true;
    }
    sys_futex_wake(&state, 1);
    /* The sampler has it now, and will say DONE. */
    wait_while(STATE_GIVEN, clock_now() + ns);
    return atomic_load(&state) == STATE_DONE;
}
