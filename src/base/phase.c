/* SPDX-License-Identifier: MIT */
/* phase.c -- see phase.h. */
#include <stdatomic.h>
#include <stdint.h>

#include "phase.h"
#include "sys.h"

static _Atomic uint32_t current;
static pid_t process;

enum phase
phase_now(void)
{
    return (enum phase)atomic_load(&current);
}

void
phase_set(enum phase phase)
{
    atomic_store(&current, phase);
}

bool
phase_move(enum phase from, enum phase to)
{
    uint32_t expected = from;
    return atomic_compare_exchange_strong(&current, &expected, to);
}

void
phase_begin(void)
{
    process = sys_getpid();
}

pid_t
phase_process(void)
{
    return process;
}

bool
phase_is_own(void)
{
    return sys_getpid() == process;
}

bool
phase_is_running(void)
{
    return phase_now() == PHASE_RUNNING && phase_is_own();
}

bool
phase_is_on(void)
{
    return atomic_load_explicit(&current, memory_order_relaxed) != PHASE_OFF;
}
