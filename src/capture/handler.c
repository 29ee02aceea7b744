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
 */
#include <stddef.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "base/thread_local.h"
#include "base/words.h"
#include "signals/alternate.h"
#include "signals/deliver.h"
#include "signals/mask_sync.h"
#include "signals/restart.h"
#include "signals/signals.h"
#include "signals/stray.h"
#include "ask.h"
#include "fill.h"
#include "measured.h"
#include "origin.h"
#include "shared.h"
#include "handler.h"
#include "base/poison.h"

/* How long a thread stands still at most, in ns. No profile takes that long to
 * write. */
#define FREEZE_NS 140000000000u

/* CPU time of the thread before which it takes no sample of itself, in ns. A
 * walk of 100,000 frames takes longer than a period. Without this rest, such a
 * thread would do nothing but walk. */
static __thread uint64_t rested_clock;

/* Set when the thread's age, in periods before perf's first sample, is over
 * OLD_TIMES. From then on its age does not matter, and its clock need not be
 * read: that is a system call. */
static __thread bool is_old;
#define OLD_TIMES 8u

/* A walk that takes longer, in ns, must be followed by a rest: REST_TIMES as
 * much CPU time of the program's own. */
#define LONG_WALK_NS 20000u
#define REST_TIMES 8u

/* Note that the question COOKIE is answered without a sample. */
static void
refuse_question(uint64_t cookie, enum loss cause)
{
    uint32_t index = (uint32_t)(cookie >> COOKIE_BITS) & COOKIE_MASK;
    if (index < shared.thread_count)
        atomic_store(&shared.threads[index].refused,
                     ((uint32_t)cookie & COOKIE_MASK) | (uint32_t)cause
                                                            << COOKIE_BITS);
}

/* Answer the question COOKIE of the sampler with a sample. */
static void
answer_question(uint64_t cookie, bool has_words, const ucontext_t *context)
{
    uint32_t index = (uint32_t)(cookie >> COOKIE_BITS) & COOKIE_MASK;
    uint32_t sequence = (uint32_t)cookie & COOKIE_MASK;
    uint64_t start = clock_now();
    struct slot *slot = index < shared.thread_count ? slots_claim(index) : NULL;
    if (slot == NULL) {
        refuse_question(cookie, LOSS_RING_FULL);
        return;
    }
    slot->thread = index;
    slot->tid = 0;
    slot->time = start;
    slot->clock = CLOCK_NONE;
    slot->sequence = sequence;
    fill_slot(slot, TRIGGER_ASK, has_words, context);
}

/* Count a sample of a thread's own clock, and ring the bell if as many have
 * come as ring it. The sampler also comes without the bell. */
static void
count_own_sample(void)
{
    uint32_t taken =
        atomic_fetch_add_explicit(&shared.own_taken, 1, memory_order_relaxed);
    uint32_t ring =
        atomic_load_explicit(&shared.own_ring, memory_order_relaxed);
    if (taken + 1 != ring)
        return;
    ask_ring();
}

/* Whether the thread INDEX has registered itself. If only registered threads
 * are wanted, the sampler gives an index to no other thread. */
static bool
is_registered(uint32_t index, bool has_words)
{
    return has_words ? shared_is_registered : index < shared.thread_count;
}

static uint64_t
read_rest(uint32_t index, bool has_words)
{
    if (has_words)
        return rested_clock;
    const struct shared_thread *thread = shared_thread_at(index);
    return thread != NULL ? atomic_load(&thread->rested_clock) : 0;
}

static void
set_rest(uint32_t index, bool has_words, uint64_t clock)
{
    if (has_words)
        rested_clock = clock;
    else if (index < shared.thread_count)
        atomic_store(&shared.threads[index].rested_clock, clock);
}

static uint64_t
present_period(void)
{
    return atomic_load_explicit(&shared.period, memory_order_relaxed);
}

/* Whether a sample at CPU time CLOCK is not wanted. What perf samples too is
 * left to perf, once perf has begun. A thread that has just walked for long
 * must rest. */
static bool
is_unwanted(enum cookie_own kind, uint32_t index, uint64_t clock,
            bool has_words, const ucontext_t *context)
{
    if (settings_registered_only(shared.settings) &&
        !is_registered(index, has_words))
        return true;
    if (has_words && measured_is_on())
        return true;
    if (clock < read_rest(index, has_words)) {
        shared_lose(LOSS_THROTTLED);
        return true;
    }
    /* Perf's first sample of a thread comes after a period. */
    if (kind != COOKIE_TIMER_KERNEL || clock <= present_period() ||
        arch_is_at_call(arch_register(context, ARCH_PC)))
        return false;
    if (index < shared.thread_count)
        atomic_fetch_add_explicit(&shared.threads[index].user_ticks, 1,
                                  memory_order_relaxed);
    return true;
}

/* The thread's CPU clock in ns, or CLOCK_NONE if it does not matter. */
static uint64_t
read_clock(enum cookie_own kind, bool has_words)
{
    if (!has_words)
        return clock_own();
    if (is_old && rested_clock == 0 && kind == COOKIE_PERF)
        return CLOCK_NONE;
    uint64_t clock = clock_own();
    is_old = clock > OLD_TIMES * present_period();
    return clock;
}

/* Take a sample because the thread's own CPU clock has expired. */
static void
sample_itself(enum cookie_own kind, bool has_words, const ucontext_t *context)
{
    pid_t tid = has_words ? thread_local_tid() : sys_gettid();
    uint32_t index = shared_index_of(tid);
    uint64_t start = clock_now(), clock = read_clock(kind, has_words);
    if (is_unwanted(kind, index, clock, has_words, context))
        return;
    /* Neighbouring tids begin their search far from each other. */
    struct slot *slot = slots_claim((uint32_t)tid * 37u);
    if (slot == NULL) {
        shared_lose(LOSS_RING_FULL);
        return;
    }
    slot->thread = index;
    slot->tid = tid;
    slot->time = start;
    slot->clock = clock;
    slot->sequence = 0;
    fill_slot(slot, kind == COOKIE_PERF ? TRIGGER_PERF : TRIGGER_TIMER,
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
    struct shared_thread *thread =
        shared_thread_at((uint32_t)(question >> COOKIE_BITS) & COOKIE_MASK);
    if (thread != NULL)
        atomic_store_explicit(&thread->asked, 0, memory_order_relaxed);
}

/* Whether threads must stand still. ask_thaw ends that. */
static bool
is_frozen(void)
{
    return atomic_load(&shared.frozen) != 0;
}

/* Keep the thread here, because the process is about to end. */
static void
stand_still(void)
{
    uint64_t until = clock_now() + FREEZE_NS;
    while (is_frozen() && clock_now() < until)
        sys_futex_wait(&shared.frozen, 1, until);
}

/* Handle our signal, which the program must not see. IS_LATE: its number was
 * given back, and the mask may be another than a walk needs. */
static void
take_own(uint64_t question, enum cookie_own kind, bool is_late, bool has_words,
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
        shared_lose(LOSS_UNFIT);
    else
        sample_itself(kind, has_words, context);
}

ARCH_SIGNAL_ENTRY void
handler_run(int signo, siginfo_t *info, void *context)
{
    if ((signals_closed() & signals_bit(signo)) != 0 && shared.request(info))
        return;
    bool is_late = (signals_borrowed() & signals_bit(signo)) == 0;
    bool has_words = words_are_there();
    bool is_main = has_words && thread_local_tid() == shared.pid;
    uint64_t question = 0;
    enum cookie_own kind = 0;
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
