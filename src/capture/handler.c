/* SPDX-License-Identifier: MIT */
/*
 * handler.c -- the target thread's half of a capture. Runs in the signal
 * handler, on the target's stack, which may be small: well under 1 KiB, no
 * allocation, no lock, no libc but clock_gettime; errno is never touched. The
 * thread may have no thread-local words (base/words.h): what is kept in them is
 * asked of the kernel then, or looked up by the thread's index.
 *
 * The hard thing is to leave in time: a handler that had to park waits for the
 * sampler, but never longer than its deadline, whatever has become of that
 * thread.
 */
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sample.h"
#include "base/sys.h"
#include "target/modules.h"
#include "base/words.h"
#include "alternate.h"
#include "deliver.h"
#include "handler.h"
#include "interrupted.h"
#include "measured.h"
#include "nested.h"
#include "origin.h"
#include "rules.h"
#include "self.h"
#include "settle.h"
#include "signals.h"
#include "slot.h"
#include "stack_copy.h"
#include "stray.h"
#include "walk.h"
#include "poison.h"

/* Longer than any profile takes to be written. */
#define FREEZE_NS 140000000000u

struct handler_shared handler_shared;
__thread volatile bool handler_thread_registered;

/* The thread's CPU clock before which it takes no sample of itself: a walk of
 * 100,000 frames takes longer than a period, and a thread that did nothing else
 * would never go on. */
static __thread uint64_t rested_clock;

/* The thread has used so much CPU time that its age does not matter: reading
 * its clock is a system call. */
static __thread bool is_old;
#define OLD_TIMES 8u

/* Where the stack begins that the thread was given, 0: it was given none. */
static __thread uint64_t given_stack;

/* A walk that takes longer must be followed by so many times as much CPU time
 * of the program's own. */
#define LONG_WALK_NS 20000u
#define REST_TIMES 8u

/* What is known of the thread that SLOT is of; NULL if nothing is yet. */
static struct handler_thread *
thread_of(const struct slot *slot)
{
    return slot->thread < handler_shared.thread_count
               ? &handler_shared.threads[slot->thread]
               : NULL;
}

/* Let the view read the thread's own stack directly, if that is where the
 * walk starts and the thread is still the one that its index names. */
static void
begin_view(struct view *view, const struct slot *slot)
{
    struct handler_thread *thread = thread_of(slot);
    if (thread == NULL || slot->thread_pointer == 0) {
        view_begin(view, 0, 0, 0, slot->window);
        return;
    }
    uint64_t low = atomic_load_explicit(&thread->low, memory_order_relaxed);
    uint64_t high = atomic_load_explicit(&thread->high, memory_order_acquire);
    uint64_t pointer =
        atomic_load_explicit(&thread->pointer, memory_order_relaxed);
    if (pointer != slot->thread_pointer || slot->sp < low || slot->sp >= high ||
        slot->sp < given_stack)
        low = high = 0;
    view_begin(view, low, high, slot->sp, slot->window);
}

/* Whether the thread was woken from a system call, or is about to make one or
 * has just left it: the pc is behind the instruction, or on it, where the
 * kernel sets it back to when the call is to be restarted (signal(7)). A second
 * byte is looked at only if the first says that it belongs to the instruction.
 */
static bool
is_at_syscall(uint64_t pc)
{
    const uint8_t *code = (const uint8_t *)pc;
    if (code[0] == 0x0f && code[1] == 0x05)
        return true;
    return (pc & 4095) >= 2 && code[-2] == 0x0f && code[-1] == 0x05;
}

/* Wait in PARKED until served or until the deadline. Returns with the slot in
 * our hands (true), or left behind to the sampler (false). */
static bool
park(struct slot *slot)
{
    uint64_t until = slot->time + PARK_NS;
    slot->parked = true;
    atomic_store_explicit(&slot->state, SLOT_PARKED, memory_order_release);
    atomic_fetch_add(&handler_shared.parks, 1);
    atomic_fetch_add(&handler_shared.bell, 1);
    sys_futex_wake(&handler_shared.bell, 1);
    for (;;) {
        uint32_t state =
            atomic_load_explicit(&slot->state, memory_order_acquire);
        /* The sampler has what it wants, and touches the slot no more. */
        if (state == SLOT_SERVED)
            return true;
        if (clock_now() < until) {
            sys_futex_wait(&slot->state, state, until);
            continue;
        }
        /* Nobody came: the slot is ours again, with a stack that is cut. */
        if (slot_move(slot, SLOT_PARKED, SLOT_CLAIMED)) {
            slot->walk.cut = CUT_DEADLINE;
            return true;
        }
        /* The sampler is at it: it will find that we have left. */
        if (slot_move(slot, SLOT_SERVING, SLOT_LEFT))
            return false;
        /* All slots were emptied: a sampler has begun anew. */
        if (state == SLOT_FREE)
            return false;
    }
}

/* Whether what the sampler may find out is worth waiting for: of a pc that it
 * has looked at already, it is not. */
static bool
is_worth_waiting(const struct slot *slot, enum walk_outcome outcome)
{
    uint64_t pc = slot->walk.regs.pc - slot->walk.is_return;
    return outcome != WALK_LOST || rule_kind(rules_find(pc)) != RULE_GUESS;
}

/* The walk needs what only the sampler can do. Returns as park does. */
static bool
leave_to_sampler(struct slot *slot, const struct view *view,
                 const ucontext_t *context, enum walk_outcome outcome)
{
    memcpy(slot->registers, context->uc_mcontext.gregs,
           sizeof(slot->registers));
    /* A view with bounds is of a thread that is known. */
    uint64_t root = view->high == 0
                        ? 0
                        : atomic_load_explicit(&thread_of(slot)->root,
                                               memory_order_relaxed);
    if (stack_copy(slot, view, root))
        slot->unfinished = true;
    else if (is_worth_waiting(slot, outcome))
        return park(slot);
    return true;
}

/* What the thread's words tell. A stack is read directly only where the thread
 * pointer says whose it is, so not if there are none. */
static void
describe_thread(struct slot *slot, bool has_words)
{
    if (has_words) {
        slot->label = self_label();
        slot->thread_pointer = arch_thread_pointer();
        slot->cpu = sched_getcpu();
        return;
    }
    unsigned cpu = 0;
    slot->label = self_label_of(sys_gettid());
    slot->thread_pointer = 0;
    arch_syscall(SYS_getcpu, (long)&cpu, 0, 0, 0, 0, 0);
    slot->cpu = (int)cpu;
}

static void
begin_slot(struct slot *slot, enum trigger trigger, bool has_words,
           const ucontext_t *context)
{
    struct regs regs;
    slot->trigger = (uint8_t)trigger;
    slot->parked = slot->unfinished = false;
    describe_thread(slot, has_words);
    arch_regs(context, &regs);
    slot->sp = regs.sp;
    slot->in_syscall = is_at_syscall(regs.pc);
    walk_begin(&slot->walk, &regs);
}

/* Walk the stack into SLOT, whose thread is known. Returns whether it is ours
 * still, to be given to the sampler. */
static bool
walk_into(struct slot *slot, enum trigger trigger, bool has_words,
          const ucontext_t *context)
{
    struct view view;
    begin_slot(slot, trigger, has_words, context);
    begin_view(&view, slot);
    /* While modules change, rules may be stale: only the sampler knows what a
     * pc means now. */
    enum walk_outcome outcome =
        modules_are_settled() ? walk_run(&slot->walk, &view) : WALK_MISS;
    bool is_missing =
        outcome == WALK_MISS || outcome == WALK_HARD || outcome == WALK_LOST;
    return !is_missing || leave_to_sampler(slot, &view, context, outcome);
}

void
handler_fill(struct slot *slot, enum trigger trigger, bool has_words,
             const ucontext_t *context)
{
    struct nested_mark mark;
    nested_enter(&mark, slot, has_words, context);
    bool is_walked = walk_into(slot, trigger, has_words, context);
    if (!nested_leave(&mark, slot, has_words) || !is_walked)
        return;
    slot->stopped = (uint32_t)(clock_now() - slot->time);
    atomic_store_explicit(&slot->state, SLOT_DONE, memory_order_release);
}

/* The question COOKIE has no answer. */
static void
refuse(uint64_t cookie, enum loss cause)
{
    uint32_t index = (uint32_t)(cookie >> COOKIE_BITS) & COOKIE_MASK;
    if (index < handler_shared.thread_count)
        atomic_store(&handler_shared.threads[index].refused,
                     ((uint32_t)cookie & COOKIE_MASK) | (uint32_t)cause
                                                            << COOKIE_BITS);
}

void
handler_lose(enum loss cause)
{
    atomic_fetch_add_explicit(&handler_shared.own_lost[cause], 1,
                              memory_order_relaxed);
}

/* The sampler asked. */
static void
answer(uint64_t cookie, bool has_words, const ucontext_t *context)
{
    uint32_t index = (uint32_t)(cookie >> COOKIE_BITS) & COOKIE_MASK;
    uint32_t sequence = (uint32_t)cookie & COOKIE_MASK;
    uint64_t start = clock_now();
    struct slot *slot =
        index < handler_shared.thread_count ? slots_claim(index) : NULL;
    if (slot == NULL) {
        refuse(cookie, LOSS_RING_FULL);
        return;
    }
    slot->thread = index;
    slot->tid = 0;
    slot->time = start;
    slot->clock = CLOCK_NONE;
    slot->sequence = sequence;
    handler_fill(slot, TRIGGER_ASK, has_words, context);
}

/* The sampler comes by itself, but not often if nothing seems to happen. */
static void
count_own_sample(void)
{
    uint32_t taken = atomic_fetch_add_explicit(&handler_shared.own_taken, 1,
                                               memory_order_relaxed);
    uint32_t ring =
        atomic_load_explicit(&handler_shared.own_ring, memory_order_relaxed);
    if (taken + 1 != ring)
        return;
    atomic_fetch_add(&handler_shared.bell, 1);
    sys_futex_wake(&handler_shared.bell, 1);
}

uint32_t
handler_index_of(pid_t tid)
{
    if ((uint32_t)tid >= handler_shared.tid_count)
        return SLOT_NO_THREAD;
    return atomic_load_explicit(&handler_shared.index_of_tid[tid],
                                memory_order_acquire) -
           1;
}

/* The thread INDEX has registered itself. The sampler gives an index to no
 * other, if only those are wanted. */
static bool
is_registered(uint32_t index, bool has_words)
{
    return has_words ? handler_thread_registered
                     : index < handler_shared.thread_count;
}

static uint64_t
read_rest(uint32_t index, bool has_words)
{
    if (has_words)
        return rested_clock;
    return index < handler_shared.thread_count
               ? atomic_load(&handler_shared.threads[index].rested_clock)
               : 0;
}

static void
set_rest(uint32_t index, bool has_words, uint64_t clock)
{
    if (has_words)
        rested_clock = clock;
    else if (index < handler_shared.thread_count)
        atomic_store(&handler_shared.threads[index].rested_clock, clock);
}

/* Whether a sample at CPU time CLOCK is not wanted: what perf sees too is left
 * to it, once it has begun; and who has just walked for long must rest. */
static bool
is_unwanted(enum handler_own kind, uint32_t index, uint64_t clock,
            bool has_words, const ucontext_t *context)
{
    if (handler_shared.registered_only && !is_registered(index, has_words))
        return true;
    if (has_words && measured_is_on())
        return true;
    if (clock < read_rest(index, has_words)) {
        handler_lose(LOSS_THROTTLED);
        return true;
    }
    if (kind != HANDLER_OWN_TIMER_KERNEL || clock <= handler_shared.young ||
        is_at_syscall((uint64_t)context->uc_mcontext.gregs[REG_RIP]))
        return false;
    if (index < handler_shared.thread_count)
        atomic_fetch_add_explicit(&handler_shared.threads[index].user_ticks, 1,
                                  memory_order_relaxed);
    return true;
}

/* The thread's CPU clock, or CLOCK_NONE if it does not matter. */
static uint64_t
read_clock(enum handler_own kind, bool has_words)
{
    if (!has_words)
        return clock_own();
    if (is_old && rested_clock == 0 && kind == HANDLER_OWN_PERF)
        return CLOCK_NONE;
    uint64_t clock = clock_own();
    is_old = clock > OLD_TIMES * handler_shared.young;
    return clock;
}

/* The thread's own CPU clock says that it is time. */
static void
sample_itself(enum handler_own kind, bool has_words, const ucontext_t *context)
{
    pid_t tid = has_words ? self_tid() : sys_gettid();
    uint32_t index = handler_index_of(tid);
    uint64_t start = clock_now(), clock = read_clock(kind, has_words);
    if (is_unwanted(kind, index, clock, has_words, context))
        return;
    /* Neighbouring tids begin their search far from each other. */
    struct slot *slot = slots_claim((uint32_t)tid * 37u);
    if (slot == NULL) {
        handler_lose(LOSS_RING_FULL);
        return;
    }
    slot->thread = index;
    slot->tid = tid;
    slot->time = start;
    slot->clock = clock;
    slot->sequence = 0;
    handler_fill(slot, kind == HANDLER_OWN_PERF ? TRIGGER_PERF : TRIGGER_TIMER,
                 has_words, context);
    count_own_sample();
    if (clock_now() - start > LONG_WALK_NS) {
        uint64_t end = clock_own();
        /* Wall time says more than the walk took, if the thread lost its CPU.
         */
        uint64_t took = clock == CLOCK_NONE ? LONG_WALK_NS : end - clock;
        set_rest(index, has_words, end + REST_TIMES * took);
    } else {
        set_rest(index, has_words, 0);
    }
}

static struct handler_thread *
thread_at(uint32_t index)
{
    return index < handler_shared.thread_count ? &handler_shared.threads[index]
                                               : NULL;
}

static void
forget_asked(uint64_t question)
{
    struct handler_thread *thread =
        thread_at((uint32_t)(question >> COOKIE_BITS) & COOKIE_MASK);
    if (thread != NULL)
        atomic_store_explicit(&thread->asked, 0, memory_order_relaxed);
}

/* Whether a thread that is told so may stand still: somebody will end that. */
static bool
is_frozen(void)
{
    return atomic_load(&handler_shared.frozen) != 0;
}

/* The process is about to end. */
static void
stand_still(void)
{
    uint64_t until = clock_now() + FREEZE_NS;
    while (is_frozen() && clock_now() < until)
        sys_futex_wait(&handler_shared.frozen, 1, until);
}

/* A signal of ours, which nobody else may see. If its number has been given
 * back it comes late, and perhaps under another mask than a walk needs. */
static void
take_own(uint64_t question, enum handler_own kind, bool is_late, bool has_words,
         const ucontext_t *context)
{
    if (question != 0)
        forget_asked(question);
    uint64_t index = question >> COOKIE_BITS & COOKIE_MASK;
    if (index == COOKIE_SETTLE)
        return;
    if (index == COOKIE_FREEZE)
        stand_still();
    else if (question != 0 && is_late)
        refuse(question, LOSS_UNFIT);
    else if (question != 0)
        answer(question, has_words, context);
    else if (is_late)
        handler_lose(LOSS_UNFIT);
    else
        sample_itself(kind, has_words, context);
}

ARCH_SIGNAL_ENTRY void
handler_run(int signo, siginfo_t *info, void *context)
{
    if ((signals_closed() & signals_bit(signo)) != 0 &&
        handler_shared.request(info))
        return;
    bool is_late = (signals_borrowed() & signals_bit(signo)) == 0;
    bool has_words = words_are_there();
    uint64_t question = 0;
    enum handler_own kind = 0;
    if (has_words && self_tid() == handler_shared.pid)
        stray_note_mask(
            signals_word(&((const ucontext_t *)context)->uc_sigmask));
    if (origin_is_question(info, &question) ||
        origin_is_bare_question(info, &question) ||
        origin_is_own_clock(signo, info, &kind)) {
        take_own(question, kind, is_late, has_words, context);
        settle_in(context);
        interrupted_by_ours(context);
    } else if (info->si_code != HANDLER_CODE && !origin_is_tracer(info)) {
        deliver_to_program(signo, info, context);
    }
}

void
handler_know_stack(uint64_t start)
{
    given_stack = start;
}

void
handler_know_thread(bool is_old_thread)
{
    self_begin();
    /* Now, and not when a filter of the program's may forbid system calls. */
    (void)words_are_there();
    is_old = is_old_thread;
    /* In the child of a fork the CPU clock begins at 0 again, and the thread
     * has another number. */
    rested_clock = 0;
    if (is_old_thread)
        alternate_note();
}
