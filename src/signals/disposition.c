/* SPDX-License-Identifier: MIT */
/*
 * disposition.c -- see disposition.h. This code runs in handlers, and in hooks
 * of functions that may be called in handlers (signal-safety(7)). So all state
 * is in words that change atomically.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/phase.h"
#include "base/sys.h"
#include "alternate.h"
#include "handlers.h"
#include "signals.h"
#include "nested.h"
#include "program_action.h"
#include "sigwait.h"
#include "disposition.h"
#include "base/poison.h"

/* Another number is searched from the last of these to the first. Programs that
 * count from SIGRTMAX take the numbers above. */
#define LAST_FREE 60
#define FIRST_FREE 36

/* The table of all numbers. The role of a number decides:
 *
 *   NONE         the kernel has the program's disposition, which handlers.h may
 *                have changed
 *   ENDING, DUMP as NONE; but while the program leaves the default action, the
 *                ender stands there
 *   all others   our handler; program_action.h has what the program set
 *
 * A number that is borrowed loses its role of ENDING or DUMP. */
struct number {
    _Atomic(enum signals_role) role;
    _Atomic bool is_borrowed;
};

static struct number numbers[NSIG];
static signals_handler *handler, *ender;
static disposition_leaving *leaving;
static disposition_opened *opened;
static signals_sigaction *real, *next;

/* Longest wait for changes, and the pause between two looks, in ns. Changes
 * take some us, and wake no thread. */
#define CHANGES_NS 1000000000u
#define LOOK_NS 100000u

/* Threads that are about to start a program (exec, posix_spawn), and threads
 * that change a disposition meanwhile. The started program inherits what the
 * kernel ignores, so no thread may be between two states then. Each side writes
 * its own word and then reads the other's, so that one of them waits. */
static _Atomic uint32_t starters, changers;

void
disposition_begin(signals_handler *own, signals_sigaction *real_sigaction,
                  signals_sigaction *next_sigaction,
                  disposition_leaving *on_leaving,
                  disposition_opened *on_opened)
{
    handler = own;
    real = real_sigaction;
    next = next_sigaction;
    leaving = on_leaving;
    opened = on_opened;
}

/* The calling thread is about to start a program. Wait for earlier changes, for
 * CHANGES_NS at most: the calling handler may have interrupted one. */
static void
begin_starting(void)
{
    uint32_t count;
    atomic_fetch_add(&starters, 1);
    uint64_t until = clock_now() + CHANGES_NS;
    while ((count = atomic_load(&changers)) != 0 && !clock_expires(until))
        sys_futex_wait(&changers, count, clock_now() + LOOK_NS);
}

/* Decrement *COUNT, and return its old value. It is 0 in a child that a handler
 * forked on top of the beginning. */
static uint32_t
decrement(_Atomic uint32_t *count)
{
    uint32_t before = atomic_load(count);
    while (before != 0 &&
           !atomic_compare_exchange_weak(count, &before, before - 1))
        continue;
    return before;
}

/* The start is over, or has failed. Returns whether no other is under way. */
static bool
end_starting(void)
{
    return decrement(&starters) <= 1;
}

/* The entry of SIGNO, NULL if the number was never borrowed, or is lost. */
static struct number *
find_number(int signo)
{
    bool is_number = signo > 0 && signo < NSIG;
    enum signals_role role =
        is_number ? atomic_load(&numbers[signo].role) : SIGNALS_NONE;
    return role != SIGNALS_NONE && role < SIGNALS_ROLES ? &numbers[signo]
                                                        : NULL;
}

/* The entry of SIGNO, NULL if the ender never replaces its default action. */
static struct number *
find_ending(int signo)
{
    bool is_ending = signo > 0 && signo < NSIG &&
                     atomic_load(&numbers[signo].role) >= SIGNALS_ENDING;
    return is_ending ? &numbers[signo] : NULL;
}

static int
number_of(const struct number *number)
{
    return (int)(number - numbers);
}

static struct sigaction
program_action(const struct number *number)
{
    const struct sys_action action =
        program_action_get(number_of(number), NULL);
    return signals_of_kernel(&action);
}

static bool
has_program(const struct number *number, __sighandler_t wanted)
{
    return program_action(number).sa_handler == wanted;
}

/* Let ACTION be the program's disposition of NUMBER. Returns the one before. */
static struct sigaction
keep_program(struct number *number, const struct sigaction *action)
{
    const struct sys_action given = signals_for_kernel(action);
    const struct sys_action before =
        program_action_set(number_of(number), &given);
    return signals_of_kernel(&before);
}

/* Let the kernel call our handler for a borrowed number. All signals but those
 * of an instruction (nested.h) are blocked: a handler that parks must not be
 * left by longjmp or cancellation. It runs on an alternate stack that is not
 * avoided, if a signal that the program handles may come there. Our signals end
 * no system call. For the program's signals, handler.c ends it. */
static int
install_borrowed(struct number *number, struct sigaction *old)
{
    const struct sigaction program = program_action(number);
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    if (signals_is_handler(&program))
        action.sa_flags |= program.sa_flags & SA_ONSTACK;
    else if (!alternate_is_avoided())
        action.sa_flags |= SA_ONSTACK;
    signals_set_word(&action.sa_mask, ~NESTED_FAULTS);
    return real(number_of(number), &action, old);
}

/* Let a number that was given back act as the program has set it. Our signals
 * on their way must not end the program, so our handler takes the default
 * action. All signals are blocked until handler.c has seen whether the thread
 * blocks this one. A question on top would decide that for the upper frame
 * alone. */
static int
install_given_back(struct number *number)
{
    int signo = number_of(number);
    struct sigaction action = program_action(number);
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
    return atomic_load(&number->role) != SIGNALS_NONE &&
           has_program(number, SIG_IGN);
}

/* Whether NUMBER must really be ignored now: a started program inherits it. */
static bool
is_ignored_for_real(const struct number *number)
{
    return atomic_load(&starters) != 0 && is_ignored(number);
}

static long
ignore_for_real(const struct number *number)
{
    const struct sys_action action = {.handler = (void *)SIG_IGN};
    return sys_set_action(number_of(number), &action);
}

/* Set the kernel's disposition as it must be. Other threads may change how it
 * must be, so each of them checks again after its call. */
static void
install(struct number *number)
{
    bool is_real, is_borrowed;
    uint32_t version;
    int signo = number_of(number);
    atomic_fetch_add(&changers, 1);
    do {
        version = program_action_version(signo);
        is_borrowed = atomic_load(&number->is_borrowed);
        is_real = is_ignored_for_real(number);
        if (is_real)
            (void)ignore_for_real(number);
        else if (is_borrowed)
            (void)install_borrowed(number, NULL);
        else
            (void)install_given_back(number);
    } while (is_real != is_ignored_for_real(number) ||
             is_borrowed != atomic_load(&number->is_borrowed) ||
             version != program_action_version(signo));
    (void)decrement(&changers);
}

/* The signals whose dispositions are kept here, as a word. */
static uint64_t
kept_word(void)
{
    uint64_t word = 0;
    for (int signo = 1; signo < NSIG; signo++)
        if (find_number(signo) != NULL)
            word |= signals_bit(signo);
    return word;
}

static int
borrow_number(enum signals_role role, int signo)
{
    struct number *number = &numbers[signo];
    struct sigaction before;
    uint32_t version = program_action_version(signo);
    atomic_store(&number->role, role);
    if (install_borrowed(number, &before) != 0)
        return -1;
    if (before.sa_sigaction != handler) {
        disposition_show(signo, &before);
        /* Skipped if the program has just set another disposition. */
        const struct sys_action given = signals_for_kernel(&before);
        program_action_replace(signo, version, &given);
    }
    atomic_store(&number->is_borrowed, true);
    signals_add(role, signo);
    if (alternate_is_avoided())
        handlers_avoid_alternate(signals_borrowed(), kept_word(), next);
    /* The program's wish is known only now. */
    if (!has_program(number, SIG_DFL))
        install(number);
    return 0;
}

/* Borrow an unused number before a thread blocks all signals, and so that one,
 * too. Numbers become free at any time. Returns the spare number, or 0. */
static int
borrow_spare(void)
{
    for (int signo = LAST_FREE;
         signo >= FIRST_FREE && signals_number(SIGNALS_SPARE) == 0; signo--) {
        struct sigaction action;
        if (find_number(signo) == NULL && real(signo, NULL, &action) == 0 &&
            action.sa_handler == SIG_DFL)
            (void)borrow_number(SIGNALS_SPARE, signo);
    }
    return signals_number(SIGNALS_SPARE);
}

bool
disposition_can_spare(int signo)
{
    return signo != signals_number(SIGNALS_ASK) || borrow_spare() != 0;
}

/* From now on ask questions by the spare number, if one exists. */
static void
use_spare(void)
{
    int spare = borrow_spare();
    if (spare != 0) {
        atomic_store(&numbers[spare].role, SIGNALS_ASK);
        signals_set_number(SIGNALS_ASK, spare);
        signals_set_number(SIGNALS_SPARE, 0);
    }
}

static void
forget_borrowed(int signo)
{
    atomic_store(&numbers[signo].is_borrowed, false);
    signals_remove(signo);
    handlers_block_again(signals_bit(signo), next);
}

bool
disposition_give_back(int signo)
{
    bool is_borrowed = true;
    struct number *number = find_number(signo);
    if (number == NULL || !atomic_compare_exchange_strong(&number->is_borrowed,
                                                          &is_borrowed, false))
        return false;
    enum signals_role role = atomic_load(&number->role);
    signals_set_number(role, 0);
    if (role == SIGNALS_ASK)
        use_spare();
    leaving(role);
    forget_borrowed(signo);
    install(number);
    sigwait_come(signo);
    if (role == SIGNALS_ASK || role == SIGNALS_SPARE)
        borrow_spare();
    else if (role == SIGNALS_CONTROL)
        opened();
    return true;
}

int
disposition_borrow(enum signals_role role, int signo)
{
    if (borrow_number(role, signo) != 0)
        return -1;
    if (role == SIGNALS_TRAP)
        return 0;
    if (role == SIGNALS_ASK)
        borrow_spare();
    const struct number *number = find_number(signo);
    if (number != NULL && !has_program(number, SIG_DFL))
        (void)disposition_give_back(signo);
    return 0;
}

bool
disposition_is_installed(enum signals_role role)
{
    struct sys_action now;
    int signo = signals_number(role);
    if (signo == 0 || sys_get_action(signo, &now) != 0)
        return false;
    /* While a child is started, an ignored number is really ignored. */
    return now.handler == (void *)handler ||
           (now.handler == (void *)SIG_IGN && is_ignored(&numbers[signo]));
}

void
disposition_lose(enum signals_role role)
{
    int signo = signals_number(role);
    if (signo == 0)
        return;
    forget_borrowed(signo);
    /* Until another number is found: this one is the program's. */
    if (role == SIGNALS_ASK) {
        use_spare();
        borrow_spare();
    }
    atomic_store(&numbers[signo].role, SIGNALS_NONE);
    if (role == SIGNALS_CONTROL)
        opened();
}

/* A handler that a raw system call has put in place of ours stays. */
void
disposition_release(enum signals_role role)
{
    if (disposition_is_installed(role))
        (void)disposition_give_back(signals_number(role));
    else
        disposition_lose(role);
    signals_sync_now();
}

/* Flags that the kernel keeps. It forgets others (Linux 5.11, SA_UNSUPPORTED of
 * sigaction(2)). */
#define KERNEL_FLAGS                                                      \
    (SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | SA_RESTART | \
     SA_NODEFER | (int)SA_RESETHAND | 0x800 /* SA_EXPOSE_TAGBITS */)

/* Change ACTION to what the kernel would show. */
static struct sigaction
as_kept(const struct sigaction *action)
{
    struct sigaction kept = *action;
    kept.sa_flags = (kept.sa_flags & KERNEL_FLAGS) | ARCH_RESTORER_FLAG;
    signals_set_word(&kept.sa_mask,
                     signals_word(&kept.sa_mask) & ~SIGNALS_NEVER);
    return kept;
}

/* sigaction(2) for NUMBER, which is or was borrowed. */
static void
change_kept(struct number *number, const struct sigaction *action,
            struct sigaction *old)
{
    if (action == NULL) {
        if (old != NULL)
            *old = program_action(number);
        return;
    }
    /* ACTION and OLD may be the same. */
    const struct sigaction given = as_kept(action);
    const struct sigaction before = keep_program(number, &given);
    if (old != NULL)
        *old = before;
    /* Perf's signals and the program's would displace each other: the kernel
     * keeps one pending SIGTRAP. */
    bool is_wanted = atomic_load(&number->role) == SIGNALS_TRAP
                         ? signals_is_handler(&given)
                         : given.sa_handler != SIG_DFL;
    if (!disposition_can_spare(number_of(number)))
        is_wanted = alternate_is_apart(&given);
    if (!is_wanted || !disposition_give_back(number_of(number)))
        install(number);
}

void
disposition_show(int signo, struct sigaction *action)
{
    if (ender != NULL && action->sa_sigaction == ender)
        *action = program_action(&numbers[signo]);
    else
        handlers_show(signo, action);
}

/* Let the kernel call the ender for NUMBER in place of the default action. */
static void
install_ender(struct number *number)
{
    int signo = number_of(number);
    struct sigaction action, before;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = ender;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    if (!alternate_is_avoided())
        action.sa_flags |= SA_ONSTACK;
    /* No handler of the program runs any more. The ender unblocks what it
     * needs, where the stack has room for a second frame. */
    signals_set_word(&action.sa_mask, ~0ull);
    if (real(signo, &action, &before) != 0 || before.sa_sigaction == ender)
        return;
    if (before.sa_handler == SIG_DFL)
        (void)keep_program(number, &before);
    else /* Another thread has just set it. */
        (void)real(signo, &before, NULL);
}

int
disposition_action(int signo, const struct sigaction *action,
                   struct sigaction *old)
{
    struct number *number = find_number(signo);
    struct sigaction given;
    if (number != NULL) {
        change_kept(number, action, old);
        return 0;
    }
    if (signo <= 0 || signo >= NSIG)
        return next(signo, action, old);
    if (action != NULL) {
        /* An old function of libc (sigset(3)) may have given the program our
         * own function. */
        given = *action;
        disposition_show(signo, &given);
        action = &given;
    }
    /* The kernel gets the program's disposition, and fills in the rest. */
    int result = handlers_action(signo, action, old, signals_borrowed(), next);
    if (result != 0)
        return result;
    if (old != NULL)
        disposition_show(signo, old);
    if (action == NULL)
        return 0;
    /* The sampler may have borrowed the number just now. */
    if ((number = find_number(signo)) != NULL)
        change_kept(number, action, NULL);
    else if ((number = find_ending(signo)) != NULL &&
             given.sa_handler == SIG_DFL && phase_is_running())
        install_ender(number);
    return 0;
}

/* Let the kernel call the ender for SIGNO, if it has that role and the default
 * action. */
static void
replace_default(int signo)
{
    struct number *number = find_ending(signo);
    struct sys_action now;
    if (number != NULL && sys_get_action(signo, &now) == 0 &&
        now.handler == (void *)SIG_DFL)
        install_ender(number);
}

void
disposition_renew_ender(int signo)
{
    if (phase_is_running())
        replace_default(signo);
}

/* Give the numbers in WORD the role ROLE, if they have none. */
static void
begin_enders(enum signals_role role, uint64_t word)
{
    for (int signo = 1; signo < NSIG; signo++) {
        enum signals_role none = SIGNALS_NONE;
        if ((word & signals_bit(signo)) == 0)
            continue;
        atomic_compare_exchange_strong(&numbers[signo].role, &none, role);
        replace_default(signo);
    }
}

void
disposition_begin_enders(uint64_t endings, uint64_t dumps, signals_handler *own)
{
    ender = own;
    begin_enders(SIGNALS_ENDING, endings);
    begin_enders(SIGNALS_DUMP, dumps);
}

/* A system call: a function in front of libc's sigaction may need locks that
 * the program holds when it is ended. */
bool
disposition_has_ender(int signo)
{
    struct sys_action now;
    return find_ending(signo) != NULL && sys_get_action(signo, &now) == 0 &&
           now.handler == (void *)ender;
}

void
disposition_end_enders(void)
{
    for (int signo = 1; signo < NSIG; signo++) {
        const struct sigaction action = program_action(&numbers[signo]);
        bool is_there = disposition_has_ender(signo);
        if (find_ending(signo) != NULL)
            atomic_store(&numbers[signo].role, SIGNALS_NONE);
        if (is_there)
            (void)real(signo, &action, NULL);
    }
}

bool
disposition_get_program(int signo, struct sigaction *action)
{
    const struct number *number = find_number(signo);
    if (number != NULL)
        *action = program_action(number);
    return number != NULL;
}

void
disposition_reset_program(int signo)
{
    uint32_t version;
    if (find_number(signo) == NULL)
        return;
    struct sys_action action = program_action_get(signo, &version);
    action.handler = (void *)SIG_DFL;
    program_action_replace(signo, version, &action);
}

void
disposition_make_default(int signo)
{
    const struct sigaction action = {.sa_handler = SIG_DFL};
    (void)real(signo, &action, NULL);
}

bool
disposition_has_handler(int signo)
{
    const struct number *number = find_number(signo);
    if (number == NULL || !atomic_load(&number->is_borrowed))
        return false;
    const struct sigaction action = program_action(number);
    return signals_is_handler(&action);
}

enum signals_role
disposition_role(int signo)
{
    return signo > 0 && signo < NSIG ? atomic_load(&numbers[signo].role)
                                     : SIGNALS_NONE;
}

void
disposition_avoid_alternate(void)
{
    for (int signo = 1; signo < NSIG; signo++) {
        struct number *number = &numbers[signo];
        const struct sigaction action = program_action(number);
        if (disposition_has_ender(signo))
            install_ender(number);
        if (!atomic_load(&number->is_borrowed))
            continue;
        if (!alternate_is_apart(&action) || !disposition_give_back(signo))
            install(number);
    }
    handlers_avoid_alternate(signals_borrowed(), kept_word(), next);
}

void
disposition_expect_threads(void)
{
    handlers_expect_threads(next);
}

void
disposition_before_exec(bool is_own)
{
    if (is_own)
        begin_starting();
    for (int signo = 1; signo < NSIG; signo++)
        if (is_ignored(&numbers[signo])) {
            if (is_own)
                install(&numbers[signo]);
            else
                (void)ignore_for_real(&numbers[signo]);
        }
}

static void
handle_ignored(void)
{
    for (int signo = 1; signo < NSIG; signo++)
        if (atomic_load(&numbers[signo].is_borrowed) &&
            is_ignored(&numbers[signo]))
            install(&numbers[signo]);
}

void
disposition_after_failed_exec(void)
{
    if (end_starting())
        handle_ignored();
}

void
disposition_wait_for_starters(uint64_t ns)
{
    uint32_t count;
    uint64_t until = clock_now() + ns;
    while ((count = atomic_load(&starters)) != 0 && !clock_expires(until))
        sys_futex_wait(&starters, count, clock_now() + LOOK_NS);
}

void
disposition_after_fork(void)
{
    nested_note_fork();
    atomic_store(&changers, 0);
    if (atomic_exchange(&starters, 0) != 0)
        handle_ignored();
}

void
disposition_end(void)
{
    disposition_end_enders();
    for (int signo = 1; signo < NSIG; signo++) {
        struct number *number = find_number(signo);
        if (number == NULL)
            continue;
        const struct sigaction action = program_action(number);
        if (atomic_load(&number->is_borrowed))
            forget_borrowed(signo);
        (void)real(signo, &action, NULL);
        atomic_store(&number->role, SIGNALS_NONE);
    }
    handlers_end(next);
}
