/* SPDX-License-Identifier: MIT */
/*
 * signals.c -- see signals.h. What is here runs in handlers and in hooks of
 * functions that may be called in handlers (signal-safety(7)), so all state is
 * in words that change atomically.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/sys.h"
#include "alternate.h"
#include "awaited.h"
#include "handlers.h"
#include "nested.h"
#include "settle.h"
#include "signals.h"
#include "poison.h"

/* Numbers that were ever ours: one for each time that we had to give way, to a
 * program that uses all of them one after the other. */
#define NUMBERS 32u

/* Where another number for questions is looked for, from the last to the first:
 * those above are what programs take when they count from SIGRTMAX. */
#define LAST_FREE 60
#define FIRST_FREE 36

/* PROGRAM is the program's own disposition, in the one of two that CURRENT
 * names. */
struct number {
    _Atomic int signo; /* 0: free */
    _Atomic(enum signals_role) role;
    _Atomic bool is_borrowed;
    struct sigaction program[2];
    _Atomic uint32_t current;
};

static struct number numbers[NUMBERS];
static _Atomic uint64_t borrowed, closed, opened;
static signals_handler *handler;
static signals_leaving *leaving;
static signals_sigaction *real, *next;

/* Threads that are about to start a program. */
static _Atomic uint32_t being_started;

__thread volatile uint64_t signals_blocked;

void
signals_begin(signals_handler *own, signals_sigaction *real_sigaction,
              signals_sigaction *next_sigaction, signals_leaving *on_leaving)
{
    handler = own;
    real = real_sigaction;
    next = next_sigaction;
    leaving = on_leaving;
}

static struct number *
find(int signo)
{
    for (uint32_t i = 0; i < NUMBERS; i++)
        if (signo != 0 && atomic_load(&numbers[i].signo) == signo)
            return &numbers[i];
    return NULL;
}

static struct number *
find_borrowed(enum signals_role role)
{
    for (uint32_t i = 0; i < NUMBERS; i++)
        if (atomic_load(&numbers[i].is_borrowed) &&
            atomic_load(&numbers[i].role) == role)
            return &numbers[i];
    return NULL;
}

int
signals_number(enum signals_role role)
{
    const struct number *number = find_borrowed(role);
    return number == NULL ? 0 : atomic_load(&number->signo);
}

uint64_t
signals_borrowed(void)
{
    return atomic_load_explicit(&borrowed, memory_order_relaxed);
}

uint64_t
signals_closed(void)
{
    return atomic_load_explicit(&closed, memory_order_relaxed);
}

uint64_t
signals_opened(void)
{
    return atomic_load_explicit(&opened, memory_order_relaxed);
}

static const struct sigaction *
program_action(const struct number *number)
{
    return &number->program[atomic_load(&number->current)];
}

/* Let the kernel call our handler, as a number is borrowed: with all signals
 * blocked but those of an instruction (nested.h), because a handler that parks
 * must not be left by longjmp or cancellation; and on the alternate stack, if
 * there is one that is not avoided, and what the program handles may come
 * there. No system call ends because of ours; one of the program's ends it in
 * deliver.c. */
static int
install_borrowed(struct number *number, struct sigaction *old)
{
    const struct sigaction *program = program_action(number);
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    if (signals_is_handler(program))
        action.sa_flags |= program->sa_flags & SA_ONSTACK;
    else if (!alternate_is_avoided())
        action.sa_flags |= SA_ONSTACK;
    signals_set_word(&action.sa_mask, ~NESTED_FAULTS);
    return real(atomic_load(&number->signo), &action, old);
}

/* What was given back behaves as the program said. Ours that are still on the
 * way must not end it, so the default action is taken by our handler. All
 * signals are blocked until deliver.c has seen whether the thread blocks this
 * one: a question on top of it would settle that, for the upper frame alone. */
static int
install_given_back(struct number *number)
{
    int signo = atomic_load(&number->signo);
    struct sigaction action = *program_action(number);
    if (action.sa_handler == SIG_DFL)
        return install_borrowed(number, NULL);
    if (action.sa_handler == SIG_IGN)
        return real(signo, &action, NULL);
    action.sa_sigaction = handler;
    action.sa_flags = (action.sa_flags | SA_SIGINFO) & ~(int)SA_RESETHAND;
    signals_set_word(&action.sa_mask, ~NESTED_FAULTS);
    return real(signo, &action, NULL);
}

/* A free entry for SIGNO, or the one that it had before. */
static struct number *
claim(enum signals_role role, int signo)
{
    struct number *number = find(signo);
    for (uint32_t i = 0; number == NULL && i < NUMBERS; i++) {
        int none = 0;
        if (atomic_compare_exchange_strong(&numbers[i].signo, &none, signo))
            number = &numbers[i];
    }
    if (number != NULL)
        atomic_store(&number->role, role);
    return number;
}

static int
borrow(enum signals_role role, int signo)
{
    struct number *number = claim(role, signo);
    if (number == NULL)
        return -1;
    struct sigaction before;
    if (install_borrowed(number, &before) != 0)
        return -1;
    if (before.sa_sigaction != handler) {
        uint32_t other = !atomic_load(&number->current);
        handlers_show(signo, &before);
        number->program[other] = before;
        atomic_store(&number->current, other);
    }
    atomic_store(&number->is_borrowed, true);
    atomic_fetch_or(role == SIGNALS_CONTROL ? &closed : &borrowed,
                    signals_bit(signo));
    if (alternate_is_avoided())
        handlers_avoid_alternate(signals_borrowed(), next);
    /* Only now it is known what the program wants. */
    return signals_is_handler(program_action(number))
               ? install_borrowed(number, NULL)
               : 0;
}

/* Borrow a number that the program leaves alone, to have it when it is needed:
 * who blocks all signals then leaves it open, as he does ours. */
static void
borrow_spare(void)
{
    for (int signo = LAST_FREE; signo >= FIRST_FREE; signo--) {
        struct sigaction action;
        if (find(signo) == NULL && real(signo, NULL, &action) == 0 &&
            action.sa_handler == SIG_DFL && borrow(SIGNALS_SPARE, signo) == 0)
            return;
    }
}

/* Questions are asked by the spare number from now on. */
static bool
use_spare(void)
{
    struct number *spare = find_borrowed(SIGNALS_SPARE);
    if (spare == NULL)
        return false;
    atomic_store(&spare->role, SIGNALS_ASK);
    return true;
}

static void
forget_borrowed(struct number *number)
{
    atomic_store(&number->is_borrowed, false);
    uint64_t bit = signals_bit(atomic_load(&number->signo));
    atomic_fetch_or(&opened, signals_closed() & bit);
    atomic_fetch_and(&closed, ~bit);
    atomic_fetch_and(&borrowed, ~bit);
    handlers_block_again(bit, next);
}

bool
signals_give_back(int signo)
{
    bool is_borrowed = true;
    struct number *number = find(signo);
    if (number == NULL || !atomic_compare_exchange_strong(&number->is_borrowed,
                                                          &is_borrowed, false))
        return false;
    enum signals_role role = atomic_load(&number->role);
    if (role == SIGNALS_ASK && !use_spare()) {
        atomic_store(&number->is_borrowed, true);
        return false;
    }
    leaving(role);
    forget_borrowed(number);
    (void)install_given_back(number);
    awaited_come(signo);
    if (role == SIGNALS_ASK || role == SIGNALS_SPARE)
        borrow_spare();
    return true;
}

int
signals_borrow(enum signals_role role, int signo)
{
    if (borrow(role, signo) != 0)
        return -1;
    if (role == SIGNALS_TRAP)
        return 0;
    if (role == SIGNALS_ASK)
        borrow_spare();
    const struct number *number = find(signo);
    if (number != NULL && program_action(number)->sa_handler != SIG_DFL)
        (void)signals_give_back(signo);
    return 0;
}

bool
signals_is_installed(enum signals_role role)
{
    struct sys_action now;
    const struct number *number = find_borrowed(role);
    if (number == NULL ||
        sys_get_action(atomic_load(&number->signo), &now) != 0)
        return false;
    /* While a child is started, what is ignored is so for real. */
    return now.handler == (void *)handler ||
           (now.handler == (void *)SIG_IGN &&
            program_action(number)->sa_handler == SIG_IGN);
}

void
signals_lose(enum signals_role role)
{
    struct number *number = find_borrowed(role);
    if (number == NULL)
        return;
    forget_borrowed(number);
    atomic_store(&number->signo, 0);
    if (role == SIGNALS_ASK && use_spare())
        borrow_spare();
}

/* Whether the program ignores a number that is borrowed. */
static bool
is_ignored(const struct number *number)
{
    return atomic_load(&number->is_borrowed) &&
           program_action(number)->sa_handler == SIG_IGN;
}

/* Let the kernel ignore it, if it does. */
static void
ignore_for_real(const struct number *number)
{
    const struct sys_action action = {.handler = (void *)SIG_IGN};
    if (is_ignored(number))
        (void)sys_set_action(atomic_load(&number->signo), &action);
}

/* Flags that the kernel keeps: it forgets those that it does not know (Linux
 * 5.11, SA_UNSUPPORTED of sigaction(2)). libc adds the one for its restorer. */
#define SA_RESTORER 0x04000000
#define KERNEL_FLAGS                                                      \
    (SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | SA_RESTART | \
     SA_NODEFER | (int)SA_RESETHAND | 0x800 /* SA_EXPOSE_TAGBITS */)

/* ACTION as the kernel would show it. */
static struct sigaction
as_kept(const struct sigaction *action)
{
    struct sigaction kept = *action;
    kept.sa_flags = (kept.sa_flags & KERNEL_FLAGS) | SA_RESTORER;
    signals_set_word(&kept.sa_mask,
                     signals_word(&kept.sa_mask) & ~SIGNALS_NEVER);
    return kept;
}

/* The disposition of a number that is or was ours. */
static int
change_action(struct number *number, const struct sigaction *action,
              struct sigaction *old)
{
    int signo = atomic_load(&number->signo);
    uint32_t current = atomic_load(&number->current);
    struct sigaction given;
    /* Both may be the same. */
    if (action != NULL)
        given = as_kept(action);
    if (old != NULL)
        *old = number->program[current];
    if (action == NULL)
        return 0;
    number->program[!current] = given;
    atomic_store(&number->current, !current);
    if (!atomic_load(&number->is_borrowed))
        return install_given_back(number);
    bool is_wanted = (atomic_load(&number->role) != SIGNALS_TRAP &&
                      given.sa_handler != SIG_DFL) ||
                     alternate_is_apart(&given);
    if (!is_wanted || !signals_give_back(signo))
        (void)install_borrowed(number, NULL);
    /* Another thread may be about to start a program, which inherits this; if
     * it is only now, it will see to it itself. */
    if (atomic_load(&being_started) != 0)
        ignore_for_real(number);
    return 0;
}

int
signals_action(int signo, const struct sigaction *action, struct sigaction *old)
{
    struct number *number = find(signo);
    if (number != NULL)
        return change_action(number, action, old);
    if (signo <= 0 || signo >= NSIG)
        return next(signo, action, old);
    int result = handlers_action(signo, action, old, signals_borrowed(), next);
    if (result != 0)
        return result;
    /* The sampler may have borrowed the number just now. */
    number = action != NULL ? find(signo) : NULL;
    return number != NULL ? change_action(number, action, NULL) : 0;
}

bool
signals_get_program(int signo, struct sigaction *action)
{
    const struct number *number = find(signo);
    if (number == NULL)
        return false;
    *action = *program_action(number);
    return true;
}

void
signals_reset_program(int signo)
{
    struct number *number = find(signo);
    if (number != NULL)
        number->program[atomic_load(&number->current)].sa_handler = SIG_DFL;
}

void
signals_make_default(int signo)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_DFL;
    (void)real(signo, &action, NULL);
}

bool
signals_has_handler(int signo)
{
    const struct number *number = find(signo);
    return number != NULL && atomic_load(&number->is_borrowed) &&
           signals_is_handler(program_action(number));
}

bool
signals_is_kept(int signo)
{
    return find(signo) != NULL;
}

void
signals_avoid_alternate(void)
{
    for (uint32_t i = 0; i < NUMBERS; i++) {
        struct number *number = &numbers[i];
        if (!atomic_load(&number->is_borrowed))
            continue;
        if (!alternate_is_apart(program_action(number)) ||
            !signals_give_back(atomic_load(&number->signo)))
            (void)install_borrowed(number, NULL);
        if (atomic_load(&being_started) != 0)
            ignore_for_real(number);
    }
    handlers_avoid_alternate(signals_borrowed(), next);
}

void
signals_expect_threads(void)
{
    handlers_expect_threads(next);
}

void
signals_before_exec(bool is_own)
{
    if (is_own)
        atomic_fetch_add(&being_started, 1);
    for (uint32_t i = 0; i < NUMBERS; i++)
        ignore_for_real(&numbers[i]);
}

static void
handle_ignored(void)
{
    for (uint32_t i = 0; i < NUMBERS; i++)
        if (is_ignored(&numbers[i]))
            (void)install_borrowed(&numbers[i], NULL);
}

void
signals_after_failed_exec(void)
{
    uint32_t count = atomic_load(&being_started);
    /* 0 in a child that a handler forked on top of an exec. */
    while (count != 0 &&
           !atomic_compare_exchange_weak(&being_started, &count, count - 1))
        continue;
    if (count <= 1)
        handle_ignored();
}

void
signals_after_fork(void)
{
    if (atomic_exchange(&being_started, 0) != 0)
        handle_ignored();
}

void
signals_end(void)
{
    for (uint32_t i = 0; i < NUMBERS; i++) {
        int signo = atomic_load(&numbers[i].signo);
        if (signo == 0)
            continue;
        if (atomic_load(&numbers[i].is_borrowed))
            forget_borrowed(&numbers[i]);
        (void)real(signo, program_action(&numbers[i]), NULL);
        atomic_store(&numbers[i].signo, 0);
    }
    handlers_end(next);
    settle_now();
}
