/* SPDX-License-Identifier: MIT */
/*
 * suspend.c -- the sampler's half of a capture; see suspend.h. It runs on the
 * sampler thread, which never waits for a target. The sampler asks, goes on,
 * and serves the threads that park and ring. While it serves, it allocates
 * nothing, and takes no lock but libunwind's private ones. It reads the
 * target's memory only by system calls, because the target may leave at its
 * deadline.
 */
#include <linux/errno.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/sample.h"
#include "base/sys.h"
#include "signals/disposition.h"
#include "signals/signals.h"
#include "unwind/learn.h"
#include "unwind/resume.h"
#include "unwind/rules.h"
#include "handler.h"
#include "signals/nested.h"
#include "suspend.h"
#include "base/poison.h"

/* Limits of the number of slots, and of the frames in all slots together.
 * Deeper stacks make fewer slots. */
#define SLOTS_MAX 256u
#define FRAMES_MAX (8u << 20)
#define SLOTS_MIN 64u

/* Time in ns after which a handler may have left its slot by a jump. */
#define LONG_NS 1000000000u

/* How long the sampler and its holders sleep before they look again, in ns. No
 * lost wake-up is known; but a holder that ends wakes no thread. */
#define HELD_NS 100000000u
#define HOLD_LOOK_NS 1000000u

/* Longest time for which the sampler serves one slot, in ns. It ends early
 * enough that the target need not give up. */
#define SERVE_NS (PARK_NS / 2)

/* The sampler's state, and how many threads hold it (suspend_hold). Each side
 * writes its own word and then reads the other's, so that one of them sees the
 * other. Either the holder sees that the sampler sleeps, and the sampler sees
 * the holder before it goes on; or the holder waits. */
enum { AWAKE, ASLEEP, HELD };
static _Atomic uint32_t sleep_state, holders;
static bool was_held; /* since the last suspend_was_held */

int
suspend_begin(const struct suspend_options *options)
{
    bool is_first = handler_shared.threads == NULL;
    if (is_first) {
        handler_shared.threads =
            sys_reserve(options->threads * sizeof(*handler_shared.threads));
        if (handler_shared.threads == NULL)
            return -1;
    }
    handler_shared.thread_count = options->threads;
    handler_shared.index_of_tid = options->index_of_tid;
    handler_shared.tid_count = options->tid_count;
    handler_shared.request = options->request;
    handler_shared.settings = options->settings;
    atomic_store(&handler_shared.own_taken, 0);
    for (uint32_t i = 0; i < LOSS_COUNT; i++)
        atomic_store(&handler_shared.own_lost[i], 0);
    resume_begin(options->refresh);
    handler_shared.pid = options->settings->pid;
    atomic_store(&handler_shared.frozen, 0);
    atomic_store(&holders, 0);
    atomic_store(&sleep_state, AWAKE);
    if (!is_first) {
        disposition_after_fork();
        return 0;
    }
    cookie_begin();
    disposition_begin(handler_run, options->sigaction, options->next_sigaction,
                      options->leaving, suspend_ring);
    return disposition_borrow(SIGNALS_ASK, options->settings->signo);
}

int
suspend_equip(uint32_t max_depth)
{
    uint32_t slots = FRAMES_MAX / max_depth;
    slots = slots > SLOTS_MAX ? SLOTS_MAX : slots;
    slots = slots < SLOTS_MIN ? SLOTS_MIN : slots;
    return slots_begin(slots, max_depth) == 0 && rules_begin() == 0 &&
                   learn_begin() == 0
               ? 0
               : -1;
}

uint64_t
suspend_perf_cookie(void)
{
    return cookie_make_own(HANDLER_OWN_PERF);
}

uint64_t
suspend_timer_cookie(bool kernel_only)
{
    return cookie_make_own(kernel_only ? HANDLER_OWN_TIMER_KERNEL
                                       : HANDLER_OWN_TIMER);
}

void
suspend_begin_harvest(uint32_t every, uint32_t lost[LOSS_COUNT])
{
    atomic_store_explicit(&handler_shared.own_ring, every,
                          memory_order_relaxed);
    atomic_store_explicit(&handler_shared.own_taken, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < LOSS_COUNT; i++)
        lost[i] = atomic_exchange_explicit(&handler_shared.own_lost[i], 0,
                                           memory_order_relaxed);
}

void
suspend_ring_every(uint32_t every)
{
    atomic_store_explicit(&handler_shared.own_ring, every,
                          memory_order_relaxed);
}

bool
suspend_is_due(void)
{
    return atomic_load_explicit(&handler_shared.own_taken,
                                memory_order_relaxed) >=
           atomic_load_explicit(&handler_shared.own_ring, memory_order_relaxed);
}

bool
suspend_has_samples(void)
{
    for (uint32_t i = 0; i < slots_used(); i++)
        if (atomic_load_explicit(&slots_at(i)->state, memory_order_relaxed) !=
            SLOT_FREE)
            return true;
    return false;
}

uint32_t
suspend_take_user_ticks(uint32_t index)
{
    return atomic_exchange_explicit(&handler_shared.threads[index].user_ticks,
                                    0, memory_order_relaxed);
}

uint64_t
suspend_take_measured(uint32_t index)
{
    return atomic_exchange(&handler_shared.threads[index].measured, 0);
}

int
suspend_ask(uint32_t index, pid_t tid, uint32_t sequence)
{
    uint64_t cookie = cookie_make(index, sequence);
    int signo = signals_number(SIGNALS_ASK);
    if (signo == 0)
        return -EAGAIN;
    atomic_store(&handler_shared.threads[index].asked, sequence + 1);
    return (int)cookie_send(tid, signo, cookie);
}

void
suspend_freeze(pid_t tid)
{
    atomic_store(&handler_shared.frozen, 1);
    (void)cookie_order(tid, COOKIE_FREEZE);
}

void
suspend_thaw(void)
{
    atomic_store(&handler_shared.frozen, 0);
    sys_futex_wake(&handler_shared.frozen, 1 << 30);
}

enum loss
suspend_refusal(uint32_t index, uint32_t sequence)
{
    uint32_t refused = atomic_load(&handler_shared.threads[index].refused);
    return (refused & COOKIE_MASK) == sequence ? refused >> COOKIE_BITS
                                               : LOSS_COUNT;
}

void
suspend_set_stack(uint32_t index, uint64_t low, uint64_t high, uint64_t pointer)
{
    struct handler_thread *thread = &handler_shared.threads[index];
    atomic_store_explicit(&thread->high, 0, memory_order_release);
    atomic_store_explicit(&thread->low, low, memory_order_relaxed);
    atomic_store_explicit(&thread->root, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->rested_clock, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->pointer, pointer, memory_order_relaxed);
    atomic_store_explicit(&thread->high, high, memory_order_release);
}

/* Remember how far the stacks of a thread reach: a copy must reach as far. */
static void
note_root(const struct slot *slot)
{
    if (slot->thread >= handler_shared.thread_count)
        return;
    struct handler_thread *thread = &handler_shared.threads[slot->thread];
    uint64_t end = slot->walk.regs.sp + 64;
    if (end > atomic_load_explicit(&thread->root, memory_order_relaxed) &&
        end < atomic_load_explicit(&thread->high, memory_order_relaxed))
        atomic_store_explicit(&thread->root, end, memory_order_relaxed);
}

/* Walk on in VIEW until the stack ends, or SERVE_NS of CLOCK are over. */
static void
finish_walk(struct slot *slot, struct view *view, uint64_t (*clock)(void))
{
    struct resume finish = {.origin.known = LEARN_ALL_KNOWN,
                            .clock = clock,
                            .until = clock() + SERVE_NS};
    memcpy(finish.origin.registers, slot->registers, sizeof(slot->registers));
    if (resume_run(&finish, &slot->walk, view) == WALK_ROOT)
        note_root(slot);
}

void
suspend_finish(struct slot *slot)
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
suspend_reclaim(uint64_t now)
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
            atomic_fetch_add_explicit(&handler_shared.own_lost[LOSS_SILENT], 1,
                                      memory_order_relaxed);
        slot_free(slot);
    }
}

void
suspend_serve(void)
{
    static uint32_t seen;
    uint32_t parks = atomic_load(&handler_shared.parks);
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
    sys_futex_wait(&handler_shared.bell, heard, until);
    atomic_store(&sleep_state, AWAKE);
    while ((count = atomic_load(&holders)) != 0) {
        was_held = true;
        tell_holders(HELD);
        sys_futex_wait(&holders, count, clock_now() + HELD_NS);
        atomic_store(&sleep_state, AWAKE);
    }
}

void
suspend_hold(uint64_t until)
{
    atomic_fetch_add(&holders, 1);
    if (atomic_load(&sleep_state) == AWAKE)
        suspend_ring();
    while (until != 0 && atomic_load(&sleep_state) == AWAKE &&
           !clock_expires(until))
        sys_futex_wait(&sleep_state, AWAKE, clock_now() + HOLD_LOOK_NS);
}

void
suspend_release(void)
{
    uint32_t count = atomic_load(&holders);
    while (count > 0 &&
           !atomic_compare_exchange_weak(&holders, &count, count - 1))
        ;
    if (count == 1 && atomic_load(&sleep_state) == HELD)
        sys_futex_wake(&holders, 1);
}

bool
suspend_was_held(void)
{
    bool result = was_held;
    was_held = false;
    return result;
}

bool
suspend_is_held(void)
{
    return atomic_load_explicit(&holders, memory_order_relaxed) != 0;
}

void
suspend_wait(uint64_t until)
{
    suspend_wait_unless(NULL, until);
}

/* The bell is read first. So a thread that makes a request and rings after
 * IS_CALLED was called is heard. */
void
suspend_wait_unless(bool (*is_called)(void), uint64_t until)
{
    uint32_t heard = atomic_load(&handler_shared.bell);
    suspend_serve();
    if (is_called == NULL || !is_called())
        sleep_until(heard, until);
    suspend_serve();
}

void
suspend_ring(void)
{
    atomic_fetch_add(&handler_shared.bell, 1);
    sys_futex_wake(&handler_shared.bell, 1);
}
