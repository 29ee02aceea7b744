/* SPDX-License-Identifier: MIT */
/* waiting.c -- see waiting.h. */
#include <stddef.h>

#include "base/phase.h"
#include "base/thread_local.h"
#include "waiting.h"
#include "base/poison.h"

__thread struct waiting_own waiting_own;

struct shared_thread *
waiting_find(void)
{
    struct shared_thread *thread = NULL;
    if (phase_now() == PHASE_RUNNING)
        thread = shared_thread_at(shared_index_of(thread_local_tid()));
    if (thread != NULL)
        waiting_own =
            (struct waiting_own){thread,
                                 atomic_load_explicit(&shared.generation,
                                                      memory_order_relaxed)};
    return thread;
}

void
waiting_forget(uint32_t index)
{
    struct shared_thread *thread = shared_thread_at(index);
    atomic_fetch_add(&shared.generation, 1);
    if (thread != NULL)
        waiting_set_pc(thread, 0);
}

bool
waiting_read(uint32_t index, struct regs *at)
{
    const struct shared_thread *thread = shared_thread_at(index);
    *at = thread != NULL ? waiting_get(thread) : (struct regs){0};
    return at->pc != 0;
}
