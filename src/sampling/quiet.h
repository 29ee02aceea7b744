/* SPDX-License-Identifier: MIT */
/*
 * quiet.h -- which of the quiet threads are to be looked at (observe.h). The
 * CPU time of the process, less that of the sampler and of all threads that
 * were looked at, is unexplained: a quiet thread has run.
 * Context: sampler.
 */
#ifndef SAMPLING_QUIET_H
#define SAMPLING_QUIET_H

#include <stdint.h>

/* Begin: all CPU time until now is explained. */
void quiet_begin(void);

/* CPU ns of the process are explained, by a look or by a thread that came and
 * went unseen. */
void quiet_explain(uint64_t cpu);

/* Read the clocks of the process and of the sampler, after those of the active
 * threads in the tick of NOW. At most MOST quiet threads are looked at in this
 * tick because time is unexplained. THRIFT slows the looks at the others.
 * Returns the CPU ns of the sampler. PROCESS becomes those of the process.
 */
uint64_t quiet_read(uint64_t now, uint32_t most, uint32_t thrift,
                    uint64_t *process);

/* Returns the index of the next quiet thread to look at in this tick, or
 * THREADS_NONE. What the look finds must be explained before the next call. */
uint32_t quiet_next(void);

/* No more threads are looked at in the tick of NOW. */
void quiet_end(uint64_t now);

#endif
