/* SPDX-License-Identifier: MIT */
/*
 * signals.h -- the signal numbers that are ours, and what the program believes
 * of them.
 *
 * A number is borrowed while the program takes no interest in it: the program
 * sees the disposition that it left there, and what its threads block of it is
 * kept beside their masks, never in them. The first interest gives the number
 * back: a disposition of the program's own, a wait for the number, or one that
 * somebody sent to a thread that blocks it. From then on flags and masks are
 * really what the program set, questions are asked by another number, and our
 * handler only keeps from the program those of ours that are still on the way.
 *
 * Most numbers are kept open: no thread of the program really blocks them. The
 * one for requests is kept closed: all of them block it, though they believe
 * what they have set, so that the kernel wakes none of them for it, and the
 * sampler alone receives it.
 */
#ifndef CAPTURE_SIGNALS_H
#define CAPTURE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

enum signals_role {
    SIGNALS_ASK,     /* questions and timers: any number will do */
    SIGNALS_TRAP,    /* perf events: SIGTRAP, or nothing */
    SIGNALS_SPARE,   /* what questions are asked by when they have to move */
    SIGNALS_CONTROL, /* requests from outside (base/request.h) */
};

/* A set of signals in one word: signal N is bit N - 1, as the kernel has it. */
static inline uint64_t
signals_bit(int signo)
{
    return 1ull << (signo - 1);
}

static inline uint64_t
signals_word(const sigset_t *set)
{
    uint64_t word;
    memcpy(&word, set, sizeof(word));
    return word;
}

static inline void
signals_set_word(sigset_t *set, uint64_t word)
{
    memcpy(set, &word, sizeof(word));
}

/* Whether ACTION calls a function of the program's. */
static inline bool
signals_is_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* Those of the C library (nptl(7)): pthread_cancel(3) interrupts a thread by
 * the first; setuid(2) reaches all threads by the second, and waits for them.
 */
#define SIGNALS_CANCEL 32
#define SIGNALS_SETXID 33
#define SIGNALS_OF_LIBC \
    (signals_bit(SIGNALS_CANCEL) | signals_bit(SIGNALS_SETXID))

/* Those that the kernel blocks for nobody and gives to no descriptor
 * (sigprocmask(2), signalfd(2)), as a word. */
#define SIGNALS_NEVER (signals_bit(SIGKILL) | signals_bit(SIGSTOP))

/* si_code of a perf event's SIGTRAP (sigaction(2), TRAP_PERF, Linux 5.13),
 * which older C libraries do not declare. */
#define SIGNALS_PERF_CODE 6

typedef void signals_handler(int, siginfo_t *, void *);

/* The number of ROLE is about to be given back. In handler, any thread. */
typedef void signals_leaving(enum signals_role role);

typedef int signals_sigaction(int, const struct sigaction *,
                              struct sigaction *);

/* HANDLER gets every signal of the numbers borrowed, and has to find out which
 * of them are ours. REAL is sigaction(2) itself, NEXT what the program would
 * call without us: a sanitizer may stand between. LEAVING has perf's events
 * taken back, and the sampler told. */
void signals_begin(signals_handler *handler, signals_sigaction *real,
                   signals_sigaction *next, signals_leaving *leaving);

/* Borrow SIGNO, 1 to 64, for ROLE. A disposition that is not the default one
 * is an interest of the program's: another number is taken at once, if the role
 * allows. Returns 0, or -1 with errno. */
int signals_borrow(enum signals_role role, int signo);

/* The number borrowed for ROLE, 0 if there is none now. Any context. */
int signals_number(enum signals_role role);

/* All numbers that are borrowed now and kept open; and those that are kept
 * closed. Any context. */
uint64_t signals_borrowed(void);
uint64_t signals_closed(void);

/* Numbers that were closed until they were given back. Threads of before may
 * block them still. Any context. */
uint64_t signals_opened(void);

/* Whether the kernel still calls our handler for the number of ROLE: a program
 * may have set another by a raw system call. Any thread. */
bool signals_is_installed(enum signals_role role);

/* The program has taken the number of ROLE by a raw system call: it is no
 * longer ours, and another is borrowed if the role allows. */
void signals_lose(enum signals_role role);

/* The program is interested in SIGNO: give it back. False if it stays borrowed,
 * because no other number is free, or if it is not borrowed. Waits for the
 * sampler to take back its perf events, for a second at most: one of
 * ours that is pending would swallow the program's. In handler, any thread. */
bool signals_give_back(int signo);

/* sigaction(2) as the program sees it, for any SIGNO. Returns 0, or -1 with
 * errno. Any thread, in handler. */
int signals_action(int signo, const struct sigaction *action,
                   struct sigaction *old);

/* Whether the disposition of SIGNO is or was kept here, because the number is
 * or was ours. All others are the business of handlers.h. */
bool signals_is_kept(int signo);

/* Alternate stacks are avoided from now on (alternate.h): a thread that is on
 * its own blocks the numbers borrowed. Any thread, in handler. */
void signals_avoid_alternate(void);

/* The program, which has one thread, is about to have several. */
void signals_expect_threads(void);

/* Of the numbers borrowed, open or closed, those that the calling thread
 * blocks, as the program believes. Static TLS: reading it is one load, in a
 * handler too. */
extern __thread volatile uint64_t signals_blocked;

/* The program's own disposition of a number that is or was ours, in ACTION;
 * false for any other. In handler. */
bool signals_get_program(int signo, struct sigaction *action);

/* It is the default one from now on: as the program sees it (SA_RESETHAND), or
 * as the kernel has it. In handler. */
void signals_reset_program(int signo);
void signals_make_default(int signo);

/* Whether the program has a handler of its own for SIGNO, which is borrowed. */
bool signals_has_handler(int signo);

/* Around exec and posix_spawn: what the program ignores is really ignored,
 * because the new image inherits that. Several threads may be about it; IS_OWN:
 * in this process, not in a child that shares our memory and may never come
 * back. */
void signals_before_exec(bool is_own);
void signals_after_failed_exec(void);

/* In the child of a fork, which has none of the threads that were about it. */
void signals_after_fork(void);

/* This process is not profiled (a forked child): everything is made what the
 * program believes it to be, and no number is ours any more. */
void signals_end(void);

#endif
