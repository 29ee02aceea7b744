/* SPDX-License-Identifier: MIT */
/*
 * handlers.h -- the program's handlers of signals whose numbers are not ours
 * (signals.h). The borrowed numbers are taken out of their masks. In a program
 * with several threads, our own function is called before such a handler. It
 * sends on a signal that has gone astray (stray.h). The program sees only its
 * own handlers.
 *
 * Raw system calls of the program are not seen: the kernel calls such handlers
 * directly. Context: any.
 */
#ifndef SIGNALS_HANDLERS_H
#define SIGNALS_HANDLERS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "signals.h"

/* sigaction(2) as the program sees it, for SIGNO from 1 to NSIG - 1. NEXT is
 * the function itself. OURS has the borrowed numbers. Returns 0, or -1 with
 * errno. */
int handlers_action(int signo, const struct sigaction *action,
                    struct sigaction *old, uint64_t ours,
                    signals_sigaction *next);

/* Note that the program has set the disposition of SIGNO by another function of
 * libc. */
void handlers_forget(int signo);

/* Whether the disposition of SIGNO has to be read and set by handlers_action:
 * our function is installed, or would have to be. */
bool handlers_are_kept(int signo);

/* Turn *ACTION, which the kernel returned for any SIGNO, into what the program
 * set. */
void handlers_show(int signo, struct sigaction *action);

/* Let handlers again block the numbers in WHICH, which are no longer borrowed.
 */
void handlers_block_again(uint64_t which, signals_sigaction *next);

/* Let handlers on alternate stacks block OURS, and be called directly: such
 * stacks are avoided from now on (alternate.h). The signals in KEPT are left
 * alone: their dispositions are kept elsewhere. */
void handlers_avoid_alternate(uint64_t ours, uint64_t kept,
                              signals_sigaction *next);

/* Note that the program, which has one thread, is about to have several. */
void handlers_expect_threads(signals_sigaction *next);

/* Make all dispositions those that the program believes in. */
void handlers_end(signals_sigaction *next);

#endif
