/* SPDX-License-Identifier: MIT */
/*
 * trigger.h -- who interrupts the threads that run. Best is perf (any rate, its
 * own CPU clock), then a timer on the thread's CPU clock, then the sampler's
 * question. What works is found out, at the start for the process, and later
 * for a thread whose clock moves without a sample. Sampler thread alone.
 */
#ifndef AGENT_TRIGGER_H
#define AGENT_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loss.h"
#include "base/options.h"
#include "base/sample.h"

struct trigger_options {
    enum option_trigger wanted;
    pid_t pid;
    uint64_t period;    /* ns of CPU time between the samples of a thread */
    bool has_own_files; /* the program cannot close what we open */
    bool registered_only;
};

/* Forget what held before a fork. Before the program goes on: a thread would
 * arm a timer whose signal is not known as ours, and end the process; and who
 * wants SIGTRAP would wait for events that the child does not have. */
void trigger_reset(void);

/* Whether the trigger WANTED can work here, as far as that is known before it
 * begins: a kernel, a program or a filter may forbid perf. Returns 0, or -errno
 * as trigger_begin. Any thread. */
int trigger_try(enum option_trigger wanted);

/* Borrow the signal that the trigger WANTED may need, before the program has
 * changed a mask: what it blocks later is then a belief alone (signals.h). In
 * the constructor, and in the child of a fork. */
void trigger_borrow(enum option_trigger wanted);

/* Find the best trigger and make it ready; it interrupts nobody before
 * trigger_enable. Returns 0, or -errno if the one that is wanted
 * does not work here; then nothing is sampled. */
int trigger_begin(const struct trigger_options *options);

/* Let threads be interrupted. */
void trigger_enable(void);

/* Thread TID was there before trigger_begin. Before trigger_enable. */
void trigger_prepare(pid_t tid);

/* The trigger of thread TID, made ready for it. After trigger_enable. */
enum trigger trigger_of_thread(pid_t tid);

/* The next trigger for a thread that FROM does not reach, made ready for it;
 * FROM itself if there is none. MAY_ASK: it may be the sampler's question. */
enum trigger trigger_after(enum trigger from, pid_t tid, bool may_ask);

/* Why a thread with TRIGGER may have fewer samples than the rate asks for. */
enum limit trigger_limit(enum trigger trigger);

/* Whether samples of perf leave out the kernel's time, which timers show. */
bool trigger_is_split(void);

/* Whether the sampler's question is the trigger of all threads. */
bool trigger_is_ask(void);

/* ns of CPU time between two samples of a timer, on the average: they come at
 * ticks. */
uint64_t trigger_timer_period(void);

/* A sample of a timer was taken: draw the next instant, RANDOM is any number;
 * or drop the timer, if it was for the first one only. */
void trigger_rearm(pid_t tid, uint64_t random);

/* Whether thread TID, which has used USED ns of CPU time, may be asked: not as
 * long as its timer may expire, because of two signals of one number that are
 * pending the kernel keeps the first, and the question would be lost. */
bool trigger_may_ask(pid_t tid, uint64_t used);

/* Once a tick: change perf's period now and then, so that it cannot fall into
 * step with the program; HAS_NEW: threads were made since. */
void trigger_vary(uint64_t now, bool has_new, uint64_t random);

/* Whether threads must be interrupted otherwise from now on, by what
 * trigger_of_thread says: the program wants perf's SIGTRAP for itself, or
 * questions and timers have another number now (capture/signals.h).
 * LOOK_CLOSELY: also whether the program has put a handler in place of ours by
 * a raw system call.
 */
bool trigger_check_signals(bool look_closely);

/* The same, because somebody traces the process (traced.h), or does no more:
 * with debuggers that we know timers are used, and with others nobody
 * interrupts threads (TRIGGER_NONE); unless a trigger was asked for by name. */
bool trigger_check_tracer(uint64_t now);

/* The same, because the program's threads are switched so often that perf's
 * events would cost too much, or not any more: then they rest, and timers are
 * used meanwhile. */
bool trigger_check_switches(uint64_t now);

/* The program wants SIGTRAP for itself: have the sampler take back perf's
 * events, and wait for that, some milliseconds at most. Any thread, in handler.
 */
void trigger_leave_trap(void);

/* Whether that is still to be done, by trigger_check_signals. */
bool trigger_must_leave_trap(void);

/* Whether the program has replaced a handler of ours. */
bool trigger_was_displaced(void);

/* Nothing interrupts a thread any more. */
void trigger_stop(void);

/* Around a fork, on the thread that forks: a signal of its timer would make the
 * kernel begin the fork again. Any thread. */
void trigger_before_fork(void);
void trigger_after_fork(void);

#endif
