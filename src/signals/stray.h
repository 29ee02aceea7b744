/* SPDX-License-Identifier: MIT */
/*
 * stray.h -- strays: signals for the process that came to another thread than
 * the main one because of us.
 *
 * The kernel gives such a signal to the main thread, unless that thread blocks
 * it. Then it gives it to any thread that does not block it (kernel/signal.c,
 * complete_signal). Until the main thread has taken the signal, it is in a
 * queue that all threads share.
 *
 * Our signals interfere in two ways. A thread that gets our signal looks into
 * that queue, or wakes another thread that may (recalc_sigpending,
 * retarget_shared_pending). And while our handler runs on the main thread, the
 * program's signals are blocked there. So one signal in some hundred goes
 * astray. It is sent on to the main thread, which handles it as if it had come
 * there first.
 */
#ifndef SIGNALS_STRAY_H
#define SIGNALS_STRAY_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Note that the main thread would block MASK (signals.h) without us. Only the
 * main thread calls it. Context: handler. */
void stray_note_mask(uint64_t mask);

/* Note that the main thread is about to leave our handler: the noted mask may
 * change. Only the main thread calls it. Context: handler. */
void stray_end_note(void);

/* The calling thread has changed its mask, or is about to block all signals for
 * a while. If it is the main thread, ask the kernel for its mask and note it.
 * The caller has thread-local words. Context: hook. */
void stray_note_own_mask(void);

/* The calling thread begins to wait under MASK (WAITS), or its wait has ended.
 * While the main thread waits, it takes each signal that MASK leaves open. The
 * caller has thread-local words. Context: hook. */
void stray_note_wait(bool waits, uint64_t mask);

/* A handler of the program is about to be called on the calling thread. That
 * ends a wait under a mask, and the handler may jump out of it. Context: any.
 */
void stray_end_wait(void);

/* The mask of the main thread that was noted last. Context: any. */
uint64_t stray_noted_mask(void);

/* Whether INFO is of a signal for the process, and not for one thread of it.
 * Returns false if INFO does not show that. Context: any. */
bool stray_is_for_process(const siginfo_t *info);

/* Whether the main thread takes SIGNO: it does not block SIGNO, and is neither
 * stopped nor gone. Reads /proc/self/status, which takes some 10 us. Waits for
 * 100 ms at most while that thread is about to enter or leave our handler.
 * Context: any. */
bool stray_is_taken_by_main(int signo);

/* Send SIGNO, which has come to the calling thread with INFO, on to the main
 * thread. Returns true if the main thread has it now. Else INFO becomes what
 * the program must see: on the main thread the signal may be one that was sent
 * on. Context: any. */
bool stray_send_on(int signo, siginfo_t *info);

/* Make INFO what it was before its signal was sent on. Returns false, without
 * effect, if it is of another signal. Context: any. */
bool stray_restore(siginfo_t *info);

#endif
