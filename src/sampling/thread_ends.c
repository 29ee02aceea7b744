/* SPDX-License-Identifier: MIT */
/*
 * thread_ends.c -- see thread_ends.h. The start routine is entered by a tail
 * call, so that no frame of ours is on the thread's stack. The end is noticed
 * by a destructor of thread-specific data (pthread_key_create(3)), which also
 * runs at pthread_exit and cancellation. Ended threads go through a ring that
 * the sampler empties. When the ring is full, only the exact end is lost: the
 * thread ends with its last observed state.
 *
 * The hard thing is a thread that loses its CPU after it has claimed its entry
 * of the ring, and before it has written it. The ends of other threads after it
 * are still read. Otherwise they would be read after these threads have left
 * the kernel's list of threads, and their CPU time would count twice.
 */
#include <errno.h>
#include <linux/prctl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/phase.h"
#include "base/scheduling.h"
#include "base/state.h"
#include "base/sys.h"
#include "base/thread_local.h"
#include "capture/fill.h"
#include "capture/handler.h"
#include "labels/labels.h"
#include "libc/real.h"
#include "sampling/trigger/cpu_timer.h"
#include "signals/mask.h"
#include "signals/disposition.h"
#include "signals/signals.h"
#include "thread_ends.h"

/* Limit of the ends that wait for the sampler. */
#define RING 16384u

/* Longest time in ns for which a release of the key waits for threads that use
 * it. */
#define USERS_NS 10000000u

/* Number of keys whose values lie in the thread's own block: to set one of them
 * takes no memory (glibc, PTHREAD_KEY_2NDLEVEL_SIZE). */
#define KEYS 32u

enum ring_state { RING_FREE, RING_WRITTEN, RING_TAKEN };

struct ring_entry {
    _Atomic uint32_t state; /* enum ring_state */
    struct thread_end end;
};

static struct ring_entry *ring;
static _Atomic uint64_t written; /* entries that were claimed */
static _Atomic uint64_t taken;   /* all entries before it are free again */
static uint64_t looked_at;       /* the sampler's next entry, from TAKEN on */
static pthread_key_t key;
static _Atomic bool has_key;
/* Threads that use the key at this moment. */
static OF_PROCESS _Atomic uint32_t users;
static void (*main_exits)(void);
/* 0 before a child goes on after the fork: a timer whose signal is not known as
 * ours would end the process. */
static OF_PROFILE _Atomic uint64_t timer_cookie, timer_first, timer_interval;
static __thread uint64_t started_at;
static __thread bool is_last_round;

/* Set the thread's value of our key, if we still have the key. */
static void
set_key(void *value)
{
    atomic_fetch_add(&users, 1);
    if (atomic_load(&has_key))
        pthread_setspecific(key, value);
    atomic_fetch_sub(&users, 1);
}

bool
thread_ends_release_key(void)
{
    bool had = true;
    if (!atomic_compare_exchange_strong(&has_key, &had, false))
        return false;
    /* A thread that was in set_key at a fork does not exist in the child, so
     * the wait is bounded. */
    uint64_t until = clock_now() + USERS_NS;
    while (atomic_load(&users) != 0 && !clock_expires(until))
        sched_yield();
    return pthread_key_delete(key) == 0;
}

static void
note_end(void)
{
    pid_t tid = sys_gettid();
    handler_leave_thread();
    cpu_timer_drop(tid);
    labels_end_thread();
    if (!phase_is_running())
        return;
    /* The main thread leaves before others, by pthread_exit, thrd_exit or
     * cancellation. */
    if (tid == sys_getpid()) {
        main_exits();
        return;
    }
    uint64_t at = atomic_load(&written);
    do {
        if (at - atomic_load(&taken) >= RING)
            return;
    } while (!atomic_compare_exchange_weak(&written, &at, at + 1));
    struct ring_entry *entry = &ring[at % RING];
    entry->end = (struct thread_end){tid, started_at, clock_now(), clock_own(),
                                     .name = ""};
    arch_syscall(SYS_prctl, PR_GET_NAME, (long)entry->end.name, 0, 0, 0, 0);
    atomic_store_explicit(&entry->state, RING_WRITTEN, memory_order_release);
}

/* Called at the thread's end. Destructors run in rounds while any of them sets
 * its value again. Ours sets it once, and so runs after the program's. */
static void
on_end(void *value)
{
    if (is_last_round) {
        note_end();
        return;
    }
    is_last_round = true;
    set_key(value);
}

void
thread_ends_leave(void)
{
    /* A thread or process that clone(2) alone has made may have the words of
     * another thread. */
    pid_t tid = sys_gettid();
    if (started_at != 0 && tid == thread_local_tid() && tid != sys_getpid())
        note_end();
}

/* Make the key with the last free number below KEYS: the program gets the
 * numbers before it, as it would without us. */
static bool
make_key(void)
{
    pthread_key_t made[KEYS];
    unsigned count = 0;
    while (count < KEYS && REAL(pthread_key_create)(&made[count], on_end) == 0)
        if (made[count++] >= KEYS - 1)
            break;
    if (count == 0)
        return false;
    key = made[--count];
    while (count > 0)
        (void)pthread_key_delete(made[--count]);
    return true;
}

void
thread_ends_begin(void (*on_main_exit)(void))
{
    main_exits = on_main_exit;
    ring = sys_reserve(RING * sizeof(*ring));
    atomic_store(&has_key, ring != NULL && make_key());
    set_key(&key);
}

void
thread_ends_reset(void)
{
    uint64_t last = atomic_load(&written);
    for (uint64_t i = atomic_load(&taken); ring != NULL && i != last; i++)
        atomic_store_explicit(&ring[i % RING].state, RING_FREE,
                              memory_order_relaxed);
    atomic_store(&taken, last);
    looked_at = last;
}

void
thread_ends_use_timers(uint64_t cookie, uint64_t first, uint64_t interval)
{
    atomic_store(&timer_first, first);
    atomic_store(&timer_interval, interval);
    atomic_store(&timer_cookie, cookie);
}

/* Free the entries that were taken, up to one that is still to be written. */
static void
free_taken(void)
{
    uint64_t at = atomic_load(&taken);
    for (; at != looked_at; at++) {
        struct ring_entry *entry = &ring[at % RING];
        if (atomic_load_explicit(&entry->state, memory_order_relaxed) !=
            RING_TAKEN)
            break;
        atomic_store_explicit(&entry->state, RING_FREE, memory_order_release);
    }
    atomic_store(&taken, at);
}

uint64_t
thread_ends_reported(void)
{
    uint64_t reported = atomic_load(&written);
    return ring != NULL && reported != atomic_load(&taken) ? reported : 0;
}

bool
thread_ends_next_end(uint64_t reported, struct thread_end *end)
{
    while (looked_at < reported) {
        struct ring_entry *entry = &ring[looked_at++ % RING];
        if (atomic_load_explicit(&entry->state, memory_order_acquire) !=
            RING_WRITTEN)
            continue;
        *end = entry->end;
        atomic_store_explicit(&entry->state, RING_TAKEN, memory_order_relaxed);
        free_taken();
        return true;
    }
    /* Entries that were taken earlier, after an entry that was written only
     * now. */
    free_taken();
    looked_at = atomic_load(&taken);
    return false;
}

/* The first work of a new thread. Its memory is not the allocator's: an
 * allocator may create the thread while it holds its own lock. */
struct thread_start {
    _Atomic bool is_taken;
    union {
        void *(*posix)(void *);
        thrd_start_t c11;
    } start;
    void *argument;
    uint64_t stack; /* the start of a stack that the program gives, or 0 */
    uint64_t size;  /* least bytes of its stack */
    struct mask_birth mask;
};

/* Number of threads that may be about to begin without a page of their own for
 * this. */
#define STARTS 64u
static struct thread_start starts[STARTS];

static struct thread_start *
take_start(void)
{
    for (unsigned i = 0; i < STARTS; i++)
        if (!atomic_exchange(&starts[i].is_taken, true))
            return &starts[i];
    return sys_reserve(sizeof(struct thread_start));
}

static void
free_start(struct thread_start *beginning)
{
    if (beginning >= starts && beginning < starts + STARTS)
        atomic_store(&beginning->is_taken, false);
    else
        sys_release(beginning, sizeof(*beginning));
}

static void
arm_timer(void)
{
    uint64_t cookie = atomic_load_explicit(&timer_cookie, memory_order_acquire);
    pid_t tid = sys_gettid();
    if (cookie != 0 && cpu_timer_make(tid, cookie) == 0)
        cpu_timer_set(tid,
                      atomic_load_explicit(&timer_first, memory_order_relaxed),
                      atomic_load_explicit(&timer_interval,
                                           memory_order_relaxed));
}

/* Called by the new thread itself, with the data from its creator. */
static void
enter_thread(struct thread_start *left, struct thread_start *beginning)
{
    beginning->start = left->start;
    beginning->argument = left->argument;
    fill_know_stack(left->stack, left->size);
    struct mask_birth mask = left->mask;
    free_start(left);
    mask_begin_thread(&mask);
    if (!phase_is_running())
        return;
    started_at = clock_now();
    handler_know_thread(false);
    set_key(&key);
    arm_timer();
}

static void *
run_posix(void *argument)
{
    struct thread_start beginning;
    enter_thread(argument, &beginning);
    return beginning.start.posix(beginning.argument);
}

static int
run_c11(void *argument)
{
    struct thread_start beginning;
    enter_thread(argument, &beginning);
    return beginning.start.c11(beginning.argument);
}

static bool
has_mask(const pthread_attr_t *attributes)
{
    sigset_t unused;
    return attributes != NULL &&
           pthread_attr_getsigmask_np(attributes, &unused) == 0;
}

/* Returns where the stack of ATTRIBUTES begins, or 0 if libc is to make one:
 * such a stack is described as one that ends at 0. */
static uint64_t
given_stack(const pthread_attr_t *attributes)
{
    void *start;
    size_t size;
    if (attributes == NULL ||
        pthread_attr_getstack(attributes, &start, &size) != 0 ||
        (uint64_t)start + size == 0)
        return 0;
    return (uint64_t)start;
}

/* Returns the bytes of the stack that a thread of ATTRIBUTES has. The guard is
 * a part of them in glibc before 2.27. */
static uint64_t
stack_size(const pthread_attr_t *attributes)
{
    pthread_attr_t defaults;
    size_t size = 0;
    if (attributes != NULL) {
        (void)pthread_attr_getstacksize(attributes, &size);
    } else if (pthread_attr_init(&defaults) == 0) {
        (void)pthread_attr_getstacksize(&defaults, &size);
        pthread_attr_destroy(&defaults);
    }
    return size;
}

/* Called by the creator: prepare the first work of the new thread. Returns NULL
 * if memory is short. */
static struct thread_start *
prepare_start(const pthread_attr_t *attributes, void *argument)
{
    disposition_expect_threads();
    /* Many new threads could keep a patient sampler from running. */
    scheduling_hurry();
    struct thread_start *beginning = take_start();
    if (beginning == NULL)
        return NULL;
    beginning->argument = argument;
    beginning->stack = given_stack(attributes);
    beginning->size = stack_size(attributes);
    beginning->mask.has_mask = has_mask(attributes);
    mask_before_birth(&beginning->mask);
    return beginning;
}

/* Called by the creator, whose call has returned RESULT: 0 is success. */
static int
end_start(struct thread_start *beginning, int result)
{
    mask_after_birth();
    if (result != 0)
        free_start(beginning);
    return result;
}

int
thread_ends_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*start)(void *), void *argument)
{
    if (!phase_is_on())
        return REAL(pthread_create)(thread, attributes, start, argument);
    struct thread_start *beginning = prepare_start(attributes, argument);
    if (beginning == NULL)
        return EAGAIN;
    beginning->start.posix = start;
    return end_start(beginning, REAL(pthread_create)(thread, attributes,
                                                     run_posix, beginning));
}

int
thread_ends_create_c11(thrd_t *thread, thrd_start_t start, void *argument)
{
    if (!phase_is_on())
        return REAL(thrd_create)(thread, start, argument);
    struct thread_start *beginning = prepare_start(NULL, argument);
    if (beginning == NULL)
        return thrd_nomem;
    beginning->start.c11 = start;
    return end_start(beginning, REAL(thrd_create)(thread, run_c11, beginning));
}
