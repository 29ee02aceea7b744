/* SPDX-License-Identifier: MIT */
/*
 * real.h -- the functions that the hooks stand in front of. Each is found once,
 * at the start or at its first call, behind this library in the search order.
 */
#ifndef AGENT_REAL_H
#define AGENT_REAL_H

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>

#include "base/clock.h"

/* Find all of them. Any thread; before threads are created. */
void real_begin(void);

int real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                        void *(*start)(void *), void *argument);
void real_pthread_exit(void *result) __attribute__((noreturn));
int real_dlclose(void *handle);
int real_sigaction(int signo, const struct sigaction *action,
                   struct sigaction *old);

/* libc's own functions for what must run at once and anywhere: a sanitizer that
 * stands before libc runs handlers later, when their registers are no longer
 * true, and its clock takes locks. */
typedef int (*real_sigaction_function)(int, const struct sigaction *,
                                       struct sigaction *);
real_sigaction_function real_libc_sigaction(void);
clock_function real_libc_clock(void);
__sighandler_t real_signal(int signo, __sighandler_t handler);
int real_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int real_execve(const char *path, char *const arguments[],
                char *const environment[]);
int real_execvpe(const char *file, char *const arguments[],
                 char *const environment[]);
int real_fexecve(int fd, char *const arguments[], char *const environment[]);
void real_exit_now(int status) __attribute__((noreturn));
void real_quick_exit(int status) __attribute__((noreturn));

#endif
