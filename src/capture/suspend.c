/* SPDX-License-Identifier: MIT */
/*
 * suspend.c -- the sampler's half of a capture; see suspend.h. Runs on the
 * sampler thread, which never waits for a target: it asks, goes on, and serves
 * those who park as they ring. While it serves, it allocates nothing, takes no
 * lock but libunwind's private ones, and reads the target's memory only by
 * system calls, because the target may leave at its deadline.
 */
#include <stddef.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/sys.h"
#include "target/modules.h"
#include "handler.h"
#include "learn.h"
#include "rules.h"
#include "suspend.h"
#include "poison.h"

/* Memory for frames is bounded; deeper stacks make fewer slots. */
#define SLOTS_MAX 256u
#define FRAMES_MAX (8u << 20)
#define SLOTS_MIN 64u

/* Serving ends early enough that the target need not give up. */
#define SERVE_NS (PARK_NS / 2)

/* A return address in unknown memory makes the map be read anew, then not for
 * so many times as long as that took. */
#define REFRESH_SHARE 20

static void (*refresh_modules)(void);
static uint64_t next_refresh;

int
suspend_begin(const struct suspend_options *options)
{
    uint32_t slots = FRAMES_MAX / options->max_depth;
    slots = slots > SLOTS_MAX ? SLOTS_MAX : slots;
    slots = slots < SLOTS_MIN ? SLOTS_MIN : slots;
    bool is_first = handler_shared.threads == NULL;
    if (is_first) {
        handler_shared.threads =
            sys_reserve(options->threads * sizeof(*handler_shared.threads));
        if (handler_shared.threads == NULL)
            return -1;
    }
    if (getrandom(&handler_shared.secret, 2, GRND_NONBLOCK) != 2)
        handler_shared.secret = clock_now() & 0xffff;
    handler_shared.thread_count = options->threads;
    handler_shared.signo = options->signo;
    handler_shared.sigaction = options->sigaction;
    refresh_modules = options->refresh;
    next_refresh = 0;
    if (slots_begin(slots, options->max_depth) != 0 || rules_begin() != 0 ||
        learn_begin() != 0)
        return -1;
    handler_shared.pid = options->pid;
    return is_first ? handler_install() : 0;
}

int
suspend_ask(uint32_t index, pid_t tid, uint32_t sequence)
{
    uint64_t cookie = cookie_make(handler_shared.secret, index, sequence);
    return (int)sys_queue_signal(handler_shared.pid, tid, handler_shared.signo,
                                 HANDLER_CODE, cookie);
}

bool
suspend_was_refused(uint32_t index, uint32_t sequence)
{
    return atomic_load(&handler_shared.threads[index].refused) == sequence;
}

void
suspend_set_stack(uint32_t index, uint64_t low, uint64_t high, uint64_t pointer)
{
    struct handler_thread *thread = &handler_shared.threads[index];
    atomic_store_explicit(&thread->high, 0, memory_order_release);
    atomic_store_explicit(&thread->low, low, memory_order_relaxed);
    atomic_store_explicit(&thread->root, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->pointer, pointer, memory_order_relaxed);
    atomic_store_explicit(&thread->high, high, memory_order_release);
}

/* Learn the rule for the frame where WALK stands. Unknown memory may be code
 * that is new: look again. A leaf's pc surely is; a return address may be no
 * more than a wrong word on the stack, and only a part of the time is spent on
 * those.
 */
static void
learn(const struct walk *walk)
{
    uint64_t start = clock_now();
    uint64_t pc = walk->regs.pc - walk->is_return;
    if (modules_code_kind(pc) == CODE_NONE &&
        (!walk->is_return || start >= next_refresh)) {
        refresh_modules();
        uint64_t end = clock_now();
        next_refresh = end + REFRESH_SHARE * (end - start);
    }
    learn_rule(pc);
}

/* Undo a frame that has no simple rule. */
static enum walk_outcome
step_hard(struct slot *slot, struct view *view)
{
    struct walk *walk = &slot->walk;
    struct regs caller;
    bool is_root;
    if (learn_step(slot->registers, walk->depth - 1, walk->regs.pc, view,
                   &caller, &is_root) != 0) {
        walk->cut = CUT_NO_RULE;
        return WALK_CUT;
    }
    return is_root ? WALK_ROOT : walk_step_to(walk, &caller);
}

/* Remember how far the stacks of a thread reach: what must be copied of them.
 */
static void
note_root(const struct slot *slot)
{
    struct handler_thread *thread = &handler_shared.threads[slot->thread];
    uint64_t end = slot->walk.regs.sp + 64;
    if (end > atomic_load_explicit(&thread->root, memory_order_relaxed) &&
        end < atomic_load_explicit(&thread->high, memory_order_relaxed))
        atomic_store_explicit(&thread->root, end, memory_order_relaxed);
}

/* Walk on in VIEW until the stack ends, learning each rule that is missing. */
static void
finish_walk(struct slot *slot, struct view *view)
{
    struct walk *walk = &slot->walk;
    uint64_t until = clock_now() + SERVE_NS;
    for (;;) {
        enum walk_outcome outcome = walk_run(walk, view);
        if (outcome == WALK_HARD)
            outcome = step_hard(slot, view);
        if (outcome == WALK_MISS)
            learn(walk);
        else if (outcome == WALK_ROOT)
            note_root(slot);
        if (outcome == WALK_ROOT || outcome == WALK_CUT)
            return;
        if (clock_now() > until) {
            walk->cut = CUT_DEADLINE;
            return;
        }
    }
}

void
suspend_finish(struct slot *slot)
{
    struct view view;
    if (!slot->unfinished)
        return;
    slot->unfinished = false;
    view_begin_copy(&view, slot->copy_start, slot->copied, slot->copy);
    finish_walk(slot, &view);
}

static void
serve(struct slot *slot)
{
    /* The target is parked, and its registers are in the slot. */
    uint32_t depth = slot->walk.depth;
    struct view view;
    view_begin(&view, 0, 0, slot->window);
    if (!modules_are_settled())
        refresh_modules();
    finish_walk(slot, &view);
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

void
suspend_serve(void)
{
    for (uint32_t i = 0; i < slots_used(); i++)
        if (slot_move(slots_at(i), SLOT_PARKED, SLOT_SERVING))
            serve(slots_at(i));
}

void
suspend_wait(uint64_t until)
{
    uint32_t heard = atomic_load(&handler_shared.bell);
    suspend_serve();
    sys_futex_wait(&handler_shared.bell, heard, until);
    suspend_serve();
}

void
suspend_ring(void)
{
    atomic_fetch_add(&handler_shared.bell, 1);
    sys_futex_wake(&handler_shared.bell, 1);
}

void
suspend_program_action(const struct sigaction *action, struct sigaction *old)
{
    uint32_t current = atomic_load(&handler_shared.current);
    if (old != NULL)
        *old = handler_shared.program[current];
    if (action != NULL) {
        handler_shared.program[!current] = *action;
        atomic_store(&handler_shared.current, !current);
    }
}
