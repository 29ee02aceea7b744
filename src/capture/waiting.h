/* SPDX-License-Identifier: MIT */
/*
 * waiting.h -- where a thread stands while it is in a function of libc that may
 * wait. The kernel shows the place of a thread that sleeps (process/look.h),
 * but not of one that stands in line for a CPU. A wait may be many short ones
 * (fsync), and a thread stands in line after each of them. So hooks note the
 * place, and the sampler walks the stack from it.
 *
 * The hard thing is a note that is no longer true: a handler runs on top of the
 * wait, or leaves it by a jump. The next sample of the thread removes it, or
 * the next note above it.
 *
 * The hooks of a thread that waits for a part of its time also measure how long
 * each call took. A look shows where a thread waits at one instant. These times
 * show the waits between two looks, however short they were.
 */
#ifndef CAPTURE_WAITING_H
#define CAPTURE_WAITING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"
#include "base/words.h"
#include "unwind/walk.h"
#include "shared.h"

/* The calling thread's place in the table of threads, as of a GENERATION of
 * that table. NULL: it was not looked up. A new thread makes a new generation,
 * because it may have the place of a thread that is still ending. */
struct waiting_own {
    struct shared_thread *thread;
    uint32_t generation;
};
extern __thread struct waiting_own waiting_own;

/* Look up that place. NULL: the thread is not profiled, or not listed. Makes no
 * system call except the first one of thread_local_tid. Context: any. */
struct shared_thread *waiting_find(void);

/* The thread that has a note, or NULL; the note that it had before, and the
 * start of that note's call. */
struct waiting {
    struct shared_thread *thread;
    struct regs outer;
    uint64_t outer_since;
    uint32_t outer_site;
};

/* THREAD, the caller, measures its calls. Begin a call at AT that will return
 * to CALLER; end the call in WAITING. errno is kept. Context: any. */
void waiting_time_begin(struct shared_thread *thread, const struct regs *at,
                        const void *caller);
void waiting_time_end(const struct waiting *waiting);

/* Set the pc of THREAD's note. 0: no note. The sampler reads a note only while
 * the thread does not run, so the compiler alone must keep the order of the
 * words. */
static inline void
waiting_set_pc(struct shared_thread *thread, uint64_t pc)
{
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&thread->waits.pc, pc, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

/* Note AT in THREAD, which is the caller. */
static inline void
waiting_set(struct shared_thread *thread, const struct regs *at)
{
    waiting_set_pc(thread, 0);
    atomic_store_explicit(&thread->waits.sp, at->sp, memory_order_relaxed);
    atomic_store_explicit(&thread->waits.fp, at->fp, memory_order_relaxed);
    atomic_store_explicit(&thread->waits.link, arch_link(at),
                          memory_order_relaxed);
    waiting_set_pc(thread, at->pc);
}

/* The note of THREAD. */
static inline struct regs
waiting_get(const struct shared_thread *thread)
{
    struct regs at = {
        .pc = atomic_load_explicit(&thread->waits.pc, memory_order_relaxed),
        .sp = atomic_load_explicit(&thread->waits.sp, memory_order_relaxed),
        .fp = atomic_load_explicit(&thread->waits.fp, memory_order_relaxed)};
    arch_set_link(&at, atomic_load_explicit(&thread->waits.link,
                                            memory_order_relaxed));
    return at;
}

/* Set *AT to what the registers were when the calling function was entered, as
 * if that were the function at ENTRY. fp is left unknown: with a frame pointer
 * of its own, the hook's frame on the stack would be harder to walk. */
static inline __attribute__((always_inline)) void
waiting_at(struct regs *at, const void *entry)
{
    at->fp = REGS_FP_UNKNOWN;
    arch_entry_bare(at, entry);
}

/* The calling thread enters a function that may wait, at AT. Takes some 10 ns,
 * and 0.1 us more where calls are measured. Context: any. */
static inline __attribute__((always_inline)) void
waiting_begin(struct waiting *waiting, const struct regs *at)
{
    *waiting = (struct waiting){0};
    if (!words_are_told())
        return;
    waiting->thread =
        waiting_own.generation ==
                atomic_load_explicit(&shared.generation, memory_order_relaxed)
            ? waiting_own.thread
            : waiting_find();
    if (waiting->thread == NULL)
        return;
    waiting->outer = waiting_get(waiting->thread);
    if (waiting->outer.sp <= at->sp)
        waiting->outer.pc = 0;
    waiting->outer_since = atomic_load_explicit(&waiting->thread->meter.since,
                                                memory_order_relaxed);
    waiting->outer_site = atomic_load_explicit(&waiting->thread->meter.site,
                                               memory_order_relaxed);
    waiting_set(waiting->thread, at);
    if (atomic_load_explicit(&waiting->thread->meter.is_on,
                             memory_order_relaxed))
        waiting_time_begin(waiting->thread, at, __builtin_return_address(0));
}

/* The calling thread has left that function. Context: any. */
static inline void
waiting_end(const struct waiting *waiting)
{
    /* A fork or a new profile may have given it another place. */
    if (waiting->thread == NULL || waiting_own.thread != waiting->thread)
        return;
    if (waiting->outer_since != 0 ||
        atomic_load_explicit(&waiting->thread->meter.since,
                             memory_order_relaxed) != 0)
        waiting_time_end(waiting);
    if (waiting->outer.pc != 0) {
        waiting_set(waiting->thread, &waiting->outer);
        return;
    }
    waiting_set_pc(waiting->thread, 0);
}

/* THREAD, which is the caller, was interrupted with stack pointer SP. Functions
 * that wait have less than WAITING_FRAMES bytes of stack (as in
 * signals/restart.c). Elsewhere it has left the function by a jump, or runs a
 * handler on top of it. Context: handler. */
#define WAITING_FRAMES 1024u
static inline void
waiting_check(struct shared_thread *thread, uint64_t sp)
{
    const struct regs at = waiting_get(thread);
    if (at.pc == 0 || at.sp - sp < WAITING_FRAMES)
        return;
    waiting_set_pc(thread, 0);
    atomic_store_explicit(&thread->meter.since, 0, memory_order_relaxed);
}

/* From now on INDEX is that of a new thread, which has no note. Context:
 * sampler.
 */
void waiting_forget(uint32_t index);

/* Whether thread INDEX has a note. It is then in *AT. The thread does not run
 * meanwhile, or its clock shows that it ran. Context: sampler. */
bool waiting_read(uint32_t index, struct regs *at);

/* From now on thread INDEX measures its calls, or no longer does. Context:
 * sampler. */
void waiting_measure(uint32_t index, bool is_on);

/* IS_OLD: a call at a new site of thread INDEX may take the place SITE, whose
 * times then begin at 0. Context: sampler. */
void waiting_retire(uint32_t index, uint32_t site, bool is_old);

/* The time that a thread has spent in its calls at one site, up to an
 * instant. */
struct waiting_time {
    uint64_t id;                /* of the site; 0: none */
    uint64_t ns;                /* with that of the present call */
    uint64_t calls;             /* that are over */
    uint64_t read_ns, read_cpu; /* those of struct shared_site */
};

/* NS of TIME without the CPU time in it, if calls there use as much as those
 * whose CPU time was read. */
static inline uint64_t
waiting_idle(const struct waiting_time *time, uint64_t ns)
{
    if (time->read_ns == 0)
        return ns;
    uint64_t idle =
        time->read_cpu < time->read_ns ? time->read_ns - time->read_cpu : 0;
    return (uint64_t)((unsigned __int128)ns * idle / time->read_ns);
}

/* Read these times, up to NOW, into TIMES. Returns the place in TIMES of the
 * thread's present call, or SHARED_SITES: it is in no call that it measures.
 * The thread may run meanwhile. A call that ends at this moment may be missing;
 * the next reading has it. Context: sampler. */
uint32_t waiting_times(uint32_t index, uint64_t now,
                       struct waiting_time times[SHARED_SITES]);

#endif
