/* SPDX-License-Identifier: MIT */
/* shared.c -- see shared.h. It runs in any thread, also in handlers. */
#include "base/hot.h"
#include "slot.h"
#include "shared.h"
#include "base/poison.h"

static const struct options no_options;
static const struct settings no_settings = {.options = &no_options};
HOT_STATE struct shared shared = {.settings = &no_settings};
__thread volatile bool shared_is_registered;

HOT uint32_t
shared_index_of(pid_t tid)
{
    if ((uint32_t)tid >= shared.tid_count)
        return SLOT_NO_THREAD;
    return atomic_load_explicit(&shared.index_of_tid[tid],
                                memory_order_acquire) -
           1;
}

void
shared_lose(enum loss cause)
{
    atomic_fetch_add_explicit(&shared.own_lost[cause], 1, memory_order_relaxed);
}
