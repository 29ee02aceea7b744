/* SPDX-License-Identifier: MIT */
/*
 * handler.c -- the target thread's half of a capture. It runs in the signal
 * handler, on the target's stack, which may be small. It uses well under 1 KiB
 * of stack. It allocates nothing, takes no lock, and never touches errno. It
 * calls only functions of libc that keep the same rules, such as clock_gettime.
 *
 * The signal may be ours, or another sender's of the same number. That one is
 * for the program, whose disposition then acts.
 *
 * Its thread-local variables are in static TLS: no access to one of them calls
 * a function that may allocate. A thread may have no thread-local words at all
 * (base/words.h). Then the kernel is asked for what they hold, or it is looked
 * up by the thread's index.
 */
#include <linux/errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/hot.h"
#include "base/phase.h"
#include "base/proc.h"
#include "base/scheduling.h"
#include "base/sys.h"
#include "base/thread_local.h"
#include "base/words.h"
#include "signals/alternate.h"
#include "signals/cookie.h"
#include "signals/disposition.h"
#include "signals/restart.h"
#include "signals/signals.h"
#include "signals/stray.h"
#include "unwind/learn.h"
#include "unwind/rules.h"
#include "ask.h"
#include "fill.h"
#include "measured.h"
#include "serve.h"
#include "shared.h"
#include "slot.h"
#include "waiting.h"
#include "handler.h"
#include "base/poison.h"

/* Longest time for which a thread stands still, in ns. No profile takes that
 * long to write. */
#define FREEZE_NS 140000000000u

/* ns that a late thaw takes. exit(3) is usually over by then. */
#define THAW_NS 20000000u

/* The slots hold all samples of LATE_NS ns on all CPUs: a sampler among many
 * threads has no CPU for that long. Limits of their number, and of the frames
 * in all slots together. Deeper stacks make fewer slots. */
#define LATE_NS 512000000u
#define SLOTS_LEAST 256u
#define SLOTS_MAX 2048u
#define FRAMES_MAX (8u << 20)
#define SLOTS_MIN 64u

/* CPU time of the thread before which it takes no sample of itself, in ns. A
 * walk of 100,000 frames takes longer than a period. Without this rest, such a
 * thread would do nothing but walk. */
static __thread uint64_t rested_clock;

/* Set when the thread's age, in periods before perf's first sample, is over
 * OLD_TIMES. From then on its age does not matter, and its clock need not be
 * read, which is a system call. */
static __thread bool is_old;
#define OLD_TIMES 8u

/* Samples since the last one at a system call. CLOCKS_AFTER_CALL samples after
 * it read the clocks. Of later samples each CLOCKS_AFTER_CALLth reads them, so
 * that the time of the next call is known. */
#define CLOCKS_AFTER_CALL 32u
static __thread uint8_t since_call = CLOCKS_AFTER_CALL;

/* A thread's CPU clock, and the part of it that the kernel used, in ns. */
struct clocks {
    uint64_t all, kernel;
};

/* Samples of the thread that were lost since its last one. */
static __thread uint32_t owed;

/* The thread has reported its end. */
static __thread bool has_left;

/* After a walk that takes longer, in ns, the thread takes no sample for
 * REST_TIMES that long of its CPU time. */
#define LONG_WALK_NS 20000u
#define REST_TIMES 8u

/* Amounts that are fetched before the walk: lines of the stack, of LINE bytes,
 * and rules of frames of the thread's last sample. */
#define STACK_LINES 4u
#define LINE 64u
#define LAST_FRAMES 32u

/* If as many samples of threads' own clocks have come since the last harvest,
 * the sampler is late and hurries. */
#define OWN_HURRY 32u

/* The frames of the thread's last sample, and their number. They lie in a slot,
 * and may now be those of another thread. */
static __thread const struct frame *last_frames;
static __thread uint32_t last_count;

/* Offset of the event's data in the siginfo of a perf event's signal, in bytes.
 */
#define PERF_DATA_OFFSET 24

/* Whether threads must stand still. ask_thaw ends that. */
static bool
is_frozen(void)
{
    return atomic_load(&shared.frozen) == SHARED_FROZEN;
}

/* Whether the calling thread must stand still. The thread that ends the process
 * never does. */
static bool
is_to_stand(void)
{
    return is_frozen() && sys_gettid() != atomic_load(&shared.ender);
}

/* Whether one of our timers or events sent it. *KIND becomes its kind. */
static bool
is_own_clock(int signo, const siginfo_t *info, enum cookie_own *kind)
{
    uint64_t cookie = 0;
    if (info->si_code == SI_TIMER)
        cookie = (uint64_t)info->si_value.sival_ptr;
    else if (signo == SIGTRAP && info->si_code == SIGNALS_PERF_CODE)
        __builtin_memcpy(&cookie, (const char *)info + PERF_DATA_OFFSET,
                         sizeof(cookie));
    *kind = (enum cookie_own)(uint32_t)cookie;
    return cookie != 0 && cookie == cookie_make_own(*kind);
}

/* Whether the sampler sent it. *COOKIE becomes its question. */
static bool
is_question(const siginfo_t *info, uint64_t *cookie)
{
    if (info->si_code != COOKIE_CODE)
        return false;
    *cookie = (uint64_t)info->si_value.sival_ptr;
    return info->si_pid == shared.pid && *cookie >> 48 == cookie_secret;
}

/* The same, for a question whose cookie was lost on the way. *COOKIE becomes
 * the question that was on its way to this thread. Where too many signals are
 * queued (RLIMIT_SIGPENDING), the kernel still sends one below SIGRTMIN. It
 * then looks as if kill(2) had sent it, without a sender. */
static bool
is_bare_question(const siginfo_t *info, uint64_t *cookie)
{
    if (info->si_code != SI_USER || info->si_pid != 0 || !phase_may_ask())
        return false;
    uint32_t index = shared_index_of(sys_gettid());
    const struct shared_thread *thread = shared_thread_at(index);
    uint32_t asked = thread != NULL ? atomic_load(&thread->asked) : 0;
    bool stands = is_to_stand();
    if (stands)
        index = COOKIE_FREEZE;
    *cookie = cookie_make(index, asked - 1);
    return asked != 0 || stands;
}

/* Whether a debugger sent it. A debugger (ltrace) may hold back our signal for
 * a while, and then send it as its own. */
static bool
is_tracer(const siginfo_t *info)
{
    return info->si_code == SI_USER && info->si_pid != 0 && phase_may_ask() &&
           info->si_pid == proc_tracer();
}

bool
handler_is_ours(int signo, const siginfo_t *info)
{
    uint64_t question;
    enum cookie_own kind;
    return is_question(info, &question) || is_own_clock(signo, info, &kind);
}

/* Answer the question COOKIE without a sample. */
static void
refuse_question(uint64_t cookie, enum loss cause)
{
    uint32_t index = (uint32_t)(cookie >> COOKIE_BITS) & COOKIE_MASK;
    if (index < shared.thread_count)
        atomic_store(&shared.threads[index].refused,
                     ((uint32_t)cookie & COOKIE_MASK) | (uint32_t)cause
                                                            << COOKIE_BITS);
}

/* Whether the clocks must show how many points passed between this sample and
 * the last one. A system call holds back the signal until it returns. */
static HOT bool
may_be_late(const ucontext_t *context)
{
    if (arch_is_at_call(arch_register(context, ARCH_PC)))
        since_call = 0;
    else if (++since_call == 0)
        since_call = CLOCKS_AFTER_CALL;
    return since_call < CLOCKS_AFTER_CALL ||
           since_call % CLOCKS_AFTER_CALL == 0;
}

/* Answer the question COOKIE of the sampler with a sample. */
static void
answer_question(uint64_t cookie, bool has_words, const ucontext_t *context)
{
    uint32_t index = (uint32_t)(cookie >> COOKIE_BITS) & COOKIE_MASK;
    uint32_t sequence = (uint32_t)cookie & COOKIE_MASK;
    uint64_t start = clock_now();
    /* Before the claim, because these calls may fault (seccomp). */
    struct clocks clocks = {CLOCK_NONE, CLOCK_NONE};
    if (has_words && may_be_late(context))
        clocks = (struct clocks){clock_own(), clock_own_kernel()};
    struct slot *slot = index < shared.thread_count ? slots_claim(index) : NULL;
    if (slot == NULL) {
        refuse_question(cookie, LOSS_RING_FULL);
        return;
    }
    waiting_check(&shared.threads[index], arch_register(context, ARCH_SP));
    slot->thread = index;
    slot->tid = 0;
    slot->time = start;
    slot->clock = clocks.all;
    slot->kernel = clocks.kernel;
    slot->owed = 0;
    slot->sequence = sequence;
    fill_slot(slot, TRIGGER_ASK, has_words, context);
}

/* Count a sample of a thread's own clock, and ring the bell if enough have
 * come. The sampler also comes without the bell. */
static void
count_own_sample(void)
{
    uint32_t taken =
        atomic_fetch_add_explicit(&shared.own_taken, 1, memory_order_relaxed);
    uint32_t ring =
        atomic_load_explicit(&shared.own_ring, memory_order_relaxed);
    if (taken + 1 == ring)
        ask_ring();
    if (taken + 1 >= OWN_HURRY)
        scheduling_hurry();
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

/* A sample of the calling thread is lost. Its time belongs to the thread's next
 * sample. */
static void
lose_own(enum loss cause, bool has_words)
{
    if (has_words)
        owed++;
    shared_lose(cause);
}

/* Whether a sample at CPU time CLOCK is not wanted. Once perf has begun,
 * samples that perf takes, too, are left to perf. A thread that has just walked
 * for long must rest. */
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
        lose_own(LOSS_THROTTLED, has_words);
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

/* Read the thread's CPU clocks. They are CLOCK_NONE where they do not matter.
 */
static struct clocks
read_clocks(enum cookie_own kind, bool has_words, const ucontext_t *context)
{
    if (!has_words)
        return (struct clocks){clock_own(), CLOCK_NONE};
    bool is_late = may_be_late(context);
    if (!is_late && is_old && rested_clock == 0 && kind == COOKIE_PERF)
        return (struct clocks){CLOCK_NONE, CLOCK_NONE};
    struct clocks clocks = {clock_own(),
                            is_late ? clock_own_kernel() : CLOCK_NONE};
    is_old = clocks.all > OLD_TIMES * present_period();
    return clocks;
}

/* Where thread TID begins its search for a slot. Neighbouring tids begin far
 * from each other, but within PLACES: the sampler looks at all slots that were
 * ever used. After the slots that were filled since the last harvest the first
 * one is usually free, and after a harvest the same ones are used again. */
#define PLACES 128u
static uint32_t
place_of_next(pid_t tid)
{
    return (uint32_t)tid * 37u % PLACES +
           atomic_load_explicit(&shared.own_taken, memory_order_relaxed);
}

/* Before the clock is read, begin to fetch what is known to be needed: the
 * stack's first lines, and the frames of the thread's last sample. */
static void
fetch_first(bool has_words, const ucontext_t *context)
{
    const char *stack = (const char *)arch_register(context, ARCH_SP);
    for (size_t line = 0; line < STACK_LINES; line++)
        __builtin_prefetch(stack + line * LINE);
    if (!has_words || last_count == 0)
        return;
    const char *frames = (const char *)last_frames;
    for (size_t at = 0; at < LAST_FRAMES * sizeof(*last_frames); at += LINE)
        __builtin_prefetch(frames + at);
}

/* Begin to fetch what the walk will read: each line that is fetched alone makes
 * the thread wait. Most outer frames are those of the last sample. Another
 * thread may be writing to them (ThreadSanitizer): that only costs time. */
static __attribute__((no_sanitize("thread"))) void
fetch_ahead(uint32_t index, uint32_t place, bool has_words,
            const ucontext_t *context)
{
    rules_fetch(arch_register(context, ARCH_PC));
    slots_fetch(place);
    __builtin_prefetch(shared_thread_at(index));
    /* The leaf is usually another one. */
    for (uint32_t i = 1; has_words && i < LAST_FRAMES && i < last_count; i++)
        rules_fetch_exact(frame_lookup(last_frames[i]));
}

/* Take a sample because the thread's own CPU clock has expired. */
static void
sample_itself(enum cookie_own kind, bool has_words, const ucontext_t *context)
{
    pid_t tid = has_words ? thread_local_tid() : sys_gettid();
    uint32_t index = shared_index_of(tid), place = place_of_next(tid);
    fetch_first(has_words, context);
    uint64_t start = clock_now();
    fetch_ahead(index, place, has_words, context);
    struct clocks clocks = read_clocks(kind, has_words, context);
    uint64_t clock = clocks.all;
    if (is_unwanted(kind, index, clock, has_words, context))
        return;
    if (index < shared.thread_count)
        waiting_check(&shared.threads[index], arch_register(context, ARCH_SP));
    struct slot *slot = slots_claim(place);
    if (slot == NULL) {
        lose_own(LOSS_RING_FULL, has_words);
        return;
    }
    rules_fetch_more(arch_register(context, ARCH_PC));
    slot->thread = index;
    slot->tid = tid;
    slot->time = start;
    slot->clock = clock;
    slot->kernel = clocks.kernel;
    slot->sequence = 0;
    slot->owed = has_words ? owed : 0;
    if (has_words)
        owed = 0;
    struct filled filled =
        fill_slot(slot, kind == COOKIE_PERF ? TRIGGER_PERF : TRIGGER_TIMER,
                  has_words, context);
    if (has_words) { /* The slot may be another's now; its memory stays. */
        last_frames = slot->walk.frames;
        last_count = filled.frames;
    }
    count_own_sample();
    if (filled.end - start > LONG_WALK_NS) {
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

/* Keep the thread here, because the process is about to end. */
static void
stand_still(void)
{
    uint64_t until = clock_now() + FREEZE_NS;
    while (is_frozen() && clock_now() < until)
        sys_futex_wait(&shared.frozen, SHARED_FROZEN, until);
    until = atomic_load(&shared.thawed) + THAW_NS;
    while (atomic_load(&shared.frozen) == SHARED_THAWING && clock_now() < until)
        sys_futex_wait(&shared.frozen, SHARED_THAWING, until);
}

/* Handle our signal, which the program must not see. IS_LATE: its number was
 * given back, and the mask may not be the one that a walk needs. */
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
    else if (question != 0 && (is_late || (has_words && has_left)))
        refuse_question(question, is_late ? LOSS_UNFIT : LOSS_EXITED);
    else if (question != 0)
        answer_question(question, has_words, context);
    else if (kind == COOKIE_WAKE)
        ask_ring();
    else if (is_late)
        shared_lose(LOSS_UNFIT);
    else if (!has_words || !has_left)
        sample_itself(kind, has_words, context);
    /* A thread that has reported its end may not have finished that report. */
    if (index != COOKIE_FREEZE && is_to_stand() && !(has_words && has_left))
        stand_still();
}

/* Let the default action of SIGNO act, as the program's disposition demands.
 * Our handler must give way for that. The process ends here. */
static void
die_by_default(int signo)
{
    disposition_make_default(signo);
    sys_call(SYS_tgkill, sys_getpid(), sys_gettid(), signo);
}

/* Run the program's handler with the mask that the kernel would have given it.
 * The return from our handler restores the old mask. */
static void
call_program(const struct sigaction *action, int signo, siginfo_t *info,
             ucontext_t *context)
{
    uint64_t mask =
        signals_word(&context->uc_sigmask) | signals_word(&action->sa_mask);
    if ((action->sa_flags & SA_NODEFER) == 0)
        mask |= signals_bit(signo);
    sys_mask(SIG_SETMASK, mask, NULL);
    if ((action->sa_flags & SA_RESTART) == 0)
        restart_end_call(context);
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(signo, info, context);
    else
        action->sa_handler(signo);
}

/* Whether the kernel raised the signal for an instruction of the thread. Such a
 * signal can be neither ignored nor held back (signal(7)). */
static bool
is_fault(int signo, const siginfo_t *info)
{
    return signo == SIGTRAP && info->si_code > 0 &&
           info->si_code != SIGNALS_PERF_CODE;
}

/* Take our signal from the thread's queue, where the kernel would drop a signal
 * of the program because of it. The handler runs with all signals blocked. */
static void
drain_ours(uint64_t bit)
{
    static const struct timespec at_once;
    siginfo_t unused;
    sys_call(SYS_rt_sigtimedwait, &bit, &unused, &at_once, sizeof(bit));
}

/* Send SIGNO to any thread of the process that does not block it. Only the main
 * thread may name another sender (rt_sigqueueinfo(2)). From other threads this
 * process is the sender. */
static void
send_to_process(int signo, siginfo_t *info)
{
    pid_t pid = sys_getpid();
    if (sys_call(SYS_rt_sigqueueinfo, pid, signo, info) == -EPERM)
        sys_call(SYS_kill, pid, signo);
}

/* To the program, the thread blocks the number. Block it really, and send the
 * signal again to the same receiver. */
static void
send_again(int signo, siginfo_t *info, ucontext_t *context)
{
    uint64_t bit = signals_bit(signo);
    if (disposition_give_back(signo))
        drain_ours(bit);
    signals_set_word(&context->uc_sigmask,
                     signals_word(&context->uc_sigmask) | bit);
    if (info->si_code == SI_TKILL)
        sys_call(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), signo,
                 info);
    else
        send_to_process(signo, info);
}

/* Give the program another sender's signal SIGNO, a number that is or was ours:
 * let its disposition act as without a profiler. Does not return if the default
 * action ends the process. A separate function, so that a sample does not use
 * the stack that it takes. */
static __attribute__((noinline)) void
deliver_to_program(int signo, siginfo_t *info, ucontext_t *context)
{
    struct sigaction action;
    if (!disposition_get_program(signo, &action))
        return;
    bool fault = is_fault(signo, info);
    /* Whether the thread blocked it: uc_sigmask does not show that in a
     * sigsuspend. */
    bool is_blocked =
        words_are_there() && (signals_blocked & signals_bit(signo)) != 0;
    signals_sync_in(context);
    if (is_blocked && !fault) {
        send_again(signo, info, context);
        restart_after_blocked(context);
        return;
    }
    if (action.sa_handler == SIG_IGN && !fault)
        return;
    if (action.sa_handler == SIG_IGN || is_blocked) {
        die_by_default(signo);
    } else if (action.sa_handler != SIG_DFL) {
        if (action.sa_flags & (int)SA_RESETHAND)
            disposition_reset_program(signo);
        call_program(&action, signo, info, context);
    } else if (signo != SIGURG && signo != SIGCHLD && signo != SIGWINCH) {
        die_by_default(signo);
    }
}

/* The handler of all signal numbers that are ours (signals.h). */
static HOT ARCH_SIGNAL_ENTRY void
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
    if (is_question(info, &question) || is_bare_question(info, &question) ||
        is_own_clock(signo, info, &kind)) {
        take_own(question, kind, is_late, has_words, context);
        signals_sync_in(context);
        restart_after_ours(context);
    } else if (info->si_code != COOKIE_CODE && !is_tracer(info)) {
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
    last_count = owed = 0;
    has_left = false;
    waiting_own = (struct waiting_own){0};
    if (is_old_thread)
        alternate_note();
}

void
handler_leave_thread(void)
{
    has_left = true;
}

int
handler_begin(const struct handler_options *options)
{
    bool is_first = shared.threads == NULL;
    if (is_first) {
        shared.threads =
            sys_reserve(options->threads * sizeof(*shared.threads));
        if (shared.threads == NULL)
            return -1;
    }
    shared.thread_count = options->threads;
    atomic_fetch_add(&shared.generation, 1);
    shared.index_of_tid = options->index_of_tid;
    shared.tid_count = options->tid_count;
    shared.request = options->request;
    shared.settings = options->settings;
    atomic_store(&shared.period, options->settings->period);
    atomic_store(&shared.own_taken, 0);
    for (uint32_t i = 0; i < LOSS_COUNT; i++)
        atomic_store(&shared.own_lost[i], 0);
    shared.pid = options->settings->pid;
    atomic_store(&shared.frozen, SHARED_FREE);
    atomic_store(&shared.ender, 0);
    serve_begin();
    if (!is_first) {
        disposition_after_fork();
        return 0;
    }
    cookie_begin();
    disposition_begin(handler_run, options->sigaction, options->next_sigaction,
                      options->leaving, ask_ring);
    return disposition_borrow(SIGNALS_ASK, options->settings->signo);
}

/* Returns how many samples of a thread, one each PERIOD ns, LATE_NS ns can
 * have. */
static uint32_t
samples_late(uint64_t period)
{
    cpu_set_t cpus;
    uint64_t count = 1;
    if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
        count = (uint64_t)CPU_COUNT(&cpus);
    uint64_t samples = count * LATE_NS / period;
    samples = samples < SLOTS_LEAST ? SLOTS_LEAST : samples;
    return samples < SLOTS_MAX ? (uint32_t)samples : SLOTS_MAX;
}

int
handler_begin_memory(uint32_t max_depth, uint64_t period)
{
    uint32_t slots = FRAMES_MAX / max_depth, most = samples_late(period);
    slots = slots > most ? most : slots;
    slots = slots < SLOTS_MIN ? SLOTS_MIN : slots;
    return slots_begin(slots, max_depth) == 0 && rules_begin() == 0 &&
                   learn_begin() == 0
               ? 0
               : -1;
}
