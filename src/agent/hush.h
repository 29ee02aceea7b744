/* SPDX-License-Identifier: MIT */
/*
 * hush.h -- the signals that come while a program that has ended waits for its
 * profile. Without us they would have found nobody: an alarm that was to come
 * a moment later would end the process with another status, or run a handler.
 */
#ifndef AGENT_HUSH_H
#define AGENT_HUSH_H

#include <signal.h>
#include <stdbool.h>

/* Block what would run a handler of the program on top of us, but for errors of
 * our own; with MAY_END, those may come that end the process, and SIGNO, which
 * is ours (0: none). *OLD is the mask before. Any thread. */
void hush_handlers(bool may_end, int signo, sigset_t *old);

/* The mask is OLD again. Any thread. */
void hush_handlers_end(const sigset_t *old);

/* Until hush_end, signals of the program are dropped in all threads, but those
 * of errors, those of job control and children, those that end the process by
 * their default action (fatal.h), and ours. Who ends the process. */
void hush_begin(void);

/* In a child that has a copy of the dispositions, but shares our memory: as
 * before hush_begin there, too. */
void hush_end_in_child(void);

/* The dispositions are as before hush_begin, and nothing is pending. Left out
 * where nothing of the program comes after. */
void hush_end(void);

#endif
