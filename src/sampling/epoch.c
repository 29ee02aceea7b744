/* SPDX-License-Identifier: MIT */
/* epoch.c -- see epoch.h. A late sample may belong to the epoch before. No
 * sample of an older epoch is still on its way. */
#include <stdatomic.h>

#include "base/state.h"
#include "epoch.h"

static OF_PROFILE _Atomic uint64_t present, before, began;

void
epoch_begin(uint64_t period)
{
    atomic_store(&present, period);
    atomic_store(&before, period);
}

void
epoch_change(uint64_t period, uint64_t now)
{
    atomic_store(&before, atomic_load(&present));
    atomic_store(&began, now);
    atomic_store(&present, period);
}

uint64_t
epoch_period(void)
{
    return atomic_load_explicit(&present, memory_order_relaxed);
}

uint64_t
epoch_period_at(uint64_t time)
{
    return time < atomic_load(&began) ? atomic_load(&before) : epoch_period();
}
