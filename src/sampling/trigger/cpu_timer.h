/* SPDX-License-Identifier: MIT */
/*
 * cpu_timer.h -- timers on a thread's CPU clock (timer_create(2) with
 * SIGEV_THREAD_ID). A timer interrupts its thread only while the thread runs,
 * at most once in a tick of the kernel (CONFIG_HZ). Timers need no privilege,
 * but count against RLIMIT_SIGPENDING. Each thread has at most one, which is
 * found by its tid. The functions that a target thread may also call say so.
 * Context: sampler.
 */
#ifndef SAMPLING_TRIGGER_CPU_TIMER_H
#define SAMPLING_TRIGGER_CPU_TIMER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Forget all timers, at the start and in the child of a fork, which inherits
 * none. Timers send the signal of SIGNALS_ASK. Returns 0, or -1 if memory is
 * short.
 * Context: start. */
int cpu_timer_begin(void);

/* Make a timer for thread TID, not armed, unless the thread has one. Its
 * signals carry COOKIE. Returns 0, or -errno: EAGAIN if our timers have taken
 * their quarter of RLIMIT_SIGPENDING. Thread TID may call it, too. */
int cpu_timer_make(pid_t tid, uint64_t cookie);

/* Whether thread TID has a timer. */
bool cpu_timer_is_there(pid_t tid);

/* Arm the timer of TID. It expires after FIRST ns of the thread's CPU time,
 * then every INTERVAL ns; 0 and 0 disarm it. Does nothing if the thread has no
 * timer.
 * Context: any thread. */
void cpu_timer_set(pid_t tid, uint64_t first, uint64_t interval);

/* The same for all threads that have a timer, once.
 * Context: any thread. */
void cpu_timer_set_all(uint64_t first);

/* Returns after how many ns of its thread's CPU time the timer of TID expires;
 * 0 if it is not armed or does not exist. */
uint64_t cpu_timer_left(pid_t tid);

/* Delete the timer of thread TID, which has ended or no longer needs it. Thread
 * TID may call it, too. */
void cpu_timer_drop(pid_t tid);

/* cpu_timer_drop_all deletes the timers of all threads. cpu_timer_stop also
 * deletes that of the process. */
void cpu_timer_drop_all(void);
void cpu_timer_stop(void);

/* Let the kernel keep the process's CPU clock up to date. Otherwise a reading
 * sums over all threads: 0.5 ms for 10,000 of them. A timer that never expires
 * does that, because the kernel keeps a process's times while one is armed. */
void cpu_timer_keep_process_clock(pid_t own_tid);

#endif
