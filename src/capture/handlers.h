/* SPDX-License-Identifier: MIT */
/*
 * handlers.h -- the program's handlers of signals whose numbers are not ours
 * (signals.h). Of their masks the numbers that are borrowed are taken out. And
 * in a program with several threads a function of ours is called first, which
 * sends on what has gone astray (stray.h); whoever asks is told the program's
 * own.
 *
 * What the program does by raw system calls is not seen: such handlers are
 * called as ever. Context of all: any thread, in handlers too.
 */
#ifndef CAPTURE_HANDLERS_H
#define CAPTURE_HANDLERS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "signals.h"

/* sigaction(2) as the program sees it, SIGNO being 1 to NSIG - 1. NEXT is the
 * function itself, OURS the numbers that are borrowed. Returns 0, or -1 with
 * errno. */
int handlers_action(int signo, const struct sigaction *action,
                    struct sigaction *old, uint64_t ours,
                    signals_sigaction *next);

/* The program has set the disposition of SIGNO by another function of libc. */
void handlers_forget(int signo);

/* Whether the disposition of SIGNO has to be read and set by handlers_action,
 * because a function of ours stands there or would have to. */
bool handlers_are_kept(int signo);

/* What the kernel said in *ACTION, of any SIGNO, is made what the program set.
 */
void handlers_show(int signo, struct sigaction *action);

/* The numbers in WHICH are borrowed no more: handlers block them again. */
void handlers_block_again(uint64_t which, signals_sigaction *next);

/* Alternate stacks are avoided (alternate.h): handlers there block OURS, and
 * nothing of ours is called first. */
void handlers_avoid_alternate(uint64_t ours, signals_sigaction *next);

/* The program is about to have several threads: it has one. */
void handlers_expect_threads(signals_sigaction *next);

/* Everything is made what the program believes. */
void handlers_end(signals_sigaction *next);

#endif
