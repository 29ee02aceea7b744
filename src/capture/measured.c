/* SPDX-License-Identifier: MIT */
/*
 * measured.c -- see measured.h. The sample is made as in a handler. Its
 * registers are those that a walk by rules needs, because no signal has
 * interrupted the thread.
 */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/hot.h"
#include "base/sample.h"
#include "base/thread_local.h"
#include "fill.h"
#include "shared.h"
#include "slot.h"
#include "measured.h"
#include "base/poison.h"

static __thread volatile bool is_on;

HOT bool
measured_is_on(void)
{
    return is_on;
}

void
measured_begin(struct measured *measured)
{
    *measured =
        (struct measured){.time = clock_now(), .clock = clock_own(), .cpu = 0};
    is_on = true;
}

void
measured_end(struct measured *measured)
{
    struct shared_thread *thread =
        shared_thread_at(shared_index_of(thread_local_tid()));
    measured->cpu = measured->shown = clock_own() - measured->clock;
    if (thread != NULL)
        atomic_fetch_add(&thread->measured, measured->cpu);
    is_on = false;
}

void
measured_forget(void)
{
    is_on = false;
}

void
measured_take(const struct measured *measured, const struct regs *at)
{
    ucontext_t context;
    pid_t tid = thread_local_tid();
    uint32_t index = shared_index_of(tid);
    if (settings_registered_only(shared.settings) && !shared_is_registered)
        return;
    struct slot *slot = slots_claim((uint32_t)tid);
    if (slot == NULL) {
        shared_lose(LOSS_RING_FULL);
        return;
    }
    memset(&context, 0, sizeof(context));
    arch_set_regs(&context, at);
    slot->thread = index;
    slot->tid = tid;
    slot->time = measured->time;
    slot->clock = measured->clock + measured->cpu;
    slot->sequence = slot->owed = 0;
    slot->measured = measured->shown;
    fill_slot(slot, TRIGGER_HOOK, true, &context);
}
