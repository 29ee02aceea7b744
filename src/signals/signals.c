/* SPDX-License-Identifier: MIT */
/* signals.c -- see signals.h. */
#include <stdatomic.h>

#include "signals.h"
#include "base/poison.h"

static _Atomic uint64_t borrowed, closed, opened;
static _Atomic int numbers[SIGNALS_ROLES];

__thread volatile uint64_t signals_blocked;

int
signals_number(enum signals_role role)
{
    return atomic_load(&numbers[role]);
}

void
signals_set_number(enum signals_role role, int signo)
{
    atomic_store(&numbers[role], signo);
}

uint64_t
signals_borrowed(void)
{
    return atomic_load_explicit(&borrowed, memory_order_relaxed);
}

uint64_t
signals_closed(void)
{
    return atomic_load_explicit(&closed, memory_order_relaxed);
}

uint64_t
signals_opened(void)
{
    return atomic_load_explicit(&opened, memory_order_relaxed);
}

void
signals_add(enum signals_role role, int signo)
{
    signals_set_number(role, signo);
    atomic_fetch_or(role == SIGNALS_CONTROL ? &closed : &borrowed,
                    signals_bit(signo));
}

void
signals_remove(int signo)
{
    uint64_t bit = signals_bit(signo);
    for (int role = 0; role < SIGNALS_ROLES; role++)
        if (atomic_load(&numbers[role]) == signo)
            atomic_store(&numbers[role], 0);
    atomic_fetch_or(&opened, signals_closed() & bit);
    atomic_fetch_and(&closed, ~bit);
    atomic_fetch_and(&borrowed, ~bit);
}
