/* SPDX-License-Identifier: MIT */
/*
 * freeze.h -- keeps the threads of a process that ends in our handler, while
 * its profile is written. Without libsprof they would already be gone, and what
 * they need may be freed. Threads of CPython 3.10 that wait for the
 * interpreter's lock wake every 5 ms, and would die of it.
 */
#ifndef AGENT_FREEZE_H
#define AGENT_FREEZE_H

#include <stdbool.h>
#include <sys/types.h>

/* Thread ENDER ends the process, and is not kept. IS_EXIT: it calls exit(3) or
 * _exit(2). Context: any thread. */
void freeze_begin(pid_t ender, bool is_exit);

/* Keep each other thread in our handler after its next sample. Otherwise
 * threads that compute would leave few CPUs to the sampler, for which the ender
 * waits: with 256 such threads on two CPUs the end took 8 s. Context: any
 * thread. */
void freeze_running(void);

/* Whether the sampler is to keep the others before its last work. Context:
 * sampler. */
bool freeze_is_early(void);

/* The thread that ends the process, after freeze_begin. Context: sampler. */
pid_t freeze_ender(void);

/*
 * Keep the threads of this process in our handler until ask_thaw, all but the
 * ender and the sampler. GOES_ON: exit(3) goes on afterwards, and may join
 * them. So a thread whose wait the signal might end is not kept. A thread that
 * is kept answers no question. Context: sampler.
 */
void freeze_others(bool goes_on);

/* Let them go, as ask_thaw does with IS_LATE. A later sampler keeps none.
 * Context: any thread. */
void freeze_end(bool is_late);

#endif
