/* SPDX-License-Identifier: MIT */
/*
 * traps.h -- what the programs that use a profiler's signals themselves share:
 * a table of traps, and printing of what they see. Each runs one trap by its
 * name, with SIGPROF or the signal of the second argument; without a name it
 * prints all names.
 */
#ifndef WORKLOAD_TRAPS_H
#define WORKLOAD_TRAPS_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>

struct trap {
    const char *name;
    void (*run)(void);
};

/* What main returns. TRAPS ends with a name that is NULL. */
int traps_run(int argc, char **argv, const struct trap *traps);

extern int signo;
extern volatile sig_atomic_t count; /* of the signals that count_it got */
extern volatile uint64_t sink;

void count_it(int number);

/* Let count_it handle the signal, with FLAGS of sigaction(2). */
void handle(int flags);

sigset_t only(int number);
void print_set(const char *what, const sigset_t *set);
void print_mask(const char *what);
void print_pending(const char *what);
void print_action(int number);
void pause_ms(unsigned ms);

/* Another thread computes all the time, so that there is something to sample,
 * with all signals blocked. */
void begin_computing(void);
void end_computing(void);

/* Another thread runs START: one that sends the signal, in a while, to the
 * thread that called this, or to the process. */
pthread_t start_thread(void *(*start)(void *));
void *send_to_thread(void *unused);
void *send_to_process(void *unused);
extern pthread_t main_thread;

#endif
