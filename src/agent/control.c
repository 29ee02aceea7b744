/* SPDX-License-Identifier: MIT */
/*
 * control.c -- see control.h. Requests go through a ring with one entry each:
 * who asks takes a place by one exchange, fills it in and marks it; the sampler
 * takes them in their order. A thread that calls leaves its place for the
 * answer to the sampler when it gives up, so that nobody writes into a frame
 * that is gone.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "capture/settle.h"
#include "capture/signals.h"
#include "capture/suspend.h"
#include "target/status.h"
#include "target/threads.h"
#include "control.h"
#include "journal_head.h"
#include "journal_live.h"
#include "sampler_thread.h"

#define RING 64u
#define CALLS 16u

/* A caller's place:  FREE -> ASKED -> DONE -> FREE
 *                            ASKED -> LEFT -> FREE (the sampler) */
enum call_state { CALL_FREE, CALL_ASKED, CALL_DONE, CALL_LEFT };

struct control_call {
    _Atomic uint32_t state; /* enum call_state; a futex */
    int error;              /* once DONE */
    struct dump_memory memory;
};

struct entry {
    _Atomic bool is_written;
    struct control_request request;
};

static struct entry ring[RING];
static _Atomic uint32_t written, taken;
static struct control_call calls[CALLS];
static uint64_t opened; /* what all threads were told to open */
static pid_t process;   /* that takes requests */

/* The sampler takes the signal; somebody wants it to leave it alone. */
static _Atomic uint32_t listens, must_leave;
#define LEAVE_NS 100000000u

/* In the child of a fork nobody waits, and what was asked was the parent's. */
static void
forget(void)
{
    for (uint32_t i = 0; i < RING; i++)
        atomic_store(&ring[i].is_written, false);
    for (uint32_t i = 0; i < CALLS; i++)
        atomic_store(&calls[i].state, CALL_FREE);
    atomic_store(&written, 0);
    atomic_store(&taken, 0);
}

int
control_begin(int signo)
{
    forget();
    atomic_store(&listens, 0);
    process = sys_getpid();
    /* What was given back in an earlier life of this process stays so. */
    if (signo != 0 && control_signal() == 0 && !signals_is_kept(signo) &&
        signals_borrow(SIGNALS_CONTROL, signo) != 0)
        return -1;
    journal_head_signal(control_signal());
    return 0;
}

int
control_signal(void)
{
    return signals_number(SIGNALS_CONTROL);
}

void
control_listen(void)
{
    uint64_t closed = signals_closed();
    /* What comes when the number is the program's goes on to a thread of it. */
    signals_blocked |= closed;
    arch_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&closed, 0,
                 sizeof(closed), 0, 0);
    atomic_store(&must_leave, 0);
    atomic_store(&listens, 1);
}

/* What was sent first would come last, if the sampler met it and sent it again.
 */
void
control_deafen(void)
{
    uint64_t until = clock_now() + LEAVE_NS;
    if (sampler_thread_is_caller() || !sampler_thread_is_there())
        return;
    atomic_store(&must_leave, 1);
    suspend_ring();
    while (atomic_load(&listens) != 0 && clock_now() < until)
        sys_futex_wait(&listens, 1, until);
}

/* In the sampler. */
static void
stop_listening(void)
{
    uint64_t all = ~0ull;
    arch_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, 0, sizeof(all), 0,
                 0);
    atomic_store(&listens, 0);
    sys_futex_wake(&listens, 1 << 30);
}

/* A handler that was put in place of ours behind our back stays. */
void
control_release(void)
{
    if (signals_is_installed(SIGNALS_CONTROL))
        (void)signals_give_back(control_signal());
    else
        signals_lose(SIGNALS_CONTROL);
    settle_now();
    suspend_ring();
}

/* Put REQUEST into the ring. Returns whether there was room. */
static bool
put(const struct control_request *request)
{
    uint32_t at = atomic_load(&written);
    do {
        if (at - atomic_load(&taken) >= RING)
            return false;
    } while (!atomic_compare_exchange_weak(&written, &at, at + 1));
    ring[at % RING].request = *request;
    atomic_store_explicit(&ring[at % RING].is_written, true,
                          memory_order_release);
    suspend_ring();
    return true;
}

/* In a child that shares our memory (vfork) the signal is not for us; a full
 * ring has so much to do that one more bare request would tell nothing new, and
 * others will not be answered. */
bool
control_take(const siginfo_t *info)
{
    struct control_request request = {.fd = -1};
    uint64_t value = 0;
    bool is_request = info->si_code == SI_USER || info->si_code == SI_QUEUE;
    if (!is_request || info->si_pid == process)
        return false;
    if (info->si_code == SI_QUEUE)
        value = (uint64_t)info->si_value.sival_ptr;
    request.request = request_of(value, &request.nonce);
    if (sys_getpid() == process)
        (void)put(&request);
    return true;
}

/* Whether there is something in the ring. */
static bool
is_asked(void)
{
    uint32_t at = atomic_load_explicit(&taken, memory_order_relaxed);
    return atomic_load_explicit(&ring[at % RING].is_written,
                                memory_order_acquire);
}

bool
control_is_wanted(void)
{
    return is_asked() || signals_opened() != opened ||
           (atomic_load(&must_leave) != 0 && atomic_load(&listens) != 0);
}

bool
control_next(struct control_request *request)
{
    uint32_t at = atomic_load(&taken);
    if (!is_asked())
        return false;
    *request = ring[at % RING].request;
    atomic_store(&ring[at % RING].is_written, false);
    atomic_store(&taken, at + 1);
    return true;
}

/* Nobody waits in CALL any more. */
static void
give_place(struct control_call *call)
{
    sys_release(call->memory.bytes, call->memory.size);
    atomic_store(&call->state, CALL_FREE);
}

struct dump_memory *
control_memory(const struct control_request *request)
{
    struct control_call *call = request->call;
    return call != NULL && call->memory.bytes != NULL ? &call->memory : NULL;
}

void
control_answer(const struct control_request *request, int error,
               const char *text)
{
    uint32_t asked = CALL_ASKED;
    if (request->nonce != 0)
        journal_live_answer(request->nonce, error, text);
    if (request->call == NULL)
        return;
    request->call->error = error;
    if (atomic_compare_exchange_strong(&request->call->state, &asked,
                                       CALL_DONE))
        sys_futex_wake(&request->call->state, 1);
    else
        give_place(request->call);
}

void
control_open(void)
{
    uint64_t bits = signals_opened() & ~opened;
    struct status status;
    if (atomic_load(&must_leave) != 0 && atomic_load(&listens) != 0)
        stop_listening();
    if (bits == 0)
        return;
    opened |= bits;
    settle_now();
    journal_head_signal(control_signal());
    threads_refresh();
    for (uint32_t i = 0; i < threads_limit(); i++)
        if (threads_at(i)->tid != 0 && !settle_has_opened(threads_at(i)->tid) &&
            status_read(threads_at(i)->tid, &status) == 0 &&
            (status.blocked & bits) != 0)
            suspend_settle(threads_at(i)->tid);
}

/* A free place, NULL if all are taken: then too many threads wait already. */
static struct control_call *
take_place(void)
{
    for (uint32_t i = 0; i < CALLS; i++) {
        uint32_t none = CALL_FREE;
        if (atomic_compare_exchange_strong(&calls[i].state, &none, CALL_ASKED))
            return &calls[i];
    }
    return NULL;
}

/* Wait for the answer until UNTIL. */
static int
wait_for(struct control_call *call, struct dump_memory *memory, uint64_t until)
{
    uint32_t asked = CALL_ASKED;
    while (atomic_load(&call->state) == CALL_ASKED && clock_now() < until)
        sys_futex_wait(&call->state, CALL_ASKED, until);
    if (atomic_compare_exchange_strong(&call->state, &asked, CALL_LEFT))
        return ETIMEDOUT;
    int error = call->error;
    if (memory != NULL)
        *memory = call->memory;
    atomic_store(&call->state, CALL_FREE);
    return error;
}

int
control_ask(enum request request, int fd, struct dump_memory *memory,
            uint64_t ns)
{
    struct control_request asked = {.request = request,
                                    .call = take_place(),
                                    .fd = fd};
    if (asked.call == NULL)
        return EAGAIN;
    uint64_t until = clock_now() + ns;
    asked.call->memory =
        memory != NULL ? *memory : (struct dump_memory){.bytes = NULL};
    if (put(&asked))
        return wait_for(asked.call, memory, until);
    atomic_store(&asked.call->state, CALL_FREE);
    return EAGAIN;
}
