/* SPDX-License-Identifier: MIT */
/*
 * freeze.h -- while the profile of a process that ends is written, its other
 * threads do nothing: without us they would be gone by now.
 */
#ifndef AGENT_FREEZE_H
#define AGENT_FREEZE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Keep the threads of this process in our handler, but ENDER and the calling
 * one, until suspend_thaw. ONLY_RUNNING: those that wait are left alone, whose
 * wait the signal might end (exit(3) goes on afterwards, and may join them).
 * Context: sampler, or the thread that ends the process. Locks: none.
 */
void freeze_others(pid_t ender, bool only_running);

#endif
