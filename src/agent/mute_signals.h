/* SPDX-License-Identifier: MIT */
/*
 * mute_signals.h -- mutes signals that come while a program that has ended
 * waits for its profile. Without libsprof these signals would have found no
 * process. An alarm that was due a moment later would end the process with
 * another status, or run a handler.
 */
#ifndef AGENT_MUTE_SIGNALS_H
#define AGENT_MUTE_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* Block the signals for which a handler of the program would run on top of our
 * code. Those for our own errors stay open. With MAY_END, the signals that end
 * the process stay open, and so does our signal SIGNO (0: none). *OLD becomes
 * the mask before, which the caller sets again (sys_mask). Context: any thread.
 */
void mute_signals_handlers(bool may_end, int signo, uint64_t *old);

/* Drop the program's signals in all threads until mute_signals_end. Signals of
 * errors, of job control and of children are not dropped. Nor are our signals,
 * and those that end the process by their default action (ending_signals.h).
 * The caller is the thread that ends the process, after mute_signals_handlers.
 */
void mute_signals_begin(void);

/* Whether signals are muted by changed dispositions. Context: any. */
bool mute_signals_are_ignored(void);

/* In a child that has a copy of the dispositions: restore there, too, the
 * dispositions from before mute_signals_begin. Context: any. */
void mute_signals_end_in_child(void);

/* Restore the dispositions from before mute_signals_begin. Then no muted signal
 * is pending. Not called if no code of the program runs afterwards; the caller
 * then goes on blocking what mute_signals_handlers blocks. */
void mute_signals_end(void);

#endif
