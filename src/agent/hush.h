/* SPDX-License-Identifier: MIT */
/*
 * hush.h -- the signals that come while a program that has ended waits for its
 * profile. Without us they would have found nobody: an alarm that was to come
 * a moment later would end the process with another status, or run a handler.
 */
#ifndef AGENT_HUSH_H
#define AGENT_HUSH_H

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
