/* SPDX-License-Identifier: MIT */
/* phase.c -- see phase.h. */
#include <stdatomic.h>
#include <stdint.h>

#include "sys.h"
#include "phase.h"
#include "poison.h"

static _Atomic uint32_t current;
static pid_t process;
static _Atomic bool is_silent; /* the kernel is not asked any more */

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

void
phase_ask_no_more(void)
{
    atomic_store(&is_silent, true);
    sys_believe_sets();
}

bool
phase_may_ask(void)
{
    return !atomic_load_explicit(&is_silent, memory_order_relaxed);
}

pid_t
phase_caller(void)
{
    return phase_may_ask() ? sys_getpid() : process;
}

bool
phase_is_own(void)
{
    return phase_caller() == process;
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
