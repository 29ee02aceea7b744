/* SPDX-License-Identifier: MIT */
/*
 * suspend.h -- asks threads for their stacks, and is asked by them. A directed
 * signal makes a thread walk its own stack by rules into a slot; where a rule
 * is missing it parks until the sampler, on its side, has finished the walk, or
 * until its own deadline. The sampler never waits for a thread.
 */
#ifndef CAPTURE_SUSPEND_H
#define CAPTURE_SUSPEND_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loss.h"
#include "signals.h"
#include "slot.h"

/* Sequences of questions are below this, and are taken anew after it. */
#define SUSPEND_SEQUENCES (1u << 24)

struct suspend_options {
    int signo;
    pid_t pid;        /* this process */
    uint32_t threads; /* indexes are below this */
    /* Index + 1 of each tid below TID_COUNT, 0 if it has none. */
    const _Atomic uint32_t *index_of_tid;
    uint32_t tid_count;
    bool registered_only; /* other threads' own clocks are not heard */
    uint64_t young; /* ns of CPU time that perf lets pass before its first */
    /* Read the module map anew, having emptied all slots that are DONE. Called
     * on the sampler, possibly while a thread is parked. */
    void (*refresh)(void);
    /* sigaction(2) itself, not a hook around it; and the program's, which may
     * be another library's. */
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    int (*next_sigaction)(int, const struct sigaction *, struct sigaction *);
    void (*leaving)(enum signals_role role); /* see signals_begin */
    /* A signal of the number that is kept closed has come. False: it is one
     * of the program's own. Any thread, in handler. */
    bool (*request)(const siginfo_t *info);
};

/* Install the handler, to which no signal of ours comes yet. Returns 0, or -1
 * with errno. Called again in the child of a fork, with its pid. */
int suspend_begin(const struct suspend_options *options);

/* Reserve what samples need, of which a stack has MAX_DEPTH frames at the most:
 * before the first signal of ours. Returns 0, or -1 if memory is short. After
 * suspend_begin. Context: sampler. */
int suspend_equip(uint32_t max_depth);

/* Ask thread TID for a sample; the slot will carry INDEX and SEQUENCE (below
 * 2^24). Returns 0, or -errno: ESRCH no such thread, EAGAIN too many signals
 * are queued (RLIMIT_SIGPENDING). Context: sampler. */
int suspend_ask(uint32_t index, pid_t tid, uint32_t sequence);

/* Let thread TID make its mask what the program believes (signals_opened). A
 * wait of its may be ended early. Context: sampler. */
void suspend_settle(pid_t tid);

/* Keep thread TID in our handler until suspend_thaw: its process is about to
 * end. A wait of its may be ended early. Any thread but the one meant. */
void suspend_freeze(pid_t tid);
void suspend_thaw(void);

/* Why the thread answered SEQUENCE without a sample, LOSS_COUNT if it did not.
 */
enum loss suspend_refusal(uint32_t index, uint32_t sequence);

/* The thread INDEX, while its thread pointer is POINTER, has its stack from LOW
 * to HIGH: memory that stays mapped while it lives. Context: sampler. */
void suspend_set_stack(uint32_t index, uint64_t low, uint64_t high,
                       uint64_t pointer);

/* What a perf event or a timer must carry so that its signal is taken for a
 * thread's own sample. */
uint64_t suspend_perf_cookie(void);
uint64_t suspend_timer_cookie(bool kernel_only);

/* All own samples so far will be harvested now; the bell is rung when EVERY
 * many have come after that. LOST is how many became no sample since the last
 * call, by their causes. */
void suspend_begin_harvest(uint32_t every, uint32_t lost[LOSS_COUNT]);

/* From now on the bell is rung when EVERY many have come. */
void suspend_ring_every(uint32_t every);

/* Whether so many own samples have come that the bell was rung for them. */
bool suspend_is_due(void);

/* Whether any slot is in use. */
bool suspend_has_samples(void);

/* The ticks that a kernel-only timer of thread INDEX had outside the kernel,
 * since the last call. */
uint32_t suspend_take_user_ticks(uint32_t index);

/* ns of CPU time of the calls of thread INDEX that a hook has measured
 * (measured.h), since the last call of this function. A fork is in it before
 * the sampler goes on after that fork. Context: sampler. */
uint64_t suspend_take_measured(uint32_t index);

/* Take back the slots whose handlers were left by a jump before NOW, and count
 * their samples as lost. About once a second. Context: sampler. */
void suspend_reclaim(uint64_t now);

/* Wait until the handlers that run now have ended: 2 ms, or as long as they
 * park or are kept from a CPU, but no longer than 50 ms. Any thread, in
 * handler. */
void suspend_wait_for_handlers(void);

/* Finish the walk of SLOT, which is DONE, in the copy of its stack, if a rule
 * was missing. Before its frames are used. Context: sampler. */
void suspend_finish(struct slot *slot);

/* Serve every parked thread. Context: sampler. */
void suspend_serve(void);

/* Sleep until the CLOCK_MONOTONIC time UNTIL (ns), or until a thread parks or
 * suspend_ring is called; parked threads are served. May return early: look
 * at the clock. Context: sampler. */
void suspend_wait(uint64_t until);

/* The same, but not if IS_CALLED (NULL: never) says that somebody wants
 * something. Who wants it from now on rings after having said so, and is heard.
 */
void suspend_wait_unless(bool (*is_called)(void), uint64_t until);

/* End a suspend_wait early. Any thread, in handler. */
void suspend_ring(void);

/* Keep the sampler in a suspend_wait until suspend_release, as around a fork:
 * it changes nothing and holds no lock. A sampler that sleeps is not woken for
 * that. Returns false if it was still busy at the CLOCK_MONOTONIC time UNTIL
 * (ns). Then, too, it is to be released. Nests. Any thread but the sampler, in
 * handler. To release what nobody holds does nothing. */
bool suspend_hold(uint64_t until);
void suspend_release(void);

/* Whether somebody holds the sampler, or is about to. Context: sampler. */
bool suspend_is_held(void);

/* Whether the sampler was held when it would have gone on, since this was asked
 * before. Context: sampler. */
bool suspend_was_held(void);

#endif
