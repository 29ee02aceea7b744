/* SPDX-License-Identifier: MIT */
/*
 * handler.c -- the target thread's half of a capture. It runs in the signal
 * handler, on the target's stack, which may be small. It uses well under 1 KiB
 * of stack. It allocates nothing, takes no lock, and never touches errno. Of
 * libc it calls only functions that do the same, as clock_gettime does.
 *
 * Its thread-local variables are in static TLS: no access to one of them calls
 * a function that may allocate. A thread may have no thread-local words at all
 * (base/words.h). Then the kernel is asked for what they hold, or it is looked
 * up by the thread's index.
 *
 * The hard thing is to leave in time. A handler that had to park waits for the
 * sampler, but never longer than its deadline, whatever the sampler does.
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
#include "base/words.h"
#include "process/modules.h"
#include "signals/alternate.h"
#include "signals/deliver.h"
#include "signals/mask_sync.h"
#include "signals/restart.h"
#include "signals/signals.h"
#include "unwind/rules.h"
#include "unwind/walk.h"
#include "measured.h"
#include "signals/nested.h"
#include "origin.h"
#include "slot.h"
#include "stack_copy.h"
#include "signals/stray.h"
#include "base/thread_local.h"
#include "handler.h"
#include "base/poison.h"

/* How long a thread stands still at most, in ns. No profile takes that long to
 * write. */
#define FREEZE_NS 140000000000u

static const struct options no_options;
static const struct settings no_settings = {.options = &no_options};
struct handler_shared handler_shared = {.settings = &no_settings};
__thread volatile bool handler_thread_registered;

/* CPU time of the thread before which it takes no sample of itself, in ns. A
 * walk of 100,000 frames takes longer than a period. Without this rest, such a
 * thread would do nothing but walk. */
static __thread uint64_t rested_clock;

/* Set when the thread's age, in periods before perf's first sample, is over
 * OLD_TIMES. From then on its age does not matter, and its clock need not be
 * read: that is a system call. */
static __thread bool is_old;
#define OLD_TIMES 8u

/* Start of the stack that the thread was given. 0: it was given none. */
static __thread uint64_t given_stack;

/* A walk that takes longer, in ns, must be followed by a rest: REST_TIMES as
 * much CPU time of the program's own. */
#define LONG_WALK_NS 20000u
#define REST_TIMES 8u

/* What is known of the thread INDEX. NULL: nothing yet. */
static struct handler_thread *
thread_at(uint32_t index)
{
    return index < handler_shared.thread_count ? &handler_shared.threads[index]
                                               : NULL;
}

/* Begin VIEW. It reads the thread's own stack directly if the walk starts
 * there, and the thread is still the one that its index names. MASK must not
 * block the signal that an unreadable page raises. */
static void
begin_view(struct view *view, const struct slot *slot, uint64_t mask)
{
    struct handler_thread *thread = thread_at(slot->thread);
    if (thread == NULL || slot->thread_pointer == 0 ||
        (mask & NESTED_READS) != 0) {
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

/* Whether the thread was woken from a system call, is about to make one, or has
 * just left one. The pc is then behind the instruction, or on it: the kernel
 * sets the pc back when the call is to be restarted (signal(7)). The second
 * byte is read only if the first one belongs to the instruction. */
static bool
is_at_syscall(uint64_t pc)
{
    const uint8_t *code = (const uint8_t *)pc;
    if (code[0] == 0x0f && code[1] == 0x05)
        return true;
    return (pc & 4095) >= 2 && code[-2] == 0x0f && code[-1] == 0x05;
}

/* Wait in PARKED until served or until the deadline. Returns true if the slot
 * is the handler's again, false if it is left to the sampler. */
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
        /* The sampler did not come: the slot is ours again, with a stack that
         * is cut. */
        if (slot_move(slot, SLOT_PARKED, SLOT_CLAIMED)) {
            slot->walk.cut = CUT_DEADLINE;
            return true;
        }
        /* The sampler is working on the slot. It will find that we have left.
         */
        if (slot_move(slot, SLOT_SERVING, SLOT_LEFT))
            return false;
        /* All slots were emptied: a new sampler has begun. */
        if (state == SLOT_FREE)
            return false;
    }
}

/* Whether it is worth waiting for the sampler. It is not where the sampler has
 * already looked at the pc. */
static bool
is_worth_waiting(const struct slot *slot, enum walk_outcome outcome)
{
    uint64_t pc = slot->walk.regs.pc - slot->walk.is_return;
    return outcome != WALK_LOST || rule_kind(rules_find(pc)) != RULE_GUESS;
}

/* Leave to the sampler a walk that only the sampler can go on with. Returns as
 * park does. */
static bool
leave_to_sampler(struct slot *slot, const struct view *view,
                 const ucontext_t *context, enum walk_outcome outcome)
{
    memcpy(slot->registers, context->uc_mcontext.gregs,
           sizeof(slot->registers));
    /* Only a view of a known thread has bounds. */
    uint64_t root = view->high == 0
                        ? 0
                        : atomic_load_explicit(&thread_at(slot->thread)->root,
                                               memory_order_relaxed);
    if (stack_copy(slot, view, root))
        slot->unfinished = true;
    else if (is_worth_waiting(slot, outcome))
        return park(slot);
    return true;
}

/* Note in SLOT what the thread's words tell. Without words the thread pointer
 * does not say whose stack it is, so the stack is not read directly. */
static void
describe_thread(struct slot *slot, bool has_words)
{
    if (has_words) {
        slot->label = thread_local_label();
        slot->thread_pointer = arch_thread_pointer();
        slot->cpu = sched_getcpu();
        return;
    }
    unsigned cpu = 0;
    slot->label = thread_local_label_of(sys_gettid());
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

/* Walk the stack into SLOT, whose thread is set. Returns whether SLOT is still
 * the handler's, which then gives it to the sampler. */
static bool
walk_into(struct slot *slot, enum trigger trigger, bool has_words,
          const ucontext_t *context)
{
    struct view view;
    begin_slot(slot, trigger, has_words, context);
    begin_view(&view, slot, signals_word(&context->uc_sigmask));
    /* While modules change, rules may be stale. Only the sampler then knows
     * what a pc means. */
    enum walk_outcome outcome =
        modules_are_current() ? walk_run(&slot->walk, &view) : WALK_MISS;
    bool is_missing =
        outcome == WALK_MISS || outcome == WALK_HARD || outcome == WALK_LOST;
    return !is_missing || leave_to_sampler(slot, &view, context, outcome);
}

void
handler_fill(struct slot *slot, enum trigger trigger, bool has_words,
             const ucontext_t *context)
{
    struct nested_mark mark;
    nested_enter(&mark, &slot->mark, slot->time, has_words, context);
    bool is_walked = walk_into(slot, trigger, has_words, context);
    if (!nested_leave(&mark, &slot->mark, has_words) || !is_walked)
        return;
    slot->stopped = (uint32_t)(clock_now() - slot->time);
    atomic_store_explicit(&slot->state, SLOT_DONE, memory_order_release);
}

/* Note that the question COOKIE is answered without a sample. */
static void
refuse_question(uint64_t cookie, enum loss cause)
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

/* Answer the question COOKIE of the sampler with a sample. */
static void
answer_question(uint64_t cookie, bool has_words, const ucontext_t *context)
{
    uint32_t index = (uint32_t)(cookie >> COOKIE_BITS) & COOKIE_MASK;
    uint32_t sequence = (uint32_t)cookie & COOKIE_MASK;
    uint64_t start = clock_now();
    struct slot *slot =
        index < handler_shared.thread_count ? slots_claim(index) : NULL;
    if (slot == NULL) {
        refuse_question(cookie, LOSS_RING_FULL);
        return;
    }
    slot->thread = index;
    slot->tid = 0;
    slot->time = start;
    slot->clock = CLOCK_NONE;
    slot->sequence = sequence;
    handler_fill(slot, TRIGGER_ASK, has_words, context);
}

/* Count a sample of a thread's own clock, and ring the bell if as many have
 * come as ring it. The sampler also comes without the bell. */
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

/* Whether the thread INDEX has registered itself. If only registered threads
 * are wanted, the sampler gives an index to no other thread. */
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

/* Whether a sample at CPU time CLOCK is not wanted. What perf samples too is
 * left to perf, once perf has begun. A thread that has just walked for long
 * must rest. */
static bool
is_unwanted(enum handler_own kind, uint32_t index, uint64_t clock,
            bool has_words, const ucontext_t *context)
{
    if (settings_registered_only(handler_shared.settings) &&
        !is_registered(index, has_words))
        return true;
    if (has_words && measured_is_on())
        return true;
    if (clock < read_rest(index, has_words)) {
        handler_lose(LOSS_THROTTLED);
        return true;
    }
    /* Perf's first sample of a thread comes after a period. */
    if (kind != HANDLER_OWN_TIMER_KERNEL ||
        clock <= handler_shared.settings->period ||
        is_at_syscall((uint64_t)context->uc_mcontext.gregs[REG_RIP]))
        return false;
    if (index < handler_shared.thread_count)
        atomic_fetch_add_explicit(&handler_shared.threads[index].user_ticks, 1,
                                  memory_order_relaxed);
    return true;
}

/* The thread's CPU clock in ns, or CLOCK_NONE if it does not matter. */
static uint64_t
read_clock(enum handler_own kind, bool has_words)
{
    if (!has_words)
        return clock_own();
    if (is_old && rested_clock == 0 && kind == HANDLER_OWN_PERF)
        return CLOCK_NONE;
    uint64_t clock = clock_own();
    is_old = clock > OLD_TIMES * handler_shared.settings->period;
    return clock;
}

/* Take a sample because the thread's own CPU clock has expired. */
static void
sample_itself(enum handler_own kind, bool has_words, const ucontext_t *context)
{
    pid_t tid = has_words ? thread_local_tid() : sys_gettid();
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
        /* If the thread lost its CPU, wall time is longer than the walk. */
        uint64_t took = clock == CLOCK_NONE ? LONG_WALK_NS : end - clock;
        set_rest(index, has_words, end + REST_TIMES * took);
    } else {
        set_rest(index, has_words, 0);
    }
}

static void
forget_asked(uint64_t question)
{
    struct handler_thread *thread =
        thread_at((uint32_t)(question >> COOKIE_BITS) & COOKIE_MASK);
    if (thread != NULL)
        atomic_store_explicit(&thread->asked, 0, memory_order_relaxed);
}

/* Whether threads must stand still. suspend_thaw ends that. */
static bool
is_frozen(void)
{
    return atomic_load(&handler_shared.frozen) != 0;
}

/* Keep the thread here, because the process is about to end. */
static void
stand_still(void)
{
    uint64_t until = clock_now() + FREEZE_NS;
    while (is_frozen() && clock_now() < until)
        sys_futex_wait(&handler_shared.frozen, 1, until);
}

/* Handle our signal, which the program must not see. IS_LATE: its number was
 * given back, and the mask may be another than a walk needs. */
static void
take_own(uint64_t question, enum handler_own kind, bool is_late, bool has_words,
         ucontext_t *context)
{
    if (question != 0)
        forget_asked(question);
    uint64_t index = question >> COOKIE_BITS & COOKIE_MASK;
    if (index == COOKIE_SETTLE)
        return;
    if (index == COOKIE_FREEZE)
        stand_still();
    else if (index == COOKIE_LEAVE)
        alternate_answer(context);
    else if (question != 0 && is_late)
        refuse_question(question, LOSS_UNFIT);
    else if (question != 0)
        answer_question(question, has_words, context);
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
    bool is_main = has_words && thread_local_tid() == handler_shared.pid;
    uint64_t question = 0;
    enum handler_own kind = 0;
    if (is_main)
        stray_note_mask(
            signals_word(&((const ucontext_t *)context)->uc_sigmask));
    if (origin_is_question(info, &question) ||
        origin_is_bare_question(info, &question) ||
        origin_is_own_clock(signo, info, &kind)) {
        take_own(question, kind, is_late, has_words, context);
        mask_sync_in(context);
        restart_after_ours(context);
    } else if (info->si_code != COOKIE_CODE && !origin_is_tracer(info)) {
        deliver_to_program(signo, info, context);
    }
    if (is_main)
        stray_end_note();
}

void
handler_know_stack(uint64_t start)
{
    given_stack = start;
}

void
handler_know_thread(bool is_old_thread)
{
    thread_local_begin();
    /* Ask now: later a filter of the program may forbid system calls. */
    (void)words_are_there();
    is_old = is_old_thread;
    /* In the child of a fork the CPU clock begins at 0 again, and the thread
     * has another tid. */
    rested_clock = 0;
    if (is_old_thread)
        alternate_note();
}
