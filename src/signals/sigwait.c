/* SPDX-License-Identifier: MIT */
/*
 * sigwait.c -- see sigwait.h. A waiting thread's set is kept here, where the
 * kernel reads it. The bit is set before the thread is woken. So the thread
 * either begins its wait with the bit, or is woken.
 *
 * A descriptor may have been closed, and its number used again. It is the right
 * one if it is of signalfd(2) and for the same signals (proc_pid_fdinfo(5)).
 * Then it does not matter which thread made it.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/digits.h"
#include "base/sys.h"
#include "base/text.h"
#include "cookie.h"
#include "signals.h"
#include "sigwait.h"
#include "base/poison.h"

/* Number of threads and of descriptors that are remembered. */
#define THREADS 32u
#define DESCRIPTORS 32u

struct waiter {
    _Atomic pid_t tid; /* 0: free */
    _Atomic uint64_t missing;
    sigset_t rest;
};
static struct waiter waiters[THREADS];

struct descriptor {
    _Atomic bool is_used;
    int fd;
    uint64_t word;
    _Atomic uint64_t missing; /* 0: the set is complete */
};
static struct descriptor descriptors[DESCRIPTORS];

/* Find a place for thread TID. It is free, or its thread has ended, or the
 * thread itself left it by a jump. */
static struct waiter *
find_waiter(pid_t tid)
{
    for (uint32_t i = 0; i < THREADS; i++)
        if (atomic_load(&waiters[i].tid) == tid)
            return &waiters[i];
    for (uint32_t i = 0; i < THREADS; i++) {
        pid_t holder = atomic_load(&waiters[i].tid);
        bool is_free =
            holder == 0 || sys_call(SYS_tgkill, sys_getpid(), holder) != 0;
        if (is_free &&
            atomic_compare_exchange_strong(&waiters[i].tid, &holder, tid))
            return &waiters[i];
    }
    return NULL;
}

const sigset_t *
sigwait_begin(const sigset_t *set, const sigset_t *rest)
{
    uint64_t missing = signals_word(set) & ~signals_word(rest);
    struct waiter *waiter = missing != 0 ? find_waiter(sys_gettid()) : NULL;
    if (waiter == NULL)
        return NULL;
    waiter->rest = *rest;
    atomic_store(&waiter->missing, missing);
    /* A number that was given back just now did not find this waiter. */
    uint64_t come = missing & ~(signals_borrowed() | signals_closed());
    signals_set_word(&waiter->rest, signals_word(&waiter->rest) | come);
    return &waiter->rest;
}

void
sigwait_end(const sigset_t *set)
{
    for (uint32_t i = 0; i < THREADS; i++)
        if (set == &waiters[i].rest) {
            atomic_store(&waiters[i].missing, 0);
            atomic_store(&waiters[i].tid, 0);
        }
}

/* Whether a signal in UNBLOCKED would run a handler of the program. */
static bool
is_handled(uint64_t unblocked)
{
    for (int signo = 1; unblocked != 0 && signo < NSIG; signo++) {
        struct sys_action action;
        if ((unblocked & signals_bit(signo)) != 0 &&
            sys_get_action(signo, &action) == 0 &&
            action.handler != (void *)SIG_DFL &&
            action.handler != (void *)SIG_IGN)
            return true;
    }
    return false;
}

bool
sigwait_is_near(const sigset_t *set, const sigset_t *rest)
{
    uint64_t missing = signals_word(set) & ~signals_word(rest), blocked = 0;
    uint64_t ours = signals_borrowed() | signals_closed();
    if ((missing & ~ours) != 0)
        return true;
    sys_mask(SIG_BLOCK, 0, &blocked);
    return missing != 0 &&
           !is_handled(~(blocked | ours | signals_word(set) | SIGNALS_OF_LIBC));
}

void
sigwait_by_descriptor(int fd, const sigset_t *set, const sigset_t *rest)
{
    uint64_t missing = signals_word(set) & ~signals_word(rest) & ~SIGNALS_NEVER;
    for (uint32_t i = 0; fd >= 0 && missing != 0 && i < DESCRIPTORS; i++) {
        struct descriptor *descriptor = &descriptors[i];
        bool is_same =
            atomic_load(&descriptor->is_used) && descriptor->fd == fd;
        if (!is_same && atomic_exchange(&descriptor->is_used, true))
            continue;
        descriptor->fd = fd;
        descriptor->word = signals_word(rest) & ~SIGNALS_NEVER;
        atomic_store(&descriptor->missing, missing);
        return;
    }
}

/* The signals that descriptor FD of signalfd(2) is for. 0: it is no such
 * descriptor. */
static uint64_t
word_of(int fd)
{
    static const char name[] = "sigmask:\t";
    char path[64], info[512];
    struct text text;
    text_begin(&text, path, sizeof(path));
    text_add(&text, "/proc/self/fdinfo/");
    text_add_number(&text, (uint64_t)fd);
    if (sys_read_file(path, info, sizeof(info)) <= 0)
        return 0;
    const char *at = strstr(info, name);
    if (at == NULL)
        return 0;
    at += sizeof(name) - 1;
    return digits_take_hex(&at);
}

static void
extend_descriptor(struct descriptor *descriptor, uint64_t bit)
{
    if (!atomic_load(&descriptor->is_used) ||
        (atomic_load(&descriptor->missing) & bit) == 0)
        return;
    if (word_of(descriptor->fd) != descriptor->word) {
        atomic_store(&descriptor->is_used, false);
        return;
    }
    descriptor->word |= bit;
    atomic_fetch_and(&descriptor->missing, ~bit);
    (void)sys_call(SYS_signalfd4, descriptor->fd, &descriptor->word,
                   sizeof(descriptor->word));
}

void
sigwait_come(int signo)
{
    uint64_t bit = signals_bit(signo);
    int by = signals_number(SIGNALS_ASK);
    for (uint32_t i = 0; i < DESCRIPTORS; i++)
        extend_descriptor(&descriptors[i], bit);
    for (uint32_t i = 0; i < THREADS; i++) {
        pid_t tid = atomic_load(&waiters[i].tid);
        if (tid == 0 || (atomic_load(&waiters[i].missing) & bit) == 0)
            continue;
        signals_set_word(&waiters[i].rest,
                         signals_word(&waiters[i].rest) | bit);
        /* Where we have no other number, SIGNO itself still comes to us. */
        (void)cookie_send(tid, by != 0 ? by : signo,
                          cookie_make(COOKIE_SETTLE, 0));
    }
}
