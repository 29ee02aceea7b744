/* SPDX-License-Identifier: MIT */
/*
 * signals.c -- see signals.h. This code runs in handlers, and in hooks of
 * functions that may be called in handlers (signal-safety(7)). So all state is
 * in words that change atomically.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/sys.h"
#include "capture/nested.h"
#include "capture/sigwait.h"
#include "alternate.h"
#include "handlers.h"
#include "mask_sync.h"
#include "starting.h"
#include "signals.h"
#include "base/poison.h"

/* Limit of the numbers that were ever ours. To give way takes another one. */
#define NUMBERS 32u

/* Where another number for questions is searched, from the last to the first.
 * Programs that count from SIGRTMAX take the numbers above. */
#define LAST_FREE 60
#define FIRST_FREE 36

/* A number that is or was ours. The program's disposition is the one of two
 * that CURRENT names. */
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
find_number(int signo)
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

/* Let the kernel call our handler for a borrowed number. All signals are
 * blocked but those of an instruction (nested.h): a handler that parks must not
 * be left by longjmp or cancellation. It runs on an alternate stack that is not
 * avoided, if what the program handles may come there. Our signals end no
 * system call; deliver.c ends one for the program's. */
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

/* Let a number that was given back behave as the program said. Our signals on
 * their way must not end the program, so our handler takes the default action.
 * All signals are blocked until deliver.c has seen whether the thread blocks
 * this one. A question on top would settle that for the upper frame alone. */
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

/* Whether the program ignores NUMBER, which is or was borrowed. */
static bool
is_ignored(const struct number *number)
{
    return atomic_load(&number->signo) != 0 &&
           program_action(number)->sa_handler == SIG_IGN;
}

/* Whether NUMBER must really be ignored now: a started program inherits it. */
static bool
is_ignored_for_real(const struct number *number)
{
    return starting_is_on() && is_ignored(number);
}

static long
ignore_for_real(const struct number *number)
{
    const struct sys_action action = {.handler = (void *)SIG_IGN};
    return sys_set_action(atomic_load(&number->signo), &action);
}

/* Set the kernel's disposition as it must be; other threads may change that. */
static void
install(struct number *number)
{
    bool is_real;
    starting_begin_change();
    do {
        is_real = is_ignored_for_real(number);
        if (is_real)
            (void)ignore_for_real(number);
        else if (atomic_load(&number->is_borrowed))
            (void)install_borrowed(number, NULL);
        else
            (void)install_given_back(number);
    } while (is_real != is_ignored_for_real(number));
    starting_end_change();
}

/* Claim a free entry for SIGNO, or the one that it had before. */
static struct number *
claim_number(enum signals_role role, int signo)
{
    struct number *number = find_number(signo);
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
borrow_number(enum signals_role role, int signo)
{
    struct number *number = claim_number(role, signo);
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
    /* Only now is it known what the program wants. */
    if (program_action(number)->sa_handler != SIG_DFL)
        install(number);
    return 0;
}

/* Borrow an unused number before it is needed. A thread that blocks all signals
 * then leaves it open, as it does our others. */
static void
borrow_spare(void)
{
    for (int signo = LAST_FREE; signo >= FIRST_FREE; signo--) {
        struct sigaction action;
        if (find_number(signo) == NULL && real(signo, NULL, &action) == 0 &&
            action.sa_handler == SIG_DFL &&
            borrow_number(SIGNALS_SPARE, signo) == 0)
            return;
    }
}

/* Ask questions by the spare number from now on. Returns false if there is
 * none. */
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
    struct number *number = find_number(signo);
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
    sigwait_come(signo);
    if (role == SIGNALS_ASK || role == SIGNALS_SPARE)
        borrow_spare();
    return true;
}

int
signals_borrow(enum signals_role role, int signo)
{
    if (borrow_number(role, signo) != 0)
        return -1;
    if (role == SIGNALS_TRAP)
        return 0;
    if (role == SIGNALS_ASK)
        borrow_spare();
    const struct number *number = find_number(signo);
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
    /* While a child is started, an ignored number is really ignored. */
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

/* Flags that the kernel keeps. It forgets others (Linux 5.11, SA_UNSUPPORTED of
 * sigaction(2)). libc adds the flag for its restorer. */
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

/* sigaction(2) for NUMBER, which is or was ours. */
static int
change_action(struct number *number, const struct sigaction *action,
              struct sigaction *old)
{
    uint32_t current = atomic_load(&number->current);
    struct sigaction given;
    /* ACTION and OLD may be the same. */
    if (action != NULL)
        given = as_kept(action);
    if (old != NULL)
        *old = number->program[current];
    if (action == NULL)
        return 0;
    number->program[!current] = given;
    atomic_store(&number->current, !current);
    bool is_wanted = (atomic_load(&number->role) != SIGNALS_TRAP &&
                      given.sa_handler != SIG_DFL) ||
                     alternate_is_apart(&given);
    if (!is_wanted || !signals_give_back(atomic_load(&number->signo)))
        install(number);
    return 0;
}

int
signals_action(int signo, const struct sigaction *action, struct sigaction *old)
{
    struct number *number = find_number(signo);
    if (number != NULL)
        return change_action(number, action, old);
    if (signo <= 0 || signo >= NSIG)
        return next(signo, action, old);
    int result = handlers_action(signo, action, old, signals_borrowed(), next);
    if (result != 0)
        return result;
    /* The sampler may have borrowed the number just now. */
    number = action != NULL ? find_number(signo) : NULL;
    return number != NULL ? change_action(number, action, NULL) : 0;
}

bool
signals_get_program(int signo, struct sigaction *action)
{
    const struct number *number = find_number(signo);
    if (number == NULL)
        return false;
    *action = *program_action(number);
    return true;
}

void
signals_reset_program(int signo)
{
    struct number *number = find_number(signo);
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
    const struct number *number = find_number(signo);
    return number != NULL && atomic_load(&number->is_borrowed) &&
           signals_is_handler(program_action(number));
}

bool
signals_is_kept(int signo)
{
    return find_number(signo) != NULL;
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
            install(number);
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
        starting_begin();
    for (uint32_t i = 0; i < NUMBERS; i++)
        if (is_ignored(&numbers[i])) {
            if (is_own)
                install(&numbers[i]);
            else
                (void)ignore_for_real(&numbers[i]);
        }
}

static void
handle_ignored(void)
{
    for (uint32_t i = 0; i < NUMBERS; i++)
        if (atomic_load(&numbers[i].is_borrowed) && is_ignored(&numbers[i]))
            install(&numbers[i]);
}

void
signals_after_failed_exec(void)
{
    if (starting_end())
        handle_ignored();
}

void
signals_after_fork(void)
{
    if (starting_after_fork())
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
    mask_sync_now();
}
