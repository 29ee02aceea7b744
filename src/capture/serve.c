/* SPDX-License-Identifier: MIT */
/*
 * serve.c -- see serve.h. It runs on the sampler thread, which never waits for
 * a target. While it serves, it allocates nothing and takes no lock. It reads
 * the target's memory only by system calls, because the target may leave at its
 * deadline.
 */
#include <stddef.h>

#include "base/clock.h"
#include "base/sample.h"
#include "base/scheduling.h"
#include "base/sys.h"
#include "process/modules.h"
#include "process/unloads.h"
#include "signals/nested.h"
#include "unwind/learn.h"
#include "unwind/peek.h"
#include "unwind/resume.h"
#include "unwind/script.h"
#include "ask.h"
#include "fill.h"
#include "shared.h"
#include "serve.h"
#include "base/poison.h"

/* Time in ns after which a handler may have left its slot by a jump. */
#define LONG_NS 1000000000u

/* How long the sampler and its holders sleep before they look again, in ns. No
 * lost wake-up is known; but a holder that ends wakes no thread. */
#define HELD_NS 100000000u
#define HOLD_LOOK_NS 1000000u

/* Set in holders: no thread holds the sampler any more. */
#define HOLDS_ENDED (1u << 31)

/* Longest time for which the sampler serves one slot, in ns. It is so short
 * that the target need not give up. */
#define SERVE_NS (PARK_NS / 2)

/* The sampler's state, and how many threads hold it (serve_hold). Each side
 * writes its own word and then reads the other's, so that one of them sees the
 * other. Either the holder sees that the sampler sleeps, and the sampler sees
 * the holder before it goes on; or the holder waits. */
enum { AWAKE, ASLEEP, HELD };
static _Atomic uint32_t sleep_state, holders;
static bool was_held; /* since the last serve_was_held */

/* Memory for copies of stacks that are too large for their slots. It is
 * reserved when it is first needed. Copies lie one after the other, and the
 * memory is empty again when the last one is released. Sizes in bytes: of the
 * memory, and of the largest copy. */
#define LARGE_SIZE (16u << 20)
#define LARGE_COPY (1u << 20)
static uint8_t *large;
static uint32_t large_used, large_count; /* bytes; copies */

/* The last argument of serve_hurry_from. */
static uint64_t hurry_from;

/* A walk needed a newer module map since the last serve_is_map_wanted. */
static bool is_map_wanted;

void
serve_hurry_from(uint64_t time)
{
    hurry_from = time;
    atomic_store(&shared.hurry_from, time);
}

bool
serve_is_hurried(void)
{
    return hurry_from != 0 && atomic_load(&shared.hurry_from) == 0;
}

void
serve_begin(void)
{
    atomic_store(&holders, 0);
    atomic_store(&sleep_state, AWAKE);
    large_used = large_count = 0;
    serve_hurry_from(0);
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

uint32_t
serve_waiting_most(void)
{
    return slots_all() * 3 / 8;
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
        if (!slot_is_in(slots_at(i), SLOT_FREE))
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

/* Walk on in VIEW until the stack ends, or SERVE_NS of CLOCK have passed.
 * SINCE: see struct resume. */
static enum walk_outcome
finish_walk(struct slot *slot, struct view *view, uint64_t (*clock)(void),
            uint64_t since)
{
    struct resume finish = {.origin.registers = slot->registers,
                            .origin.known = HARD_ALL_KNOWN,
                            .clock = clock,
                            .until = clock() + SERVE_NS,
                            .since = since};
    enum walk_outcome outcome;
    while ((outcome = resume_run(&finish, &slot->walk, view)) ==
               WALK_NEEDS_FP &&
           peek_find_by_sp(&slot->walk, view))
        ;
    if (outcome == WALK_ROOT)
        note_root(slot);
    return outcome;
}

/* Confirm the frames of SLOT: the module map must know what lay there. If they
 * were found by an old map, each must be in a module of the old map. A module
 * with a frame on a stack is not unloaded, but it may lie where the old map has
 * another one. Returns false if the walk ends at a frame that is in doubt. */
static bool
confirm(struct slot *slot)
{
    struct walk *walk = &slot->walk;
    uint32_t head = walk->capacity - walk->tail, newest = slot->newest;
    slot->newest = 0;
    if (!resume_confirm(walk, slot->time, slot->unloads, unloads_last()))
        return false;
    for (uint32_t i = 0; newest != 0 && i < walk_kept(walk); i++) {
        struct frame frame = walk->frames[i];
        const struct module *module = modules_find(frame_lookup(frame));
        if (frame_kind(frame) == FRAME_GUESSED ||
            (module != NULL && module->id <= newest))
            continue;
        walk->depth = i < head ? i + 1 : head;
        walk->cut = CUT_OLD_MAP;
        return false;
    }
    return true;
}

/* SLOT no longer needs its copy. */
static void
release_copy(struct slot *slot)
{
    bool is_large = slot->stack >= large && slot->stack < large + LARGE_SIZE;
    slot->stack = slot->copy;
    if (is_large && --large_count == 0)
        large_used = 0;
}

bool
serve_finish(struct slot *slot, uint64_t since)
{
    enum walk_outcome outcome = WALK_CUT;
    struct view view;
    if (modules_state.read_at < slot->time &&
        (slot->newest != 0 || !modules_are_current()))
        return false;
    if (confirm(slot) && slot->copied != 0) {
        view_begin_copy(&view, slot->copy_start, slot->copied, slot->stack);
        /* No thread waits for this walk. So the sampler's CPU time is limited,
         * and time in which it has no CPU does not count. */
        outcome = finish_walk(slot, &view, clock_own, since);
    }
    slot->unfinished = outcome == WALK_NEEDS_MAP;
    if (slot->unfinished)
        return false;
    /* Modules that were unloaded during the walk may have misled it. */
    (void)confirm(slot);
    release_copy(slot);
    return true;
}

bool
serve_give_up(struct slot *slot)
{
    struct walk *walk = &slot->walk;
    bool is_going = false;
    if (slot->unloads != modules_state.unloads || modules_state.is_torn ||
        slot->newest != 0)
        return false;
    for (uint32_t i = 0; i < walk_kept(walk); i++) {
        uint64_t pc = frame_lookup(walk->frames[i]);
        if (modules_find(pc) == NULL)
            return false;
        is_going |= unloads_took(pc, pc + 1, slot->unloads, unloads_last());
    }
    if (!is_going)
        return false;
    walk->cut = CUT_OLD_MAP;
    slot->unfinished = false;
    release_copy(slot);
    return true;
}

/* Copy the rest of the stack of SLOT's thread, which is parked. Returns false
 * if it is too large. */
static bool
copy_parked(struct slot *slot)
{
    if (fill_copy(slot, slot->copy, SLOT_COPY))
        return true;
    if (large == NULL)
        large = sys_reserve_for_one(LARGE_SIZE);
    if (large == NULL || LARGE_SIZE - large_used < LARGE_COPY ||
        !fill_copy(slot, large + large_used, LARGE_COPY)) {
        slot->stack = slot->copy;
        return false;
    }
    large_used += slot->copied;
    large_count++;
    return true;
}

/* Walk on in the stack of a parked thread. The window is too short to read the
 * module map again. If the map may be old, the walk goes on later in a copy of
 * the stack. A stack that is too large is walked by the old map, and the frames
 * are confirmed later. */
static void
walk_in_place(struct slot *slot)
{
    struct view view;
    bool is_current = modules_are_current();
    if (!is_current && copy_parked(slot)) {
        slot->unfinished = is_map_wanted = true;
        return;
    }
    view_begin(&view, 0, 0, 0, slot->window);
    if (!is_current)
        slot->newest = modules_state.newest;
    enum walk_outcome outcome = finish_walk(slot, &view, clock_now, slot->time);
    slot->unfinished = slot->newest != 0;
    if (outcome == WALK_NEEDS_MAP && copy_parked(slot))
        slot->unfinished = true;
    else if (outcome == WALK_NEEDS_MAP)
        slot->walk.cut = CUT_OLD_MAP;
    is_map_wanted |= slot->unfinished || outcome == WALK_NEEDS_MAP;
}

static void
serve_slot(struct slot *slot)
{
    /* The target is parked, and its registers are in the slot. */
    uint32_t depth = slot->walk.depth;
    walk_in_place(slot);
    if (slot_move(slot, SLOT_SERVING, SLOT_SERVED)) {
        sys_futex_wake(&slot->state, 1);
        return;
    }
    /* The target has left, and its stack has changed. The frames that the
     * target itself found are still right. */
    release_copy(slot);
    slot->unfinished = false;
    slot->walk.depth = depth;
    if (slot->walk.script != NULL)
        script_go_back(slot->walk.script, depth);
    slot->walk.cut = CUT_DEADLINE;
    slot->stopped = (uint32_t)(clock_now() - slot->entered);
    (void)slot_move(slot, SLOT_LEFT, SLOT_DONE);
}

bool
serve_is_map_wanted(void)
{
    bool result = is_map_wanted;
    is_map_wanted = false;
    return result;
}

/* Whether the handler that has SLOT in the state of WORD is gone. Its time is
 * known only when its mark is set, and may be later than NOW. */
static bool
is_abandoned(const struct slot *slot, uint32_t word, uint64_t now)
{
    if (slot_state(word) != SLOT_CLAIMED && slot_state(word) != SLOT_SERVED)
        return false;
    uint64_t mark = atomic_load_explicit(&slot->mark, memory_order_acquire);
    return mark != 0 && slot->entered < now && now - slot->entered >= LONG_NS &&
           nested_is_gone(mark, slot->entered);
}

/* A mark is also gone when the slot was given away meanwhile; then the exchange
 * fails. All that the handler wrote has arrived long ago: it was left when the
 * mark was overwritten, and claimed the slot LONG_NS ago. */
void
serve_reclaim(uint64_t now)
{
    for (uint32_t i = 0; i < slots_used(); i++) {
        struct slot *slot = slots_at(i);
        uint32_t word =
            atomic_load_explicit(&slot->state, memory_order_acquire);
        if (!is_abandoned(slot, word, now) ||
            !slot_pass(slot, word & ~SLOT_STATES, slot_state(word), SLOT_TAKEN))
            continue;
        /* The thread that asked a question gives it up itself if it has no
         * answer. */
        if (slot->trigger != TRIGGER_ASK)
            atomic_fetch_add_explicit(&shared.own_lost[LOSS_SILENT], 1,
                                      memory_order_relaxed);
        release_copy(slot);
        slot_free(slot);
    }
}

void
serve_parked(void)
{
    static uint32_t seen;
    uint32_t parks = atomic_load_explicit(&shared.parks, memory_order_acquire);
    if (parks == seen)
        return;
    seen = parks;
    for (uint32_t i = 0; i < slots_used(); i++)
        if (slot_move(slots_at(i), SLOT_PARKED, SLOT_SERVING))
            serve_slot(slots_at(i));
}

/* Set the sampler's state to TO, and wake the threads that hold the sampler. */
static void
tell_holders(uint32_t to)
{
    atomic_store(&sleep_state, to);
    if (atomic_load(&holders) != 0)
        sys_futex_wake(&sleep_state, 1 << 30);
}

/* Whether COUNT, a value of holders, keeps the sampler asleep. */
static bool
is_held(uint32_t count)
{
    return count != 0 && count < HOLDS_ENDED;
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
    while (is_held(count = atomic_load(&holders))) {
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
    if (atomic_load(&sleep_state) == AWAKE) {
        ask_ring();
        scheduling_hurry();
    }
    while (until != 0 && atomic_load(&sleep_state) == AWAKE &&
           !clock_expires(until))
        sys_futex_wait(&sleep_state, AWAKE, clock_now() + HOLD_LOOK_NS);
}

void
serve_release(void)
{
    uint32_t count = atomic_load(&holders);
    while (count % HOLDS_ENDED > 0 &&
           !atomic_compare_exchange_weak(&holders, &count, count - 1))
        ;
    if (count == 1 && atomic_load(&sleep_state) == HELD)
        sys_futex_wake(&holders, 1);
}

void
serve_end_holds(void)
{
    atomic_fetch_or(&holders, HOLDS_ENDED);
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
    return is_held(atomic_load_explicit(&holders, memory_order_relaxed));
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
