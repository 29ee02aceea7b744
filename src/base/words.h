/* SPDX-License-Identifier: MIT */
/*
 * words.h -- whether the calling thread has thread-local words: what __thread
 * declares, and errno. A thread that clone(2) alone has made need not have
 * any: with CLONE_SETTLS its thread pointer may be 0. While a program has set
 * the thread pointer itself (arch_prctl(2), wrfsbase: emulators, runtimes), it
 * has none. Then an access to one faults, or changes the program's memory.
 */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include <stdbool.h>

/* Find out how the thread pointer can be read here. Before that, every thread
 * counts as one with words. Context: start. */
void words_begin(void);

/* The program is about to forbid itself system calls: from now on the kernel is
 * not asked. Where only the kernel knows (no FSGSBASE: Linux before 5.9,
 * processors before 2012), every thread is then taken to have words. Elsewhere
 * every thread pointer is taken to lead to memory. */
void words_ask_no_more(void);

/* Whether the calling thread has words. Takes a few ns, but a system call the
 * first time in a thread. Where only the kernel knows, it is always a system
 * call. Context: any. */
bool words_are_there(void);

/* The same without that system call: false where only the kernel knows.
 * Context: any. */
bool words_are_told(void);

/* Read errno, or 0 in a thread without words; and restore it. Context: any. */
int words_errno(void);
void words_set_errno(int value);

#endif
