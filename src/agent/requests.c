/* SPDX-License-Identifier: MIT */
/*
 * requests.c -- see requests.h. Requests go through a ring with one entry each.
 * A thread that asks takes a place by one exchange, fills it in and marks it.
 * The sampler takes the places in their order. A thread that gives up leaves
 * the place for its answer to the sampler. So the sampler never writes into a
 * frame that is gone.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/phase.h"
#include "base/state.h"
#include "base/sys.h"
#include "capture/ask.h"
#include "journal/journal.h"
#include "journal/journal_live.h"
#include "process/status.h"
#include "process/threads.h"
#include "sampling/sampler_thread.h"
#include "signals/cookie.h"
#include "signals/disposition.h"
#include "signals/mask_sync.h"
#include "signals/signals.h"
#include "requests.h"

#define RING 64u
#define CALLS 16u

/* A caller's place:  FREE -> ASKED -> DONE -> FREE
 *                            ASKED -> LEFT -> FREE (the sampler) */
enum call_state { CALL_FREE, CALL_ASKED, CALL_DONE, CALL_LEFT };

struct requests_call {
    _Atomic uint32_t state; /* enum call_state; a futex */
    int error;              /* once DONE */
    struct all_stacks_memory memory;
};

struct entry {
    _Atomic bool is_written;
    struct requests_item request;
};

static OF_PROFILE struct entry ring[RING];
static OF_PROFILE _Atomic uint32_t written, taken;
static OF_PROFILE struct requests_call calls[CALLS];
static uint64_t opened; /* what all threads were told to open */

/* Whether the sampler takes the signal, and whether a thread wants it to leave
 * the signal alone. */
static OF_PROFILE _Atomic uint32_t listens, must_leave;
#define LEAVE_NS 100000000u

int
requests_begin(int signo)
{
    /* A number that was given back in an earlier life of this process is not
     * taken again. */
    if (signo != 0 && signals_number(SIGNALS_CONTROL) == 0 &&
        disposition_role(signo) == SIGNALS_NONE &&
        disposition_borrow(SIGNALS_CONTROL, signo) != 0)
        return -1;
    journal_signal(signals_number(SIGNALS_CONTROL));
    return 0;
}

void
requests_unblock_signal(void)
{
    uint64_t closed = signals_closed();
    /* What comes when the number is the program's goes on to a thread of it. */
    signals_blocked |= closed;
    sys_mask(SIG_UNBLOCK, closed, NULL);
    atomic_store(&must_leave, 0);
    atomic_store(&listens, 1);
}

/* What was sent first would come last, if the sampler met it and sent it again.
 */
void
requests_block_signal(void)
{
    uint64_t until = clock_now() + LEAVE_NS;
    if (sampler_thread_is_caller() || !sampler_thread_is_there())
        return;
    atomic_store(&must_leave, 1);
    ask_ring();
    while (atomic_load(&listens) != 0 && !clock_expires(until))
        sys_futex_wait(&listens, 1, until);
}

/* In the sampler. */
static void
stop_listening(void)
{
    sys_mask(SIG_BLOCK, UINT64_MAX, NULL);
    atomic_store(&listens, 0);
    sys_futex_wake(&listens, 1 << 30);
}

/* Put REQUEST into the ring. Returns whether there was room. */
static bool
put(const struct requests_item *request)
{
    uint32_t at = atomic_load(&written);
    do {
        if (at - atomic_load(&taken) >= RING)
            return false;
    } while (!atomic_compare_exchange_weak(&written, &at, at + 1));
    ring[at % RING].request = *request;
    atomic_store_explicit(&ring[at % RING].is_written, true,
                          memory_order_release);
    ask_ring();
    return true;
}

/* In a child that shares our memory (vfork) the signal is not for us. A request
 * that finds the ring full is dropped. The sampler is busy then: a bare request
 * would tell nothing new. */
bool
requests_take(const siginfo_t *info)
{
    struct requests_item request = {.fd = -1};
    uint64_t value = 0;
    bool is_request = info->si_code == SI_USER || info->si_code == SI_QUEUE;
    if (!is_request || info->si_pid == phase_process())
        return false;
    if (info->si_code == SI_QUEUE)
        value = (uint64_t)info->si_value.sival_ptr;
    request.request = request_of(value, &request.nonce);
    if (phase_is_own())
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
requests_is_wanted(void)
{
    return is_asked() || signals_opened() != opened ||
           (atomic_load(&must_leave) != 0 && atomic_load(&listens) != 0);
}

bool
requests_next(struct requests_item *request)
{
    uint32_t at = atomic_load(&taken);
    if (!is_asked())
        return false;
    *request = ring[at % RING].request;
    atomic_store(&ring[at % RING].is_written, false);
    atomic_store(&taken, at + 1);
    return true;
}

/* No thread waits in CALL any more. */
static void
give_place(struct requests_call *call)
{
    sys_release(call->memory.bytes, call->memory.size);
    atomic_store(&call->state, CALL_FREE);
}

struct all_stacks_memory *
requests_memory(const struct requests_item *request)
{
    struct requests_call *call = request->call;
    return call != NULL && call->memory.bytes != NULL ? &call->memory : NULL;
}

void
requests_answer(const struct requests_item *request, int error,
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
requests_unblock_threads(void)
{
    uint64_t bits = signals_opened() & ~opened;
    struct status status;
    if (atomic_load(&must_leave) != 0 && atomic_load(&listens) != 0)
        stop_listening();
    if (bits == 0)
        return;
    opened |= bits;
    mask_sync_now();
    journal_signal(signals_number(SIGNALS_CONTROL));
    threads_refresh();
    for (uint32_t i = 0; i < threads_limit(); i++)
        if (threads_at(i)->tid != 0 &&
            !mask_sync_has_opened(threads_at(i)->tid) &&
            status_read(threads_at(i)->tid, &status) == 0 &&
            (status.blocked & bits) != 0)
            (void)cookie_order(threads_at(i)->tid, COOKIE_SETTLE);
}

/* A free place, NULL if all are taken: then too many threads wait already. */
static struct requests_call *
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
wait_for(struct requests_call *call, struct all_stacks_memory *memory,
         uint64_t until)
{
    uint32_t asked = CALL_ASKED;
    while (atomic_load(&call->state) == CALL_ASKED && !clock_expires(until))
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
requests_ask(enum request request, int fd, struct all_stacks_memory *memory,
             uint64_t ns)
{
    struct requests_item asked = {.request = request,
                                  .call = take_place(),
                                  .fd = fd};
    if (asked.call == NULL)
        return EAGAIN;
    uint64_t until = clock_now() + ns;
    asked.call->memory =
        memory != NULL ? *memory : (struct all_stacks_memory){.bytes = NULL};
    if (put(&asked))
        return wait_for(asked.call, memory, until);
    atomic_store(&asked.call->state, CALL_FREE);
    return EAGAIN;
}
