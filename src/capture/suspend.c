/* SPDX-License-Identifier: MIT */
/*
 * suspend.c -- the sampler's half of a capture; see suspend.h. Runs on the
 * sampler thread, which never waits for a target: it asks, goes on, and serves
 * those who park as they ring. While it serves, it allocates nothing, takes no
 * lock but libunwind's private ones, and reads the target's memory only by
 * system calls, because the target may leave at its deadline.
 */
#include <linux/errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/sample.h"
#include "base/sys.h"
#include "finish.h"
#include "handler.h"
#include "learn.h"
#include "nested.h"
#include "rules.h"
#include "signals.h"
#include "suspend.h"
#include "poison.h"

/* Memory for frames is bounded; deeper stacks make fewer slots. */
#define SLOTS_MAX 256u
#define FRAMES_MAX (8u << 20)
#define SLOTS_MIN 64u

/* How long a handler may take before it has claimed its slot, or after that;
 * and how long all of it is waited for. */
#define BRIEF_NS 2000000u
#define LEAVING_NS 50000000u

/* A handler that has filled its slot for so long may have been left. */
#define LONG_NS 1000000000u

/* How often those who wait for one another look whether they still have to:
 * nobody is known to be missed, but who ends meanwhile wakes nobody. */
#define HELD_NS 100000000u
#define HOLD_LOOK_NS 1000000u

/* Serving ends early enough that the target need not give up. */
#define SERVE_NS (PARK_NS / 2)

/* What the sampler does about those who hold it (suspend_hold). Each side
 * writes its own word and then reads the other's, so that one of them sees the
 * other: either the holder sees that the sampler sleeps, and the sampler sees
 * the holder before it goes on; or the holder waits. */
enum { AWAKE, ASLEEP, HELD };
static _Atomic uint32_t sleep_state, holders;
static bool was_held; /* since suspend_was_held was asked */

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
    /* Once: a timer's signal of before may still be on the way. */
    if (is_first && getrandom(&handler_shared.secret, 2, GRND_NONBLOCK) != 2)
        handler_shared.secret = clock_now() & 0xffff;
    handler_shared.thread_count = options->threads;
    handler_shared.index_of_tid = options->index_of_tid;
    handler_shared.tid_count = options->tid_count;
    handler_shared.registered_only = options->registered_only;
    handler_shared.request = options->request;
    handler_shared.young = options->young;
    atomic_store(&handler_shared.own_taken, 0);
    for (uint32_t i = 0; i < LOSS_COUNT; i++)
        atomic_store(&handler_shared.own_lost[i], 0);
    finish_begin(options->refresh);
    handler_shared.pid = options->pid;
    atomic_store(&handler_shared.frozen, 0);
    atomic_store(&holders, 0);
    atomic_store(&sleep_state, AWAKE);
    if (!is_first) {
        signals_after_fork();
        return 0;
    }
    signals_begin(handler_run, options->sigaction, options->next_sigaction,
                  options->leaving);
    return signals_borrow(SIGNALS_ASK, options->signo);
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
    return cookie_make_own(handler_shared.secret, HANDLER_OWN_PERF);
}

uint64_t
suspend_timer_cookie(bool kernel_only)
{
    return cookie_make_own(handler_shared.secret, kernel_only
                                                      ? HANDLER_OWN_TIMER_KERNEL
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
    uint64_t cookie = cookie_make(handler_shared.secret, index, sequence);
    int signo = signals_number(SIGNALS_ASK);
    if (signo == 0)
        return -EAGAIN;
    atomic_store(&handler_shared.threads[index].asked, sequence + 1);
    return (int)sys_queue_signal(handler_shared.pid, tid, signo, HANDLER_CODE,
                                 cookie);
}

/* Tell thread TID what needs no answer. */
static void
tell(pid_t tid, uint32_t what)
{
    int signo = signals_number(SIGNALS_ASK);
    if (signo != 0)
        (void)sys_queue_signal(handler_shared.pid, tid, signo, HANDLER_CODE,
                               cookie_make(handler_shared.secret, what, 0));
}

void
suspend_settle(pid_t tid)
{
    tell(tid, COOKIE_SETTLE);
}

void
suspend_freeze(pid_t tid)
{
    atomic_store(&handler_shared.frozen, 1);
    tell(tid, COOKIE_FREEZE);
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

/* Remember how far the stacks of a thread reach: what must be copied of them.
 */
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
    struct finish finish = {.origin.known = LEARN_ALL_KNOWN,
                            .clock = clock,
                            .until = clock() + SERVE_NS};
    memcpy(finish.origin.registers, slot->registers, sizeof(slot->registers));
    if (finish_run(&finish, &slot->walk, view) == WALK_ROOT)
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
    /* Nobody waits: time without a CPU is nobody's loss. */
    finish_walk(slot, &view, clock_own);
}

static void
serve(struct slot *slot)
{
    /* The target is parked, and its registers are in the slot. */
    uint32_t depth = slot->walk.depth;
    struct view view;
    view_begin(&view, 0, 0, 0, slot->window);
    finish_settle();
    finish_walk(slot, &view, clock_now);
    if (slot_move(slot, SLOT_SERVING, SLOT_SERVED)) {
        sys_futex_wake(&slot->state, 1);
        return;
    }
    /* It has left: its stack has moved under us. What it saw itself holds. */
    slot->walk.depth = depth;
    slot->walk.cut = CUT_DEADLINE;
    slot->stopped = (uint32_t)(clock_now() - slot->time);
    atomic_store_explicit(&slot->state, SLOT_DONE, memory_order_release);
}

/* A slot that is claimed has its mark and its time together: a free one has no
 * mark. */
void
suspend_reclaim(uint64_t now)
{
    for (uint32_t i = 0; i < slots_used(); i++) {
        struct slot *slot = slots_at(i);
        uint32_t state = atomic_load(&slot->state);
        if ((state != SLOT_CLAIMED && state != SLOT_SERVED) ||
            !nested_is_gone(slot) || now - slot->time < LONG_NS)
            continue;
        /* A question that has no answer is given up by who asked. */
        if (slot->trigger != TRIGGER_ASK)
            atomic_fetch_add_explicit(&handler_shared.own_lost[LOSS_SILENT], 1,
                                      memory_order_relaxed);
        slot_free(slot);
    }
}

static void
rest(void)
{
    _Atomic uint32_t never = 0;
    sys_futex_wait(&never, 0, clock_now() + BRIEF_NS);
}

/* Whether a handler that has filled SLOT since before START does so still. */
static bool
is_filled_since(const struct slot *slot, uint64_t start)
{
    uint32_t state = atomic_load(&slot->state);
    return state != SLOT_FREE && state != SLOT_DONE && slot->time < start;
}

void
suspend_wait_for_handlers(void)
{
    uint64_t start = clock_now();
    rest();
    for (uint32_t i = 0; i < slots_used(); i++)
        while (is_filled_since(slots_at(i), start) &&
               clock_now() < start + LEAVING_NS)
            rest();
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
            serve(slots_at(i));
}

/* The sampler's state is TO. Those who wait until it stays hear that. */
static void
tell_holders(uint32_t to)
{
    atomic_store(&sleep_state, to);
    if (atomic_load(&holders) != 0)
        sys_futex_wake(&sleep_state, 1 << 30);
}

/* Sleep while nobody has rung since the bell was at HEARD, and then for as long
 * as somebody holds the sampler. */
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

bool
suspend_hold(uint64_t until)
{
    atomic_fetch_add(&holders, 1);
    if (atomic_load(&sleep_state) == AWAKE)
        suspend_ring();
    while (atomic_load(&sleep_state) == AWAKE && clock_now() < until)
        sys_futex_wait(&sleep_state, AWAKE, clock_now() + HOLD_LOOK_NS);
    return atomic_load(&sleep_state) != AWAKE;
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

/* The bell is looked at first: who wants something and rings after IS_CALLED
 * was asked is heard. */
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
