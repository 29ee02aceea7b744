/* SPDX-License-Identifier: MIT */
/*
 * handlers.c -- see handlers.h. A handler's address, its flags and its mask are
 * one word each. A handler may run while another thread sets it. A function
 * that takes one argument can be called with three (psABI, section 3.2.3). So
 * the address is all that a call needs.
 *
 * Two kinds of handlers are left as they are. Handlers that are called once
 * (SA_RESETHAND): after them the signal would end the process. And handlers of
 * signals that the kernel sends to the thread that has caused them, or has used
 * up some time.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "alternate.h"
#include "nested.h"
#include "restart.h"
#include "stray.h"
#include "handlers.h"
#include "base/poison.h"

static _Atomic bool has_threads;

/* Signals whose handlers were set by libc's functions; those for which our
 * function is installed; and those whose program's handler has no SA_SIGINFO.
 * Signal N is bit N - 1. */
static _Atomic uint64_t is_known, is_wrapped, is_plain;

/* By signal: the program's handler, and the signals that were taken out of its
 * sa_mask and put in. */
static _Atomic(signals_handler *) handlers[NSIG];
static _Atomic uint64_t taken_out[NSIG], put_in[NSIG];

/* Call the program's handler. A tail call: none of our frames is on the stack
 * of that handler. */
static void
call_handler(int signo, siginfo_t *info, void *context)
{
    stray_end_wait();
    atomic_load (&handlers[signo])(signo, info, context);
}

/* Handle a signal that may be for the process, and may have gone astray. */
static __attribute__((noinline)) void
run_unless_stray(int signo, siginfo_t *info, void *context)
{
    if (stray_send_on(signo, info))
        restart_for_another(context);
    else
        call_handler(signo, info, context);
}

/* The function that the kernel calls. A signal that tgkill(2) sent to this
 * thread cannot have gone astray. */
static void
run_first(int signo, siginfo_t *info, void *context)
{
    if (info->si_code == SI_TKILL)
        call_handler(signo, info, context);
    else
        run_unless_stray(signo, info, context);
}

static bool
is_ours(const struct sigaction *action)
{
    return action->sa_sigaction == run_first;
}

static bool
can_be_wrapped(int signo, const struct sigaction *action)
{
    uint64_t never = NESTED_FAULTS | signals_bit(SIGTRAP) |
                     signals_bit(SIGABRT) | signals_bit(SIGPIPE) |
                     signals_bit(SIGXFSZ) | signals_bit(SIGXCPU) |
                     signals_bit(SIGVTALRM) | signals_bit(SIGPROF);
    return (never & signals_bit(signo)) == 0 && signals_is_handler(action) &&
           (action->sa_flags & (int)SA_RESETHAND) == 0 && !is_ours(action) &&
           !alternate_is_apart(action);
}

/* Put our function into ACTION, in place of the program's. */
static void
wrap_handler(int signo, struct sigaction *action)
{
    uint64_t bit = signals_bit(signo);
    if ((action->sa_flags & SA_SIGINFO) != 0)
        atomic_fetch_and(&is_plain, ~bit);
    else
        atomic_fetch_or(&is_plain, bit);
    atomic_store(&handlers[signo], action->sa_sigaction);
    atomic_fetch_or(&is_wrapped, bit);
    action->sa_sigaction = run_first;
    action->sa_flags |= SA_SIGINFO;
}

/* Put HANDLER into ACTION in place of our function. HAS_NO_INFO: without
 * SA_SIGINFO. */
static void
show_program(struct sigaction *action, signals_handler *handler,
             bool has_no_info)
{
    if (!is_ours(action))
        return;
    action->sa_sigaction = handler;
    if (has_no_info)
        action->sa_flags &= ~SA_SIGINFO;
}

void
handlers_show(int signo, struct sigaction *action)
{
    show_program(action, atomic_load(&handlers[signo]),
                 (atomic_load(&is_plain) & signals_bit(signo)) != 0);
}

/* Make GIVEN the action for the kernel. *OUT becomes what was taken out of its
 * mask, *IN what was put in. */
static void
prepare_action(int signo, struct sigaction *given, uint64_t ours, uint64_t *out,
               uint64_t *in)
{
    uint64_t mask = signals_word(&given->sa_mask);
    *out = mask & ours;
    *in = alternate_is_apart(given) ? ours : 0;
    signals_set_word(&given->sa_mask, (mask & ~*out) | *in);
    /* An old function of libc (sigset(3)) may have given the program our own
     * function. */
    handlers_show(signo, given);
    if (atomic_load(&has_threads) && can_be_wrapped(signo, given))
        wrap_handler(signo, given);
}

int
handlers_action(int signo, const struct sigaction *action,
                struct sigaction *old, uint64_t ours, signals_sigaction *next)
{
    struct sigaction given;
    uint64_t out = 0, was_out = atomic_load(&taken_out[signo]);
    uint64_t in = 0, was_in = atomic_load(&put_in[signo]);
    /* Read first: a new handler overwrites it. */
    signals_handler *was = atomic_load(&handlers[signo]);
    bool was_plain = (atomic_load(&is_plain) & signals_bit(signo)) != 0;
    if (action != NULL) {
        given = *action;
        prepare_action(signo, &given, ours, &out, &in);
    }
    int result = next(signo, action != NULL ? &given : NULL, old);
    if (result != 0)
        return result;
    if (old != NULL) {
        uint64_t mask = signals_word(&old->sa_mask);
        signals_set_word(&old->sa_mask, (mask & ~was_in) | was_out);
        show_program(old, was, was_plain);
    }
    if (action != NULL) {
        atomic_fetch_or(&is_known, signals_bit(signo));
        atomic_store(&taken_out[signo], out);
        atomic_store(&put_in[signo], in);
    }
    return 0;
}

void
handlers_forget(int signo)
{
    if (signo <= 0 || signo >= NSIG)
        return;
    atomic_fetch_or(&is_known, signals_bit(signo));
    atomic_store(&taken_out[signo], 0);
    atomic_store(&put_in[signo], 0);
}

bool
handlers_are_kept(int signo)
{
    return signo > 0 && signo < NSIG && atomic_load(&has_threads);
}

void
handlers_block_again(uint64_t which, signals_sigaction *next)
{
    for (int signo = 1; signo < NSIG; signo++) {
        struct sigaction action;
        uint64_t out = atomic_load(&taken_out[signo]) & which;
        uint64_t in = atomic_load(&put_in[signo]) & which;
        if ((out | in) == 0 || next(signo, NULL, &action) != 0)
            continue;
        uint64_t mask = signals_word(&action.sa_mask);
        signals_set_word(&action.sa_mask, (mask & ~in) | out);
        (void)next(signo, &action, NULL);
        atomic_fetch_and(&taken_out[signo], ~which);
        atomic_fetch_and(&put_in[signo], ~which);
    }
}

/* Our function must not be called first: it would write to the stack. */
void
handlers_avoid_alternate(uint64_t ours, uint64_t kept, signals_sigaction *next)
{
    for (int signo = 1; signo < NSIG; signo++) {
        struct sigaction action;
        if ((atomic_load(&is_known) & signals_bit(signo)) == 0 ||
            (kept & signals_bit(signo)) != 0 ||
            next(signo, NULL, &action) != 0 || !alternate_is_apart(&action))
            continue;
        uint64_t mask = signals_word(&action.sa_mask);
        handlers_show(signo, &action);
        signals_set_word(&action.sa_mask, mask | ours);
        (void)next(signo, &action, NULL);
        atomic_store(&put_in[signo], ours);
    }
}

void
handlers_expect_threads(signals_sigaction *next)
{
    if (atomic_load(&has_threads) || atomic_exchange(&has_threads, true))
        return;
    for (int signo = 1; signo < NSIG; signo++) {
        struct sigaction action;
        if ((atomic_load(&is_known) & signals_bit(signo)) == 0 ||
            next(signo, NULL, &action) != 0 || !can_be_wrapped(signo, &action))
            continue;
        wrap_handler(signo, &action);
        (void)next(signo, &action, NULL);
    }
}

void
handlers_end(signals_sigaction *next)
{
    uint64_t wrapped = atomic_exchange(&is_wrapped, 0);
    atomic_store(&has_threads, false);
    for (int signo = 1; wrapped != 0 && signo < NSIG; signo++) {
        struct sigaction action;
        if ((wrapped & signals_bit(signo)) == 0 ||
            next(signo, NULL, &action) != 0 || !is_ours(&action))
            continue;
        handlers_show(signo, &action);
        (void)next(signo, &action, NULL);
    }
}
