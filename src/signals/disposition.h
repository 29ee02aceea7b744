/* SPDX-License-Identifier: MIT */
/*
 * disposition.h -- the dispositions that the program believes its signals have.
 * Signal numbers become ours here, and our handler may replace the default
 * action.
 *
 * A number is borrowed while the program takes no interest in it. The program
 * sees the disposition that it left there. Whether its threads block the number
 * is kept beside their masks, never in them.
 *
 * The program's first interest gives the number back. Three things are an
 * interest: a disposition that it sets, a wait for the number, and a signal
 * sent to a thread that blocks it. From then on flags and masks are really
 * those that the program set. Questions are asked by another number. Our
 * handler then only hides those of our signals that are still on their way.
 *
 * Most numbers are kept open: no thread of the program really blocks them. The
 * number for requests is kept closed: all threads of the program block it,
 * though they believe what they have set. So the kernel wakes none of them for
 * it, and the sampler alone receives it.
 *
 * Numbers with the roles ENDING and DUMP stay the program's. While the program
 * leaves such a signal at its default action, the ender replaces that action.
 */
#ifndef SIGNALS_DISPOSITION_H
#define SIGNALS_DISPOSITION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "signals.h"

/* The number of ROLE is about to be given back. Context: any. */
typedef void disposition_leaving(enum signals_role role);
typedef void disposition_opened(void);

/* Prepare to borrow numbers. HANDLER gets every signal of a borrowed number,
 * and has to find out which of them are ours. REAL is sigaction(2) itself. NEXT
 * is the function that the program would call without us, for example a
 * sanitizer's. LEAVING has perf's events closed, and informs the sampler.
 * OPENED is called when a closed number has become the program's. Context:
 * start. */
void disposition_begin(signals_handler *handler, signals_sigaction *real,
                       signals_sigaction *next, disposition_leaving *leaving,
                       disposition_opened *opened);

/* Borrow SIGNO, 1 to 64, for ROLE. A disposition that is not the default one is
 * an interest of the program. Another number is then borrowed at once, if the
 * role allows. Returns 0, or -1 with errno. */
int disposition_borrow(enum signals_role role, int signo);

/* Whether the kernel still calls our handler for the number of ROLE. A program
 * may have set another handler by a raw system call. Context: any thread. */
bool disposition_is_installed(enum signals_role role);

/* Forget the number of ROLE: the program has taken it by a raw system call.
 * Another is borrowed if the role allows. */
void disposition_lose(enum signals_role role);

/* Take the number of ROLE for the program: give it back if our handler is
 * installed, and lose it otherwise. The calling thread's mask is made real.
 * Context: any. */
void disposition_release(enum signals_role role);

/* Whether SIGNO may be given back, and questions can still be asked. Where the
 * program handles or blocks all numbers (Go), it shares the last one with us,
 * until it waits for it. Context: any. */
bool disposition_can_spare(int signo);

/* Give SIGNO back, because the program is interested in it. Returns false if it
 * is not borrowed. If no other number is free, no questions are asked from then
 * on. Waits for a second at most, until the sampler has closed its perf events:
 * our pending signal would displace the program's. Context: any. */
bool disposition_give_back(int signo);

/* sigaction(2) as the program sees it, for any SIGNO. Returns 0, or -1 with
 * errno. Context: any. */
int disposition_action(int signo, const struct sigaction *action,
                       struct sigaction *old);

/* The role of SIGNO. A number that was given back keeps its role. Context: any.
 */
enum signals_role disposition_role(int signo);

/* Turn *ACTION, which the kernel returned for SIGNO, from 1 to 64, into what
 * the program set. Context: any. */
void disposition_show(int signo, struct sigaction *action);

/* Let ENDER replace the default action of the signals in ENDINGS and DUMPS.
 * They get these roles if they have none. Called again in the child of a fork.
 * Context: any thread. */
void disposition_begin_enders(uint64_t endings, uint64_t dumps,
                              signals_handler *ender);

/* Let the ender replace the default action of SIGNO again, if the kernel has
 * restored that action after a handler that is called once (SA_RESETHAND of
 * sigaction(2)). No effect on signals without such a role.
 * Context: any. */
void disposition_renew_ender(int signo);

/* Whether the ender replaces the default action of SIGNO. Context: any. */
bool disposition_has_ender(int signo);

/* Give the signals with an ender back to the program for good. Context: any
 * thread. */
void disposition_end_enders(void);

/* Note that alternate stacks are avoided from now on (alternate.h). A thread on
 * its alternate stack blocks the borrowed numbers. Context: any. */
void disposition_avoid_alternate(void);

/* Note that the program, which has one thread, is about to have several.
 * Context: any thread. */
void disposition_expect_threads(void);

/* Get the program's disposition of SIGNO, a number that is or was borrowed,
 * into ACTION. Returns false for any other number. Context: any. */
bool disposition_get_program(int signo, struct sigaction *action);

/* Make the disposition of SIGNO the default one: as the program sees it
 * (SA_RESETHAND), or as the kernel has it. Context: any. */
void disposition_reset_program(int signo);
void disposition_make_default(int signo);

/* Whether SIGNO is borrowed, and the program has a handler for it. Context:
 * any. */
bool disposition_has_handler(int signo);

/* Called around exec and posix_spawn. Signals that the program ignores are
 * really ignored between the two, because the new image inherits that. Several
 * threads may do so at once. IS_OWN: the caller is in this process, and not in
 * a child that shares our memory and may never come back. Context: any. */
void disposition_before_exec(bool is_own);
void disposition_after_failed_exec(void);

/* Wait, for NS at most, until no thread is about to start a program. Context:
 * any thread. */
void disposition_wait_for_starters(uint64_t ns);

/* Called in the child of a fork. None of the threads that were starting a
 * program are there. Context: any. */
void disposition_after_fork(void);

/* Make all dispositions those that the program believes in: this process, a
 * forked child, is not profiled. No number is ours any more. Context: any. */
void disposition_end(void);

#endif
