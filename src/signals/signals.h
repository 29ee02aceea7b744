/* SPDX-License-Identifier: MIT */
/*
 * signals.h -- the signal numbers that are ours, and what the program believes
 * of them.
 *
 * A number is borrowed while the program takes no interest in it. The program
 * sees the disposition that it left there. What its threads block of the number
 * is kept beside their masks, never in them.
 *
 * The program's first interest gives the number back. Three things are an
 * interest: a disposition of the program's own, a wait for the number, and a
 * signal sent to a thread that blocks it. From then on flags and masks are
 * really what the program set. Questions are asked by another number. Our
 * handler then only keeps from the program those of our signals that are still
 * on their way.
 *
 * Most numbers are kept open: no thread of the program really blocks them. The
 * number for requests is kept closed: all threads of the program block it,
 * though they believe what they have set. So the kernel wakes none of them for
 * it, and the sampler alone receives it.
 */
#ifndef SIGNALS_SIGNALS_H
#define SIGNALS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

enum signals_role {
    SIGNALS_ASK,     /* questions and timers: any number will do */
    SIGNALS_TRAP,    /* perf events: SIGTRAP, or nothing */
    SIGNALS_SPARE,   /* the next number for questions */
    SIGNALS_CONTROL, /* requests from outside (base/request.h) */
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
    memcpy(&word, set, sizeof(word));
    return word;
}

static inline void
signals_set_word(sigset_t *set, uint64_t word)
{
    memcpy(set, &word, sizeof(word));
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

/* The number of ROLE is about to be given back. Context: any. */
typedef void signals_leaving(enum signals_role role);

typedef int signals_sigaction(int, const struct sigaction *,
                              struct sigaction *);

/* Prepare to borrow numbers. HANDLER gets every signal of a borrowed number,
 * and has to find out which of them are ours. REAL is sigaction(2) itself. NEXT
 * is what the program would call without us: a sanitizer may stand between.
 * LEAVING has perf's events taken back, and tells the sampler. Context: start.
 */
void signals_begin(signals_handler *handler, signals_sigaction *real,
                   signals_sigaction *next, signals_leaving *leaving);

/* Borrow SIGNO, 1 to 64, for ROLE. A disposition that is not the default one is
 * an interest of the program. Another number is then borrowed at once, if the
 * role allows. Returns 0, or -1 with errno. */
int signals_borrow(enum signals_role role, int signo);

/* The number borrowed for ROLE, 0 if there is none now. Context: any. */
int signals_number(enum signals_role role);

/* All numbers that are borrowed now and kept open; and all that are kept
 * closed. Context: any. */
uint64_t signals_borrowed(void);
uint64_t signals_closed(void);

/* Numbers that were closed until they were given back. Threads that are older
 * than that may still block them. Context: any. */
uint64_t signals_opened(void);

/* Whether the kernel still calls our handler for the number of ROLE. A program
 * may have set another handler by a raw system call. Context: any thread. */
bool signals_is_installed(enum signals_role role);

/* Forget the number of ROLE: the program has taken it by a raw system call.
 * Another is borrowed if the role allows. */
void signals_lose(enum signals_role role);

/* Give SIGNO back, because the program is interested in it. Returns false if it
 * is not borrowed, or stays borrowed because no other number is free. Waits for
 * a second at most, until the sampler has taken back its perf events: our
 * pending signal would swallow the program's. Context: any. */
bool signals_give_back(int signo);

/* sigaction(2) as the program sees it, for any SIGNO. Returns 0, or -1 with
 * errno. Context: any. */
int signals_action(int signo, const struct sigaction *action,
                   struct sigaction *old);

/* Whether the disposition of SIGNO is or was kept here, because the number is
 * or was ours. handlers.h has all others. Context: any. */
bool signals_is_kept(int signo);

/* Note that alternate stacks are avoided from now on (alternate.h). A thread
 * that is on its own blocks the borrowed numbers. Context: any. */
void signals_avoid_alternate(void);

/* Note that the program, which has one thread, is about to have several.
 * Context: any thread. */
void signals_expect_threads(void);

/* Of the borrowed numbers, open or closed, those that the calling thread
 * blocks, as the program believes. It is in static TLS: to read it is one load,
 * in a handler too. */
extern __thread volatile uint64_t signals_blocked;

/* Get the program's disposition of SIGNO, a number that is or was ours, into
 * ACTION. Returns false for any other number. Context: any. */
bool signals_get_program(int signo, struct sigaction *action);

/* Make the disposition of SIGNO the default one: as the program sees it
 * (SA_RESETHAND), or as the kernel has it. Context: any. */
void signals_reset_program(int signo);
void signals_make_default(int signo);

/* Whether SIGNO is borrowed, and the program has a handler for it. Context:
 * any. */
bool signals_has_handler(int signo);

/* Called around exec and posix_spawn. What the program ignores is really
 * ignored between the two, because the new image inherits that. Several threads
 * may do so at once. IS_OWN: the caller is in this process, and not in a child
 * that shares our memory and may never come back. Context: any. */
void signals_before_exec(bool is_own);
void signals_after_failed_exec(void);

/* Called in the child of a fork. None of the threads that were starting a
 * program are there. Context: any. */
void signals_after_fork(void);

/* Make everything what the program believes it to be: this process, a forked
 * child, is not profiled. No number is ours any more. Context: any. */
void signals_end(void);

#endif
