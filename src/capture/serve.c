/* SPDX-License-Identifier: MIT */
/*
 * serve.c -- see serve.h. It runs on the sampler thread, which never waits for
 * a target. While it serves, it allocates nothing, and takes no lock but
 * libunwind's private ones. It reads the target's memory only by system calls,
 * because the target may leave at its deadline.
 */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/sample.h"
#include "base/sys.h"
#include "signals/nested.h"
#include "unwind/learn.h"
#include "unwind/resume.h"
#include "ask.h"
#include "shared.h"
#include "serve.h"
#include "base/poison.h"

/* Time in ns after which a handler may have left its slot by a jump. */
#define LONG_NS 1000000000u

/* How long the sampler and its holders sleep before they look again, in ns. No
 * lost wake-up is known; but a holder that ends wakes no thread. */
#define HELD_NS 100000000u
#define HOLD_LOOK_NS 1000000u

/* Longest time for which the sampler serves one slot, in ns. It ends early
 * enough that the target need not give up. */
#define SERVE_NS (PARK_NS / 2)

/* The sampler's state, and how many threads hold it (serve_hold). Each side
 * writes its own word and then reads the other's, so that one of them sees the
 * other. Either the holder sees that the sampler sleeps, and the sampler sees
 * the holder before it goes on; or the holder waits. */
enum { AWAKE, ASLEEP, HELD };
static _Atomic uint32_t sleep_state, holders;
static bool was_held; /* since the last serve_was_held */

void
serve_begin(void)
{
    atomic_store(&holders, 0);
    atomic_store(&sleep_state, AWAKE);
}

void
serve_begin_harvest(uint32_t every, uint32_t lost[LOSS_COUNT])
{
    atomic_store_explicit(&shared.own_ring, every, memory_order_relaxed);
    atomic_store_explicit(&shared.own_taken, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < LOSS_COUNT; i++)
        lost[i] = atomic_exchange_explicit(&shared.own_lost[i], 0,
                                           memory_order_relaxed);
}

void
serve_ring_every(uint32_t every)
{
    atomic_store_explicit(&shared.own_ring, every, memory_order_relaxed);
}

bool
serve_is_due(void)
{
    return atomic_load_explicit(&shared.own_taken, memory_order_relaxed) >=
           atomic_load_explicit(&shared.own_ring, memory_order_relaxed);
}

bool
serve_has_samples(void)
{
    for (uint32_t i = 0; i < slots_used(); i++)
        if (atomic_load_explicit(&slots_at(i)->state, memory_order_relaxed) !=
            SLOT_FREE)
            return true;
    return false;
}

uint32_t
serve_take_user_ticks(uint32_t index)
{
    return atomic_exchange_explicit(&shared.threads[index].user_ticks, 0,
                                    memory_order_relaxed);
}

uint64_t
serve_take_measured(uint32_t index)
{
    return atomic_exchange(&shared.threads[index].measured, 0);
}

/* Remember how far the stacks of a thread reach: a copy must reach as far. */
static void
note_root(const struct slot *slot)
{
    struct shared_thread *thread = shared_thread_at(slot->thread);
    if (thread == NULL)
        return;
    uint64_t end = slot->walk.regs.sp + 64;
    if (end > atomic_load_explicit(&thread->root, memory_order_relaxed) &&
        end < atomic_load_explicit(&thread->high, memory_order_relaxed))
        atomic_store_explicit(&thread->root, end, memory_order_relaxed);
}

/* Walk on in VIEW until the stack ends, or SERVE_NS of CLOCK are over. */
static void
finish_walk(struct slot *slot, struct view *view, uint64_t (*clock)(void))
{
    struct resume finish = {.origin.registers = slot->registers,
                            .origin.known = LEARN_ALL_KNOWN,
                            .clock = clock,
                            .until = clock() + SERVE_NS};
    if (resume_run(&finish, &slot->walk, view) == WALK_ROOT)
        note_root(slot);
}

void
serve_finish(struct slot *slot)
{
    struct view view;
    if (!slot->unfinished)
        return;
    slot->unfinished = false;
    view_begin_copy(&view, slot->copy_start, slot->copied, slot->copy);
    /* No thread waits for this walk. So the sampler's CPU time is limited, and
     * time in which it has no CPU does not count. */
    finish_walk(slot, &view, clock_own);
}

static void
serve_slot(struct slot *slot)
{
    /* The target is parked, and its registers are in the slot. */
    uint32_t depth = slot->walk.depth;
    struct view view;
    view_begin(&view, 0, 0, 0, slot->window);
    resume_refresh();
    finish_walk(slot, &view, clock_now);
    if (slot_move(slot, SLOT_SERVING, SLOT_SERVED)) {
        sys_futex_wake(&slot->state, 1);
        return;
    }
    /* The target has left, and its stack has changed. The frames that it saw
     * itself are still right. */
    slot->walk.depth = depth;
    slot->walk.cut = CUT_DEADLINE;
    slot->stopped = (uint32_t)(clock_now() - slot->time);
    atomic_store_explicit(&slot->state, SLOT_DONE, memory_order_release);
}

/* A claimed slot gets its mark and its time together. A free slot has no mark.
 */
void
serve_reclaim(uint64_t now)
{
    for (uint32_t i = 0; i < slots_used(); i++) {
        struct slot *slot = slots_at(i);
        uint32_t state = atomic_load(&slot->state);
        if ((state != SLOT_CLAIMED && state != SLOT_SERVED) ||
            !nested_is_gone(&slot->mark, slot->time) ||
            now - slot->time < LONG_NS)
            continue;
        /* The thread that asked a question gives it up itself if it has no
         * answer. */
        if (slot->trigger != TRIGGER_ASK)
            atomic_fetch_add_explicit(&shared.own_lost[LOSS_SILENT], 1,
                                      memory_order_relaxed);
        slot_free(slot);
    }
}

void
serve_parked(void)
{
    static uint32_t seen;
    uint32_t parks = atomic_load(&shared.parks);
    if (parks == seen)
        return;
    seen = parks;
    for (uint32_t i = 0; i < slots_used(); i++)
        if (slot_move(slots_at(i), SLOT_PARKED, SLOT_SERVING))
            serve_slot(slots_at(i));
}

/* Set the sampler's state to TO, and tell it to the threads that hold the
 * sampler. */
static void
tell_holders(uint32_t to)
{
    atomic_store(&sleep_state, to);
    if (atomic_load(&holders) != 0)
        sys_futex_wake(&sleep_state, 1 << 30);
}

/* Sleep until UNTIL (ns) or until the bell changes from HEARD. Then sleep for
 * as long as a thread holds the sampler. */
static void
sleep_until(uint32_t heard, uint64_t until)
{
    uint32_t count;
    tell_holders(ASLEEP);
    sys_futex_wait(&shared.bell, heard, until);
    atomic_store(&sleep_state, AWAKE);
    while ((count = atomic_load(&holders)) != 0) {
        was_held = true;
        tell_holders(HELD);
        sys_futex_wait(&holders, count, clock_now() + HELD_NS);
        atomic_store(&sleep_state, AWAKE);
    }
}

void
serve_hold(uint64_t until)
{
    atomic_fetch_add(&holders, 1);
    if (atomic_load(&sleep_state) == AWAKE)
        ask_ring();
    while (until != 0 && atomic_load(&sleep_state) == AWAKE &&
           !clock_expires(until))
        sys_futex_wait(&sleep_state, AWAKE, clock_now() + HOLD_LOOK_NS);
}

void
serve_release(void)
{
    uint32_t count = atomic_load(&holders);
    while (count > 0 &&
           !atomic_compare_exchange_weak(&holders, &count, count - 1))
        ;
    if (count == 1 && atomic_load(&sleep_state) == HELD)
        sys_futex_wake(&holders, 1);
}

bool
serve_was_held(void)
{
    bool result = was_held;
    was_held = false;
    return result;
}

bool
serve_is_held(void)
{
    return atomic_load_explicit(&holders, memory_order_relaxed) != 0;
}

void
serve_wait(uint64_t until)
{
    serve_wait_unless(NULL, until);
}

/* The bell is read first. So a thread that makes a request and rings after
 * IS_CALLED was called is heard. */
void
serve_wait_unless(bool (*is_called)(void), uint64_t until)
{
    uint32_t heard = atomic_load(&shared.bell);
    serve_parked();
    if (is_called == NULL || !is_called())
        sleep_until(heard, until);
    serve_parked();
}
