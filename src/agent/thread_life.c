/* SPDX-License-Identifier: MIT */
/*
 * thread_life.c -- see thread_life.h. The start routine is entered by a tail
 * call, so that no frame of ours is on the thread's stack. The end is a
 * destructor of thread-specific data (pthread_key_create(3)), which also runs
 * at pthread_exit and cancellation; what ended goes through a ring that the
 * sampler empties. A ring that is full loses an exact end, nothing more: the
 * thread is then known by what was last seen of it.
 */
#include <errno.h>
#include <linux/prctl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/phase.h"
#include "base/sys.h"
#include "capture/handler.h"
#include "capture/signals.h"
#include "cpu_timer.h"
#include "guardian.h"
#include "labels.h"
#include "mask.h"
#include "real.h"
#include "thread_life.h"

#define RING 4096u
#define USERS_NS 10000000u

/* The values of so many keys lie in the thread's own block: to set them takes
 * no memory (glibc, PTHREAD_KEY_2NDLEVEL_SIZE). */
#define KEYS 32u

enum ring_state { RING_FREE, RING_WRITTEN };

struct ring_entry {
    _Atomic uint32_t state; /* enum ring_state */
    struct thread_end end;
};

static struct ring_entry *ring;
static _Atomic uint64_t written;
static _Atomic uint64_t taken;
static pthread_key_t key;
static _Atomic bool has_key;
static _Atomic uint32_t users; /* of the key, at this moment */
static _Atomic uint64_t timer_cookie, timer_first, timer_interval;
static __thread uint64_t started_at;
static __thread bool is_last_round;

/* Set the thread's value of our key, if it still is ours. */
static void
set_key(void *value)
{
    atomic_fetch_add(&users, 1);
    if (atomic_load(&has_key))
        pthread_setspecific(key, value);
    atomic_fetch_sub(&users, 1);
}

bool
thread_life_give_key(void)
{
    bool had = true;
    if (!atomic_compare_exchange_strong(&has_key, &had, false))
        return false;
    /* A thread that was here at a fork is not, in the child. */
    uint64_t until = clock_now() + USERS_NS;
    while (atomic_load(&users) != 0 && clock_now() < until)
        sched_yield();
    return pthread_key_delete(key) == 0;
}

/* At the thread's end. Destructors run in rounds while any of them sets its
 * value again: ours does so once, and so comes after the program's. */
static void
note_end(void *value)
{
    if (!is_last_round) {
        is_last_round = true;
        set_key(value);
        return;
    }
    pid_t tid = sys_gettid();
    cpu_timer_drop(tid);
    labels_end_thread();
    if (!phase_is_running())
        return;
    /* However the main thread leaves before others: pthread_exit, thrd_exit,
     * cancellation. */
    if (tid == sys_getpid()) {
        guardian_start();
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

/* The last of the numbers below KEYS that is free: a program gets those before
 * it as it would without us. */
static bool
make_key(void)
{
    pthread_key_t made[KEYS];
    unsigned count = 0;
    while (count < KEYS &&
           REAL(pthread_key_create)(&made[count], note_end) == 0)
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
thread_life_begin(void)
{
    ring = sys_reserve(RING * sizeof(*ring));
    atomic_store(&has_key, ring != NULL && make_key());
    set_key(&key);
}

void
thread_life_reset(void)
{
    uint64_t last = atomic_load(&written);
    for (uint64_t i = atomic_load(&taken); ring != NULL && i != last; i++)
        atomic_store_explicit(&ring[i % RING].state, RING_FREE,
                              memory_order_relaxed);
    atomic_store(&taken, last);
}

void
thread_life_use_timers(uint64_t cookie, uint64_t first, uint64_t interval)
{
    atomic_store(&timer_first, first);
    atomic_store(&timer_interval, interval);
    atomic_store(&timer_cookie, cookie);
}

bool
thread_life_next_end(struct thread_end *end)
{
    if (ring == NULL)
        return false;
    struct ring_entry *entry = &ring[atomic_load(&taken) % RING];
    if (atomic_load_explicit(&entry->state, memory_order_acquire) !=
        RING_WRITTEN)
        return false;
    *end = entry->end;
    atomic_store_explicit(&entry->state, RING_FREE, memory_order_release);
    atomic_fetch_add(&taken, 1);
    return true;
}

/* What a new thread is to do. It takes this with it in memory that is not the
 * allocator's: that may be what creates the thread, with its lock held. */
struct beginning {
    _Atomic bool is_taken;
    union {
        void *(*posix)(void *);
        thrd_start_t c11;
    } start;
    void *argument;
    uint64_t stack; /* where the one begins that the program gives, or 0 */
    struct mask_birth mask;
};

/* Threads that have not begun yet are few; those beyond have a page each. */
#define BEGINNINGS 64u
static struct beginning beginnings[BEGINNINGS];

static struct beginning *
take_beginning(void)
{
    for (unsigned i = 0; i < BEGINNINGS; i++)
        if (!atomic_exchange(&beginnings[i].is_taken, true))
            return &beginnings[i];
    return sys_reserve(sizeof(struct beginning));
}

static void
give_beginning(struct beginning *beginning)
{
    if (beginning >= beginnings && beginning < beginnings + BEGINNINGS)
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

/* The new thread itself, from what its creator left for it. */
static void
settle(struct beginning *left, struct beginning *beginning)
{
    beginning->start = left->start;
    beginning->argument = left->argument;
    handler_know_stack(left->stack);
    struct mask_birth mask = left->mask;
    give_beginning(left);
    mask_begin_thread(&mask);
    if (!phase_is_running())
        return;
    started_at = clock_now();
    handler_know_thread(false);
    set_key(&key);
    arm_timer();
}

static void *
begin(void *argument)
{
    struct beginning beginning;
    settle(argument, &beginning);
    return beginning.start.posix(beginning.argument);
}

static int
begin_c11(void *argument)
{
    struct beginning beginning;
    settle(argument, &beginning);
    return beginning.start.c11(beginning.argument);
}

static bool
has_mask(const pthread_attr_t *attributes)
{
    sigset_t unused;
    return attributes != NULL &&
           pthread_attr_getsigmask_np(attributes, &unused) == 0;
}

/* Where the stack of ATTRIBUTES begins, 0 if libc is to make one: that is told
 * as one that ends at 0. */
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

/* For a thread that will do what START and ARGUMENT say, in its creator. NULL
 * if memory is short. */
static struct beginning *
prepare(const pthread_attr_t *attributes, void *argument)
{
    signals_expect_threads();
    struct beginning *beginning = take_beginning();
    if (beginning == NULL)
        return NULL;
    beginning->argument = argument;
    beginning->stack = given_stack(attributes);
    beginning->mask.has_mask = has_mask(attributes);
    mask_before_birth(&beginning->mask);
    return beginning;
}

int
thread_life_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*start)(void *), void *argument)
{
    if (!phase_is_on())
        return REAL(pthread_create)(thread, attributes, start, argument);
    struct beginning *beginning = prepare(attributes, argument);
    if (beginning == NULL)
        return EAGAIN;
    beginning->start.posix = start;
    int result = REAL(pthread_create)(thread, attributes, begin, beginning);
    mask_after_birth();
    if (result != 0)
        give_beginning(beginning);
    return result;
}

int
thread_life_create_c11(thrd_t *thread, thrd_start_t start, void *argument)
{
    if (!phase_is_on())
        return REAL(thrd_create)(thread, start, argument);
    struct beginning *beginning = prepare(NULL, argument);
    if (beginning == NULL)
        return thrd_nomem;
    beginning->start.c11 = start;
    int result = REAL(thrd_create)(thread, begin_c11, beginning);
    mask_after_birth();
    if (result != thrd_success)
        give_beginning(beginning);
    return result;
}
