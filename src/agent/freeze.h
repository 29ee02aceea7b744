/* SPDX-License-Identifier: MIT */
/*
 * freeze.h -- stops the other threads of a process that ends, while its profile
 * is written. Without libsprof these threads would be gone by now.
 */
#ifndef AGENT_FREEZE_H
#define AGENT_FREEZE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Keep the threads of this process in our handler until ask_thaw, all but
 * ENDER and the calling thread. ONLY_RUNNING: leave waiting threads alone,
 * because the signal might end their wait (exit(3) goes on afterwards, and may
 * join them). The caller is the sampler, or the thread that ends the process.
 * Takes no lock. Context: any thread.
 */
void freeze_others(pid_t ender, bool only_running);

#endif
