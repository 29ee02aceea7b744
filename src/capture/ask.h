/* SPDX-License-Identifier: MIT */
/*
 * ask.h -- requests of the sampler to the program's threads, and theirs to the
 * sampler. A directed signal makes a thread walk its own stack into a slot. The
 * sampler never waits for a thread.
 */
#ifndef CAPTURE_ASK_H
#define CAPTURE_ASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loss.h"

/* Limit of the sequence numbers of questions. They begin anew when they reach
 * it. */
#define ASK_SEQUENCES (1u << 24)

/* Ask thread TID for a sample. Its slot will carry INDEX and SEQUENCE, which is
 * below ASK_SEQUENCES. Returns 0, or -errno. -ESRCH: no thread has this tid.
 * -EAGAIN: too many signals are queued (RLIMIT_SIGPENDING), or we own no signal
 * number to ask by. Context: sampler. */
int ask_thread(uint32_t index, pid_t tid, uint32_t sequence);

/* Why thread INDEX answered the question SEQUENCE without a sample. LOSS_COUNT:
 * it did not answer so. */
enum loss ask_refusal(uint32_t index, uint32_t sequence);

/* Note that the stack of thread INDEX is the memory from LOW to HIGH, while its
 * thread pointer is POINTER. That memory stays mapped as long as the thread
 * lives. Context: sampler. */
void ask_set_stack(uint32_t index, uint64_t low, uint64_t high,
                   uint64_t pointer);

/* A thread is sampled every PERIOD ns of its CPU time from now on. Context:
 * sampler. */
void ask_set_period(uint64_t period);

/* Keep thread TID, which is not the caller, in our handler until ask_thaw,
 * because the process is about to end. The signal may end a wait of the thread
 * early. Context: any thread. */
void ask_freeze(pid_t tid);

/* After its own next sample, keep each thread in our handler until ask_thaw.
 * This ends no wait. Context: any thread. */
void ask_freeze_sampled(void);

/* Thread TID is never kept after a sample. Context: any thread. */
void ask_spare(pid_t tid);

/* Whether a thread that waits for the futex at ADDRESS is kept. Context: any.
 */
bool ask_keeps_at(uint64_t address);

/* Let them go. IS_LATE: only after some ms, because the process is about to be
 * gone. A thread that went on at once might find that what it needs is freed.
 * Context: any thread. */
void ask_thaw(bool is_late);

/* Ring the bell: the sampler ends a serve_wait early. Context: any. */
void ask_ring(void);

#endif
