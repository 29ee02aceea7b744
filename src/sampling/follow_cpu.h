/* SPDX-License-Identifier: MIT */
/*
 * follow_cpu.h -- chooses the CPU on which the sampler runs. A signal to a
 * thread on another CPU arrives some microseconds late (an interrupt between
 * CPUs, slow in virtual machines). By then the thread has gone on, typically
 * into its next system call, which then seems to be hot. On the thread's own
 * CPU the sampler preempts the thread, and sees it exactly where it stood.
 *
 * So the sampler follows a thread that runs all the time; several such threads
 * take turns. Threads that mostly wait are not followed: on their CPU the
 * scheduler would let them finish their work first.
 * Context: sampler.
 */
#ifndef SAMPLING_FOLLOW_CPU_H
#define SAMPLING_FOLLOW_CPU_H

#include <stdbool.h>
#include <stdint.h>

/* Remember on which CPUs this thread may run. */
void follow_cpu_begin(void);

/* Thread INDEX was seen on CPU; IS_BUSY if it ran all the time. */
void follow_cpu_seen(uint32_t index, int cpu, bool is_busy);

/* Called once a tick: move to where the followed thread was last seen. RANDOM
 * is any number. */
void follow_cpu_move(uint64_t random);

#endif
