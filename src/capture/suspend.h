/* SPDX-License-Identifier: MIT */
/*
 * suspend.h -- the sampler's half of a capture. The sampler asks threads for
 * their stacks, and serves threads that park.
 *
 * A directed signal makes a thread walk its own stack by rules into a slot.
 * Where a rule is missing, the thread leaves a copy of its stack, or parks. A
 * parked thread waits until the sampler has finished the walk, or until its own
 * deadline. The sampler never waits for a thread.
 */
#ifndef CAPTURE_SUSPEND_H
#define CAPTURE_SUSPEND_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loss.h"
#include "base/settings.h"
#include "signals/disposition.h"
#include "slot.h"

/* Limit of the sequence numbers of questions. They begin anew when they reach
 * it. */
#define SUSPEND_SEQUENCES (1u << 24)

struct suspend_options {
    const struct settings *settings;
    uint32_t threads; /* indexes are below this */
    /* Index + 1 of each tid below TID_COUNT, 0 if it has none. */
    const _Atomic uint32_t *index_of_tid;
    uint32_t tid_count;
    /* Reads the module map anew, after it has emptied all slots that are DONE.
     * The sampler calls it, possibly while a thread is parked. */
    void (*refresh)(void);
    /* sigaction(2) itself, not a hook around it. Next, the sigaction that the
     * program would call without us: it may be another library's. */
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    int (*next_sigaction)(int, const struct sigaction *, struct sigaction *);
    void (*leaving)(enum signals_role role); /* see disposition_begin */
    /* A signal of the closed number has come. Returns false if it is the
     * program's own. Context: any. */
    bool (*request)(const siginfo_t *info);
};

/* Install the handler. None of our signals is sent yet. Returns 0, or -1 with
 * errno. The child of a fork calls it again, with its own pid. */
int suspend_begin(const struct suspend_options *options);

/* Reserve the memory that samples need, for stacks of MAX_DEPTH frames at most.
 * The caller has called suspend_begin, and calls this before our first signal
 * is sent. Returns 0, or -1 if memory is short. Context: sampler. */
int suspend_equip(uint32_t max_depth);

/* Ask thread TID for a sample. Its slot will carry INDEX and SEQUENCE, which is
 * below SUSPEND_SEQUENCES. Returns 0, or -errno. -ESRCH: there is no such
 * thread. -EAGAIN: too many signals are queued (RLIMIT_SIGPENDING), or no
 * number is ours to ask by. Context: sampler. */
int suspend_ask(uint32_t index, pid_t tid, uint32_t sequence);

/* Keep thread TID, not the caller, in our handler until suspend_thaw, because
 * the process is about to end. The signal may end a wait of the thread early.
 * Context: any thread. */
void suspend_freeze(pid_t tid);
void suspend_thaw(void);

/* Why thread INDEX answered the question SEQUENCE without a sample. LOSS_COUNT:
 * it has not done so. */
enum loss suspend_refusal(uint32_t index, uint32_t sequence);

/* Note that the stack of thread INDEX is the memory from LOW to HIGH, while its
 * thread pointer is POINTER. That memory stays mapped as long as the thread
 * lives. Context: sampler. */
void suspend_set_stack(uint32_t index, uint64_t low, uint64_t high,
                       uint64_t pointer);

/* The value that a perf event or a timer must carry. The handler takes such a
 * signal for a thread's own sample. KERNEL_ONLY: perf samples the rest. */
uint64_t suspend_perf_cookie(void);
uint64_t suspend_timer_cookie(bool kernel_only);

/* Begin to harvest the threads' own samples. From now on the bell rings after
 * EVERY more of them. LOST becomes the number of own samples, by cause, that
 * were lost since the last call. */
void suspend_begin_harvest(uint32_t every, uint32_t lost[LOSS_COUNT]);

/* Let the bell ring when EVERY own samples have come since the last harvest. */
void suspend_ring_every(uint32_t every);

/* Whether the own samples since the last harvest are as many as ring the bell.
 */
bool suspend_is_due(void);

/* Whether any slot is in use. */
bool suspend_has_samples(void);

/* The expiries of thread INDEX's kernel-only timer that came outside the
 * kernel, since the last call. */
uint32_t suspend_take_user_ticks(uint32_t index);

/* ns of CPU time that hooks have measured in thread INDEX (measured.h), since
 * the last call. A fork is counted before the sampler goes on after that fork.
 * Context: sampler. */
uint64_t suspend_take_measured(uint32_t index);

/* Take back the slots whose handlers were left by a jump. NOW is
 * CLOCK_MONOTONIC, in ns. Their own samples are counted as lost. The caller
 * does this about once a second. Context: sampler. */
void suspend_reclaim(uint64_t now);

/* Finish the walk of SLOT in its copy of the stack, if the handler left one.
 * SLOT is DONE. The caller does this before it uses the frames. Context:
 * sampler. */
void suspend_finish(struct slot *slot);

/* Serve every parked thread. Context: sampler. */
void suspend_serve(void);

/* Sleep until the CLOCK_MONOTONIC time UNTIL (ns), until a thread parks, or
 * until suspend_ring is called. Parked threads are served. It may return early,
 * so the caller looks at the clock. Context: sampler. */
void suspend_wait(uint64_t until);

/* The same, but do not sleep if IS_CALLED returns true: there is a request.
 * NULL stands for a function that returns false. A thread that makes its
 * request later, and then calls suspend_ring, ends the sleep. Context: sampler.
 */
void suspend_wait_unless(bool (*is_called)(void), uint64_t until);

/* End a suspend_wait early. Context: any. */
void suspend_ring(void);

/* Keep the sampler in a suspend_wait until suspend_release, as around a fork.
 * Meanwhile the sampler changes nothing and holds no lock. A sampler that
 * sleeps is not woken for this. The caller waits for a busy sampler until the
 * CLOCK_MONOTONIC time UNTIL (ns), and no longer, because the program must not
 * wait for us. The sampler is then held when it next sleeps. Calls nest. A
 * suspend_release without a suspend_hold does nothing. Every thread but the
 * sampler may call both. Context: any. */
void suspend_hold(uint64_t until);
void suspend_release(void);

/* Whether a thread holds the sampler, or is about to. Context: sampler. */
bool suspend_is_held(void);

/* Whether the sampler was kept from going on since the last call. Context:
 * sampler. */
bool suspend_was_held(void);

#endif
