/* SPDX-License-Identifier: MIT */
/*
 * signals.h -- the signal numbers that are ours, as words that any code may
 * read at any time. disposition.h says how a number becomes ours, and how it
 * becomes the program's again.
 *
 * If a number is no longer ours, a thread's real mask is made the one that the
 * program believes in. If the thread blocked the number, it really blocks it
 * from then on. A number that was kept closed is opened.
 */
#ifndef SIGNALS_SIGNALS_H
#define SIGNALS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <ucontext.h>

#include "base/sys.h"

enum signals_role {
    SIGNALS_NONE,
    SIGNALS_ASK,     /* questions and timers: any number is good */
    SIGNALS_TRAP,    /* perf events: SIGTRAP, or nothing */
    SIGNALS_SPARE,   /* the next number for questions */
    SIGNALS_CONTROL, /* requests from outside (base/request.h) */
    SIGNALS_ROLES,   /* those of one borrowed number each */
    /* For numbers that stay the program's. If it leaves the default action, our
     * handler first has the profile written, or all stacks printed. */
    SIGNALS_ENDING = SIGNALS_ROLES,
    SIGNALS_DUMP
};

/* A set of signals in one word: signal N is bit N - 1, as in the kernel. */
static inline uint64_t
signals_bit(int signo)
{
    return 1ull << (signo - 1);
}

static inline uint64_t
signals_word(const sigset_t *set)
{
    uint64_t word;
    __builtin_memcpy(&word, set, sizeof(word));
    return word;
}

static inline void
signals_set_word(sigset_t *set, uint64_t word)
{
    __builtin_memcpy(set, &word, sizeof(word));
}

/* The dispositions of libc and of the kernel. */
static inline struct sys_action
signals_for_kernel(const struct sigaction *action)
{
    return (struct sys_action){.handler = (void *)action->sa_handler,
                               .flags = (unsigned)action->sa_flags,
                               .restorer = (void *)action->sa_restorer,
                               .mask = signals_word(&action->sa_mask)};
}

static inline struct sigaction
signals_of_kernel(const struct sys_action *action)
{
    struct sigaction given;
    memset(&given, 0, sizeof(given));
    given.sa_handler = (__sighandler_t)action->handler;
    given.sa_flags = (int)action->flags;
    given.sa_restorer = (void (*)(void))action->restorer;
    signals_set_word(&given.sa_mask, action->mask);
    return given;
}

/* Whether ACTION calls a function of the program. */
static inline bool
signals_is_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* The C library's own signals (nptl(7)). pthread_cancel(3) interrupts a thread
 * by the first. setuid(2) reaches all threads by the second, and waits for
 * them. */
#define SIGNALS_CANCEL 32
#define SIGNALS_SETXID 33
#define SIGNALS_OF_LIBC \
    (signals_bit(SIGNALS_CANCEL) | signals_bit(SIGNALS_SETXID))

/* The signals that no thread can block and no descriptor can receive
 * (sigprocmask(2), signalfd(2)), as a word. */
#define SIGNALS_NEVER (signals_bit(SIGKILL) | signals_bit(SIGSTOP))

/* si_code of a perf event's SIGTRAP (sigaction(2), TRAP_PERF, Linux 5.13),
 * which older C libraries do not declare. */
#define SIGNALS_PERF_CODE 6

typedef void signals_handler(int, siginfo_t *, void *);
typedef int signals_sigaction(int, const struct sigaction *,
                              struct sigaction *);

/* The number borrowed for ROLE, 0: none now; and its setting, which is for
 * disposition.c alone. Context: any. */
int signals_number(enum signals_role role);
void signals_set_number(enum signals_role role, int signo);

/* All numbers that are borrowed now and kept open; and all that are kept
 * closed. Context: any. */
uint64_t signals_borrowed(void);
uint64_t signals_closed(void);

/* Numbers that were closed until they were given back. Threads that are older
 * may still block them. Context: any. */
uint64_t signals_opened(void);

/* Note that SIGNO is borrowed for ROLE now; or that it is no longer borrowed.
 * Both are for disposition.c alone. Context: any. */
void signals_add(enum signals_role role, int signo);
void signals_remove(int signo);

/* The borrowed numbers, open or closed, that the calling thread blocks, as the
 * program believes. It is in static TLS: reading it is one load, also in a
 * handler. */
extern __thread volatile uint64_t signals_blocked;

/* The numbers that the calling thread's real mask blocks because we keep them
 * closed. A number that is no longer closed is opened. */
extern __thread volatile uint64_t signals_shut;

/* Make the calling thread's mask real: at once, or in CONTEXT, to which a
 * handler returns. The thread itself calls these functions. Context: any. */
void signals_sync_now(void);
void signals_sync_in(ucontext_t *context);

/* Whether the calling thread's mask needs no change. Context: any. */
bool signals_are_synced(void);

/* Note that another process may share the table of dispositions, and live
 * longer than this one (CLONE_SIGHAND of clone(2)); and whether that was noted.
 * A forked child has a table of its own. Context: any. */
void signals_share_table(void);
bool signals_table_is_shared(void);

/* Whether thread TID is known to have opened what was closed. If not, it may
 * still block that, though the program believes otherwise. Context: any thread.
 */
bool signals_has_opened(pid_t tid);

#endif
