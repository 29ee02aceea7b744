/* SPDX-License-Identifier: MIT */
/*
 * program_action.c -- see program_action.h. A lock could be held by the thread
 * that a handler has interrupted. So a thread writes a copy of its own, and
 * makes it the current one by one exchange. From then on that copy does not
 * change, until it is no longer current and another thread takes it. A reader
 * notices that, and reads again.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "program_action.h"
#include "base/poison.h"

/* Number of copies. A number has one at most that is current; the others are
 * for threads that are just setting one. A child of a fork loses those that
 * other threads of its parent were writing. Copy 0 is the default action. */
#define COPIES 128u
#define WORD_BITS 64u

static struct {
    _Atomic uint64_t handler, flags, restorer, mask;
} copies[COPIES];

/* Which copies are current, or are being written. Copy I is bit I % WORD_BITS
 * of word I / WORD_BITS. */
static _Atomic uint64_t taken[COPIES / WORD_BITS] = {1};

/* By signal: the number of the last change * COPIES + the current copy. */
static _Atomic uint32_t current[NSIG];

/* Take a free copy. One is free unless COPIES - NSIG threads were stopped while
 * they set a disposition. */
static uint32_t
take_copy(void)
{
    for (uint32_t at = 0;; at = (at + 1) % (COPIES / WORD_BITS)) {
        uint64_t word = atomic_load_explicit(&taken[at], memory_order_relaxed);
        uint64_t bit = ~word & (word + 1);
        if (bit == 0)
            sys_call(SYS_sched_yield);
        /* Pairs with free_copy: that thread has read the copy. */
        else if ((atomic_fetch_or_explicit(&taken[at], bit,
                                           memory_order_acquire) &
                  bit) == 0)
            return at * WORD_BITS + (uint32_t)__builtin_ctzll(bit);
    }
}

static void
free_copy(uint32_t i)
{
    if (i != 0)
        atomic_fetch_and_explicit(&taken[i / WORD_BITS],
                                  ~(1ull << i % WORD_BITS),
                                  memory_order_release);
}

static struct sys_action
read_copy(uint32_t i)
{
    return (struct sys_action){
        .handler = (void *)atomic_load_explicit(&copies[i].handler,
                                                memory_order_relaxed),
        .flags = atomic_load_explicit(&copies[i].flags, memory_order_relaxed),
        .restorer = (void *)atomic_load_explicit(&copies[i].restorer,
                                                 memory_order_relaxed),
        .mask = atomic_load_explicit(&copies[i].mask, memory_order_relaxed)};
}

/* Write ACTION into a copy. Returns its number. */
static uint32_t
write_copy(const struct sys_action *action)
{
    uint32_t i = take_copy();
    /* Pairs with the fence in program_action_get: a reader that sees one of
     * these stores also sees that the copy is no longer current. */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&copies[i].handler, (uint64_t)action->handler,
                          memory_order_relaxed);
    atomic_store_explicit(&copies[i].flags, action->flags,
                          memory_order_relaxed);
    atomic_store_explicit(&copies[i].restorer, (uint64_t)action->restorer,
                          memory_order_relaxed);
    atomic_store_explicit(&copies[i].mask, action->mask, memory_order_relaxed);
    return i;
}

uint32_t
program_action_version(int signo)
{
    return atomic_load_explicit(&current[signo], memory_order_acquire);
}

struct sys_action
program_action_get(int signo, uint32_t *version)
{
    struct sys_action action;
    uint32_t now;
    do {
        now = program_action_version(signo);
        action = read_copy(now % COPIES);
        atomic_thread_fence(memory_order_acquire);
    } while (atomic_load_explicit(&current[signo], memory_order_relaxed) !=
             now);
    if (version != NULL)
        *version = now;
    return action;
}

/* Make copy I the current one in place of *BEFORE. If another one is current,
 * *BEFORE becomes that one. The exchange shows the copy to readers, and gives
 * the caller the old one. */
static bool
exchange(int signo, uint32_t *before, uint32_t i)
{
    uint32_t next = *before - *before % COPIES + COPIES + i;
    return atomic_compare_exchange_strong_explicit(&current[signo], before,
                                                   next, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

struct sys_action
program_action_set(int signo, const struct sys_action *action)
{
    uint32_t i = write_copy(action), before = program_action_version(signo);
    while (!exchange(signo, &before, i))
        ;
    struct sys_action old = read_copy(before % COPIES);
    free_copy(before % COPIES);
    return old;
}

void
program_action_replace(int signo, uint32_t version,
                       const struct sys_action *action)
{
    uint32_t i = write_copy(action);
    free_copy(exchange(signo, &version, i) ? version % COPIES : i);
}
