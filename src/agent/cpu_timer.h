/* SPDX-License-Identifier: MIT */
/*
 * cpu_timer.h -- timers on a thread's CPU clock (timer_create(2) with
 * SIGEV_THREAD_ID), which interrupt the thread only while it runs, at most once
 * in a tick of the kernel (CONFIG_HZ). They need no right, but count against
 * RLIMIT_SIGPENDING. At most one a thread, found by its tid. Sampler thread,
 * and the thread itself where it says so.
 */
#ifndef AGENT_CPU_TIMER_H
#define AGENT_CPU_TIMER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Forget all timers: at the start, and in the child of a fork, which inherits
 * none. What they send is the number of SIGNALS_ASK. Returns 0, or -1 if memory
 * is short. */
int cpu_timer_begin(void);

/* Make the timer of thread TID, whose signals carry COOKIE, unless it has one.
 * Not armed. Returns 0, or -errno: EAGAIN where RLIMIT_SIGPENDING, of which
 * timers take a quarter at most, is reached. Also on the thread itself. */
int cpu_timer_make(pid_t tid, uint64_t cookie);

/* Whether thread TID has one. */
bool cpu_timer_is_there(pid_t tid);

/* Arm the timer of TID: first after FIRST ns of its CPU time, then every
 * INTERVAL ns; 0 and 0 disarm it. Without a timer: nothing. Any thread. */
void cpu_timer_set(pid_t tid, uint64_t first, uint64_t interval);

/* Thread TID has ended, or needs its timer no more. Also on the thread. */
void cpu_timer_drop(pid_t tid);

/* Drop the timers of all threads; with _STOP, that of the process, too. */
void cpu_timer_drop_all(void);
void cpu_timer_stop(void);

/* Let the kernel keep the process's CPU clock, whose reading otherwise sums
 * over all threads: 0.5 ms for 10,000 of them. A timer that never expires does
 * that (times of a process are kept while one is armed). */
void cpu_timer_keep_process_clock(pid_t own_tid);

#endif
