/* SPDX-License-Identifier: MIT */
/*
 * sampler.c -- the sampler thread; see sampler.h. It sleeps until the next
 * instant, serving those who park; at the instant it harvests the answers to
 * the last tick, reads every thread's CPU clock and asks those that moved, all
 * at once. It never suspends itself, never waits for a target, and takes no
 * lock that the program can hold.
 *
 * The hard thing is that others wait for it (fork, exec, exit): every wait, on
 * both sides, has a deadline.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "capture/learn.h"
#include "capture/rules.h"
#include "capture/suspend.h"
#include "target/modules.h"
#include "target/threads.h"
#include "harvest.h"
#include "journal.h"
#include "pace.h"
#include "place.h"
#include "real.h"
#include "sampler.h"

#define STACK_SIZE (256u << 10)
#define ASK_MAX 128u /* signals a tick, half the slots */
#define ENUMERATE_NS 100000000u
#define NAMES_NS 1000000000u
#define POLL_NS 50000u
/* Those who were asked get so long to answer before a fork, exec or exit. */
#define QUIET_NS 20000000u
#define PAUSE_NS 100000000u
#define STOP_NS 2000000000u
#define SLICE_NS 100000u
#define NICE (-20)

static struct sampler_options options;
static struct pace pace;
static uint64_t last_enumeration, last_names, first_tick;
static uint32_t thread_total;
static pid_t sampler_tid;
static bool has_begun, is_over, parted_alone;

static _Atomic uint32_t stop_wanted, stopped, pause_wanted, is_quiet, released;

static void
on_module(const struct module *module, bool gone)
{
    rules_forget(module->start, module->end);
    if (gone)
        journal_module_gone(module);
}

/* The module map is read anew. What was walked under the old one is harvested
 * first, while its addresses still mean what they did. */
static void
refresh_modules(void)
{
    harvest_slots(true);
    learn_forget_pages();
    rules_forget_nowhere();
    modules_refresh();
}

/* All answers so far, by a module map that is true. */
static void
harvest(void)
{
    if (harvest_state()->in_flight != 0 && !modules_are_settled())
        refresh_modules();
    harvest_slots(false);
}

static void
on_thread(uint32_t index, bool gone)
{
    if (gone) {
        harvest_thread_gone(index);
        return;
    }
    thread_total++;
    /* What a thread used before we were there is not ours to show. */
    uint64_t clock = 0;
    if (!has_begun)
        clock = clock_thread(threads_at(index)->tid);
    harvest_thread_added(index, clock == CLOCK_NONE ? 0 : clock);
}

static void
enumerate(uint64_t now)
{
    int others = threads_refresh();
    last_enumeration = now;
    if (others == 0)
        parted_alone = true;
}

static void
read_names(uint64_t now)
{
    last_names = now;
    for (uint32_t i = 0; i < threads_limit(); i++)
        if (threads_at(i)->tid != 0 && threads_read_name(i))
            journal_thread_name(i);
}

/* Every thread's sample point, from a random one on: who comes last may have to
 * wait for the next tick. */
static void
point_all(uint64_t periods, uint64_t now)
{
    uint32_t limit = threads_limit(), asked = 0;
    uint32_t first = limit > ASK_MAX ? (uint32_t)pace_random(&pace, limit) : 0;
    for (uint32_t n = 0; n < limit; n++) {
        uint32_t i = (first + n) % limit;
        if (threads_at(i)->tid == 0)
            continue;
        uint64_t clock = clock_thread(threads_at(i)->tid);
        if (clock == CLOCK_NONE)
            threads_touch();
        else
            asked += harvest_point(i, clock, periods, now, asked < ASK_MAX);
    }
}

static void
publish(uint64_t now, bool is_last)
{
    struct harvest_counts *state = harvest_state();
    state->counts.time = now;
    state->counts.ticks++;
    state->counts.rules = rules_count();
    /* Two system calls: not at every tick. */
    if (state->counts.ticks % 32 == 1 || is_last) {
        state->counts.sampler_cpu = clock_own();
        state->counts.process_cpu = clock_process();
    }
    journal_counts(&state->counts, state->lost, state->cut);
}

static void
tick(uint64_t periods)
{
    uint64_t now = clock_now();
    harvest();
    place_follow(pace_random(&pace, UINT64_MAX));
    if (threads_are_stale() || now - last_enumeration > ENUMERATE_NS)
        enumerate(now);
    has_begun = true;
    if (now - last_names > NAMES_NS)
        read_names(now);
    point_all(periods, now);
    publish(now, false);
}

/* Wait until those who were asked have answered, or had their time. */
static void
become_quiet(void)
{
    uint64_t start = clock_now(), until = start + QUIET_NS;
    harvest();
    while (harvest_is_waiting(start - QUIET_NS) && clock_now() < until) {
        suspend_wait(clock_now() + POLL_NS);
        harvest();
    }
}

/* Nothing is in flight while somebody wants it so. */
static void
pause_sampling(void)
{
    become_quiet();
    atomic_store(&is_quiet, 1);
    sys_futex_wake(&is_quiet, 1 << 30);
    while (atomic_load(&pause_wanted) != 0 && atomic_load(&stop_wanted) == 0)
        suspend_wait(clock_now() + PAUSE_NS);
    atomic_store(&is_quiet, 0);
}

static bool
is_called(void)
{
    return atomic_load_explicit(&stop_wanted, memory_order_relaxed) != 0 ||
           atomic_load_explicit(&pause_wanted, memory_order_relaxed) != 0;
}

static void
run(void)
{
    uint64_t begin = options.start + options.delay;
    uint64_t end =
        options.duration != 0 ? begin + options.duration : UINT64_MAX;
    uint64_t seed = begin;
    (void)!getrandom(&seed, sizeof(seed), GRND_NONBLOCK);
    pace_begin(&pace, begin, options.period, seed);
    first_tick = begin;
    while (atomic_load(&stop_wanted) == 0 && !parted_alone) {
        uint64_t periods, at;
        if (is_over || clock_now() >= end) {
            suspend_wait(clock_now() + ENUMERATE_NS);
            enumerate(clock_now());
        } else {
            at = pace_next(&pace, clock_now(), &periods);
            while (clock_now() < at && !is_called())
                suspend_wait(at);
            if (!is_called())
                tick(periods);
            is_over = journal_error() != 0;
        }
        if (atomic_load(&pause_wanted) != 0)
            pause_sampling();
    }
}

/* The scheduler's shortest slice makes a short errand run early. Fields of
 * struct sched_attr, sched_setattr(2); kernels before 6.12 ignore it. */
static void
shorten_slice(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = {.size = 48};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0)
        return;
    attributes.runtime = SLICE_NS;
    if (attributes.policy != 0)
        return;
    /* A higher weight, where the process may have it: the later an instant is
     * sampled, the more it depends on when the program left a CPU free. */
    int32_t nice = attributes.nice;
    attributes.nice = NICE;
    if (syscall(SYS_sched_setattr, 0, &attributes, 0) == 0)
        return;
    attributes.nice = nice;
    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/* A descriptor table and a directory of its own: what the sampler opens, the
 * program neither sees, nor closes, nor has counted against RLIMIT_NOFILE; and
 * a chroot of the program does not part it from /proc. What was inherited is
 * closed: a pipe that the program closes must be closed. unshare(2). */
static void
part_from_files(void)
{
    if (unshare(CLONE_FILES) == 0)
        syscall(SYS_close_range, 0u, ~0u, 0u);
    (void)!unshare(CLONE_FS);
}

static void
end_journal(enum end_reason reason)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    struct record_summary summary = {
        .time = clock_now(),
        .user_cpu = (uint64_t)usage.ru_utime.tv_sec * NS_PER_SECOND +
                    (uint64_t)usage.ru_utime.tv_usec * 1000,
        .system_cpu = (uint64_t)usage.ru_stime.tv_sec * NS_PER_SECOND +
                      (uint64_t)usage.ru_stime.tv_usec * 1000,
        .reason = reason};
    publish(clock_now(), true);
    /* Without a sample the file is about to be removed. */
    if (harvest_state()->counts.taken == 0)
        journal_forget();
    else
        journal_end(&summary);
}

/* Wait until WORD is not 0, for NS at most. */
static bool
wait_for(_Atomic uint32_t *word, uint64_t ns)
{
    uint64_t until = clock_now() + ns;
    while (atomic_load(word) == 0 && clock_now() < until)
        sys_futex_wait(word, 0, until);
    return atomic_load(word) != 0;
}

static void *
sampler_main(void *unused)
{
    (void)unused;
    prctl(PR_SET_NAME, "sprof");
    if (options.period < 500000)
        prctl(PR_SET_TIMERSLACK, options.period / 10);
    shorten_slice();
    part_from_files();
    place_begin();
    sampler_tid = sys_gettid();
    threads_begin(options.pid, sampler_tid, on_thread);
    wait_for(&released, PAUSE_NS);
    run();
    become_quiet();
    harvest_give_up(LOSS_SILENT);
    uint32_t reason = atomic_load(&stop_wanted);
    end_journal(reason != 0 ? (enum end_reason)(reason - 1) : END_EXIT);
    atomic_store(&stopped, 1);
    sys_futex_wake(&stopped, 1 << 30);
    return NULL;
}

static int
start_thread(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, old;
    int error = pthread_attr_init(&attributes);
    if (error != 0) {
        errno = error;
        return -1;
    }
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    real_pthread_sigmask(SIG_SETMASK, &all, &old);
    error = real_pthread_create(&thread, &attributes, sampler_main, NULL);
    real_pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    errno = error;
    return error == 0 ? 0 : -1;
}

int
sampler_start(const struct sampler_options *given)
{
    struct suspend_options suspend = {.signo = given->signo,
                                      .pid = given->pid,
                                      .threads = THREADS_MAX,
                                      .max_depth = given->max_depth,
                                      .refresh = refresh_modules,
                                      .sigaction = real_sigaction};
    options = *given;
    threads_ignore(0);
    has_begun = given->is_child;
    is_over = parted_alone = false;
    thread_total = 0;
    last_enumeration = last_names = 0;
    atomic_store(&stop_wanted, 0);
    atomic_store(&stopped, 0);
    atomic_store(&pause_wanted, 0);
    atomic_store(&is_quiet, 0);
    atomic_store(&released, 0);
    if (modules_begin(on_module) != 0 ||
        harvest_begin(given->period, given->cpu_only) != 0 ||
        suspend_begin(&suspend) != 0)
        return -1;
    return start_thread();
}

void
sampler_release(void)
{
    atomic_store(&released, 1);
    sys_futex_wake(&released, 1);
}

void
sampler_wait_end(void)
{
    while (!wait_for(&stopped, STOP_NS))
        ;
    while (arch_syscall(SYS_tgkill, options.pid, sampler_tid, 0, 0, 0, 0) == 0)
        sys_futex_wait(&stopped, 1, clock_now() + POLL_NS);
}

int
sampler_stop(enum end_reason reason, struct sampler_result *result)
{
    uint32_t none = 0;
    atomic_compare_exchange_strong(&stop_wanted, &none, (uint32_t)reason + 1);
    suspend_ring();
    if (!wait_for(&stopped, STOP_NS))
        return -1;
    const struct harvest_counts *state = harvest_state();
    *result =
        (struct sampler_result){.taken = state->counts.taken,
                                .asked = state->counts.asked,
                                .threads = thread_total,
                                .cpu = state->counts.sampler_cpu,
                                .error = journal_error(),
                                .elapsed = state->counts.time - first_tick};
    for (unsigned i = 0; i < LOSS_COUNT; i++) {
        result->lost_by[i] = state->lost[i];
        result->lost += state->lost[i];
    }
    return 0;
}

void
sampler_pause(void)
{
    atomic_fetch_add(&pause_wanted, 1);
    suspend_ring();
    uint64_t until = clock_now() + PAUSE_NS;
    while (atomic_load(&is_quiet) == 0 && atomic_load(&stopped) == 0 &&
           clock_now() < until)
        sys_futex_wait(&is_quiet, 0, clock_now() + POLL_NS * 20);
}

void
sampler_resume(void)
{
    atomic_fetch_sub(&pause_wanted, 1);
    suspend_ring();
}

void
sampler_forget(void)
{
    journal_forget();
}
