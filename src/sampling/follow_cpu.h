/* SPDX-License-Identifier: MIT */
/*
 * follow_cpu.h -- chooses the CPU on which the sampler runs. A signal to a
 * thread on another CPU arrives some microseconds late (an interrupt between
 * CPUs, slow in virtual machines). By then the thread has gone on, typically
 * into its next system call. This system call then seems to be hot. A sampler
 * on the thread's own CPU preempts the thread, and the signal reaches it before
 * its next instruction.
 *
 * So the sampler follows a thread that runs all the time. It follows several
 * such threads in turn. It does not follow a thread that usually waits: the
 * scheduler would let that thread finish its work before the sampler runs.
 * Context: sampler.
 */
#ifndef SAMPLING_FOLLOW_CPU_H
#define SAMPLING_FOLLOW_CPU_H

#include <stdbool.h>
#include <stdint.h>

/* Remember the CPUs on which the calling thread may run. */
void follow_cpu_begin(void);

/* Note that thread INDEX was seen on CPU. IS_BUSY: the thread ran all the time.
 */
void follow_cpu_seen(uint32_t index, int cpu, bool is_busy);

/* Move the calling thread to the CPU where the followed thread was last seen.
 * Called once a tick. RANDOM is a random number. */
void follow_cpu_move(uint64_t random);

#endif
