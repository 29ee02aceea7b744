/* SPDX-License-Identifier: MIT */
/*
 * stray.h -- a signal for the process that has come to another thread than the
 * main one because of us.
 *
 * The kernel gives it to the main thread, if that does not block it, else to
 * any thread that does not (kernel/signal.c, complete_signal). Until the main
 * thread has taken it, it is in a queue that all threads share. A signal of
 * ours makes the thread that it comes to look into that queue, or wake another
 * one that may (recalc_sigpending, retarget_shared_pending); and while our
 * handler runs on the main thread, that blocks the program's signals. So one in
 * some hundred goes astray. It is sent on to the main thread, which handles it
 * as if it had been given it in the first place.
 */
#ifndef CAPTURE_STRAY_H
#define CAPTURE_STRAY_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* The main thread blocks MASK (signals.h), but for us. That thread itself, in
 * handler. */
void stray_note_mask(uint64_t mask);

/* The calling thread, which has words of its own, has changed its mask, or is
 * about to block all signals for a while: if it is the main one, its mask is
 * asked for and noted. */
void stray_note_own_mask(void);

/* The calling thread, which has words of its own, begins to wait under MASK, or
 * WAITS no more. If it is the main one, a signal that MASK leaves open is for
 * it all that time. */
void stray_note_wait(bool waits, uint64_t mask);

/* What was noted last. Any thread, in handler. */
uint64_t stray_noted_mask(void);

/* Whether INFO is of a signal for the process, and not for one thread of it:
 * false where that cannot be told. Any context. */
bool stray_is_for_process(const siginfo_t *info);

/* Whether the main thread takes SIGNO: it does not block it, is neither stopped
 * nor gone. Reads /proc/self/status: some 10 us. Any thread, in handler. */
bool stray_is_taken_by_main(int signo);

/* SIGNO has come to the calling thread, which has it from the kernel as INFO
 * says. Returns true if the main thread has it now. Else INFO is made what the
 * program is to see: on the main thread it may be one that was sent on. Any
 * thread, in handler. */
bool stray_send_on(int signo, siginfo_t *info);

/* INFO is of a signal that was sent on: make it what it was. Any thread, in
 * handler. */
bool stray_restore(siginfo_t *info);

#endif
