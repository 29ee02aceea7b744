/* SPDX-License-Identifier: MIT */
/*
 * thread_time.h -- the state of each thread: the CPU and wall time of its
 * samples, its present wait, and the question that it has not answered yet. It
 * also has the sums of the whole profile.
 * Context: sampler.
 */
#ifndef SAMPLING_THREAD_TIME_H
#define SAMPLING_THREAD_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"
#include "base/loss.h"
#include "base/sample.h"
#include "base/settings.h"
#include "capture/shared.h"
#include "journal/journal.h"
#include "process/look.h"
#include "store/layout.h"

/* The rest from earlier sessions (session.h) of a thread. */
struct thread_time_past {
    uint64_t used; /* ns of CPU time */
    int64_t rest;  /* ns of wall time, less than a period */
    bool is_counted;
};

/* The record of a wait, which may still grow. */
struct thread_wait {
    uint64_t place;              /* of the record in the file */
    struct record_sample record; /* as it is in the file, without its head */
};

/* A call that the thread's hooks measure (wait_times.h). */
struct wait_site {
    uint64_t id;                /* of the site; 0: none */
    uint64_t given;             /* ns of it that were looked at */
    uint64_t calls;             /* that were over then */
    uint64_t waited, queued;    /* ns that no record shows yet */
    struct journal_place place; /* node 0: no look has found it yet */
    uint32_t waits_on; /* as of the last wait there that a look found */
    uint16_t system_call;
    bool is_known; /* these two are */
    uint32_t old;  /* looks in a row at which it had almost no time */
};

struct thread_time {
    uint64_t base; /* CPU clock when profiling began */
    uint64_t seen; /* CPU clock at the last look */
    uint64_t seen_at;
    uint64_t known_from; /* wall time before this is not given to samples */
    int64_t rest; /* wall time up to then that is in no wait and no CPU time */
    struct look_line in_line; /* its time in line for a CPU when last read */
    uint64_t unplaced;        /* ns of it whose place no look has found */
    uint64_t unplaced_since, unplaced_until;
    uint64_t line;                /* ns of it at LINE_AT, not shown yet */
    struct journal_place line_at; /* node 0: none */
    uint64_t held;                /* ns of REST that belong to STOOD_AT */
    uint64_t stood;               /* ns that looks saw it in line there */
    bool is_reached;  /* a sample came since its trigger was checked */
    uint64_t reached; /* CPU clock at the last check that followed a sample */
    uint64_t checked; /* CPU clock at the last check */
    uint64_t doubted; /* CPU clock when its trigger was last doubted */
    uint64_t doubted_user; /* ns of user time at that moment */
    uint64_t woke_clock;   /* CPU clock when its last wait was over */
    uint64_t last_wait; /* length of that wait; at first, the largest number */

    struct journal_place ran_at;    /* its last place on a CPU */
    struct journal_place waited_at; /* the place of its last wait */
    /* Where the last look found it standing still. node 0: it ran. */
    struct journal_place stood_at;
    bool has_woken;    /* since time in line was last shown */
    struct regs noted; /* the note of its last wait (waiting.h); pc 0: none */
    uint64_t noted_clock;  /* CPU clock then */
    bool mostly_queues;    /* most of its time without a CPU was time in line
                            * for one, and it has not waited since */
    enum trigger trigger;  /* its trigger */
    uint32_t quiet;        /* looks in a row at which it had not run */
    bool is_active;        /* it is looked at in every tick */
    bool has_run;          /* it has run since its name was read */
    uint32_t active_place; /* its index in the list of such threads */
    uint64_t stack_low;    /* start of the main thread's stack; 0: another */
    bool has_stack;        /* the handler knows its stack's bounds */
    bool is_new;           /* it was not looked at yet */
    bool is_ignored;       /* the thread is not profiled */
    bool has_ended;        /* its end is written; it may be listed yet */
    uint64_t ended_at;
    uint64_t ticks_clock; /* CPU clock at the first tick of a split trigger */
    uint64_t ticks;       /* ticks since then */
    uint64_t sampled;     /* CPU clock at its last sample with one; 0: none */
    uint64_t unread;      /* points since then, of samples without a clock */
    uint64_t sampled_at;  /* CLOCK_MONOTONIC time of its last sample */
    uint64_t read_kernel; /* the kernel's part at the last that has it */
    uint64_t read_clock;  /* the CPU clock then; 0: neither is known */
    uint64_t own_points;  /* recent points outside calls */
    uint64_t own_time;   /* CPU time of the program's own, in which they were */
    int64_t kernel_rest; /* ns of it that belong to no call yet */
    uint64_t beat;       /* CPU time between two samples outside calls, ns */
    uint64_t beat_of;    /* weight of a sample then, ns */
    uint32_t beats;    /* how often in a row that was the same, up to a limit */
    uint64_t stalled;  /* points without a sample, for the next ones */
    bool was_in_call;  /* its last sample was at a system call */
    uint64_t measured; /* CPU time outside all samples, not seen yet */
    uint64_t rated;    /* CPU clock up to which rates.h knows it */
    uint64_t rated_from; /* CPU clock when its trigger was made ready */
    uint64_t epoch_used; /* CPU time that its last CLOCK has (layout.h) */
    uint64_t live_place; /* of its LIVE in the file; 0: none */
    uint64_t live_cpu;   /* CPU time that its LIVE has */
    enum limit limit;    /* of its rate since its last look (rates.h);
                          * LIMIT_COUNT: it was not looked at yet */

    struct thread_wait latest; /* its last wait */
    struct thread_wait *wait;  /* &latest while it is open, else NULL */
    struct thread_wait *last;  /* &latest if no sample came since, else NULL */
    uint64_t opened_at;        /* the record grows by itself since this time */
    uint64_t opened_wall;      /* weight of the wait at that time */
    uint64_t wait_until;       /* it has certainly waited up to this time */
    uint32_t same_waits;       /* waits in a row that were found at one place */

    uint64_t unsampled; /* CPU time that must not be sampled, not written yet */
    uint64_t unsampled_since, unsampled_until; /* the time that it covers */

    struct thread_time_past past;

    struct wait_site sites[SHARED_SITES];
    bool is_timed;   /* its hooks measure calls */
    bool has_labels; /* it was found with labels */
    uint32_t calm;   /* looks in a row at which it waited almost never */
    uint32_t timed;  /* index + 1 of the site of the open wait; 0: none */

    uint64_t unfound;     /* looks since the last one that found it running that
                             should have found it so (asking.c) */
    uint32_t sequence;    /* of the question in flight */
    uint64_t asked_at;    /* when the question was asked */
    uint64_t asked_clock; /* CPU clock at that time */
    uint64_t asked_for;   /* ns of a CPU that the answer stands for */
    bool in_flight;
    bool asks_place;              /* the answer is no sample, but told_at */
    struct journal_place told_at; /* where it was in line; node 0: not known */
};

/* Empty all thread times and sums. Returns 0, or -1 if memory is short. */
int thread_time_begin(const struct settings *settings);

/* The thread time of thread INDEX; the sums; ns between two samples at the rate
 * that was asked for; and whether waits are not shown. */
struct thread_time *thread_time_of(uint32_t index);
struct journal_sums *thread_time_sums(void);
uint64_t thread_time_period(void);
bool thread_time_is_cpu_only(void);

/* A thread appeared at INDEX: forget all about that index. */
void thread_time_forget(uint32_t index);

/* The thread is profiled from START on; its CPU clock counts from CLOCK. */
void thread_time_open(uint32_t index, uint64_t clock, uint64_t start,
                      enum trigger trigger);

/* From now on the thread is not profiled. */
void thread_time_ignore(uint32_t index);

/* A session ends in which the thread used CPU ns, including earlier sessions.
 */
void thread_time_keep(uint32_t index, uint64_t cpu);

/* The journal is rotated: the thread's use so far, and all places and numbers
 * of its records, belong to the file before. */
void thread_time_rotate(uint32_t index);

/* Count the question to the thread of ACCOUNT as lost to CAUSE. */
void thread_time_lose(struct thread_time *account, enum loss cause);

/* Up to NOW, only threads that are looked at in every tick have run. */
void thread_time_confirm_quiet(uint64_t now);

/* The list of the threads that are looked at in every tick. */
void thread_time_activate(uint32_t index);
void thread_time_deactivate(uint32_t index);
uint32_t thread_time_active_count(void);
uint32_t thread_time_active_at(uint32_t i);

#endif
