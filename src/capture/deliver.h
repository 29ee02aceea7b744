/* SPDX-License-Identifier: MIT */
/*
 * deliver.h -- a signal of a number that is or was ours (signals.h), but not
 * one that we sent, is given to the program as if it had no profiler.
 */
#ifndef CAPTURE_DELIVER_H
#define CAPTURE_DELIVER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Let the program's disposition of SIGNO act. In our handler, which returns to
 * CONTEXT. */
void deliver_to_program(int signo, siginfo_t *info, ucontext_t *context);

#endif
