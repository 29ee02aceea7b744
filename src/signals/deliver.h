/* SPDX-License-Identifier: MIT */
/*
 * deliver.h -- gives the program another sender's signal of a number that is or
 * was ours (signals.h). The program gets it as without a profiler.
 */
#ifndef SIGNALS_DELIVER_H
#define SIGNALS_DELIVER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Let the program's disposition of SIGNO act. Our handler, which returns to
 * CONTEXT, calls it. Does not return if the default action ends the process.
 * Context: handler. */
void deliver_to_program(int signo, siginfo_t *info, ucontext_t *context);

#endif
