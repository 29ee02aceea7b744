/* SPDX-License-Identifier: MIT */
/*
 * account.h -- what is known of each thread: the CPU and wall time that its
 * samples have been given, its present wait, and the question that it has not
 * answered yet. The sums of the whole profile are here too: asked = taken +
 * lost + what is in flight. Sampler thread alone.
 */
#ifndef AGENT_ACCOUNT_H
#define AGENT_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loss.h"
#include "base/sample.h"
#include "store/layout.h"
#include "journal_wait.h"

/* What is left of a thread's earlier sessions (session.h). */
struct account_past {
    uint64_t used; /* ns of CPU time */
    int64_t rest;  /* ns of wall time, less than a period */
    bool is_counted;
};

struct account {
    uint64_t base;  /* CPU clock when profiling began: not ours to show */
    uint64_t given; /* CPU clock up to which samples stand for it */
    uint64_t seen;  /* CPU clock at the last look */
    uint64_t seen_at;
    uint64_t known_from;    /* wall time before that is not accounted for */
    int64_t rest;           /* wall time up to then that is neither CPU time nor
                             * any wait's yet */
    uint64_t queued;        /* time without a CPU, when it was last shown */
    uint64_t queue_read;    /* the same, at its last reading */
    uint64_t queue_read_at; /* and when that was; 0: never */
    uint64_t doubted;       /* CPU clock when its trigger was last doubted */
    uint64_t doubted_user;  /* ns of user time by then */
    uint64_t woke_clock;    /* CPU clock when its last wait was over */
    uint64_t last_wait;     /* how long that was; at first, for ever */

    uint32_t node, depth;           /* its last stack on a CPU; node 0: none */
    uint32_t wait_node, wait_depth; /* that of its last wait */
    uint32_t label, wait_label;     /* what it was labelled there */
    bool has_woken;        /* since its time without a CPU was last read */
    enum trigger trigger;  /* who interrupts it when it runs */
    uint32_t quiet;        /* looks in a row at which it had not run */
    bool is_active;        /* it is looked at in every tick */
    bool has_run;          /* since its name was read */
    uint32_t active_place; /* where it stands in the list of those */
    bool has_stack;        /* the handler knows its stack's bounds */
    bool is_new;           /* it was not looked at yet */
    bool is_ignored;       /* it is not to be profiled */
    bool has_ended;        /* its end is written, though it may be listed yet */
    uint64_t ended_at;
    uint64_t ticks_clock; /* CPU clock at the first tick of a split trigger */
    uint64_t ticks;       /* ticks since */
    uint64_t measured;    /* CPU time that is no sample's, not seen yet */
    uint64_t rated;       /* CPU clock up to which rates.h knows it */
    uint64_t rated_from;  /* CPU clock when its trigger was made ready */
    enum limit limit;     /* of its rate since its last look (rates.h);
                           * LIMIT_COUNT: it was not looked at yet */

    struct journal_wait latest; /* of its waits */
    struct journal_wait *wait;  /* that, while it is open; NULL: it is not */
    struct journal_wait *last;  /* that, if no sample came since; or NULL */
    uint64_t opened_at;         /* since then the record grows by itself */
    uint64_t opened_wall;       /* what it stood for by then */
    uint64_t wait_until;        /* up to then it is sure to have waited */

    uint64_t unsampled; /* CPU time that nobody may sample, not written yet */
    uint64_t unsampled_since, unsampled_until; /* when that was */

    struct account_past past;

    uint32_t sequence;    /* of the question in flight */
    uint64_t asked_at;    /* when it was asked */
    uint64_t asked_clock; /* CPU clock then */
    uint64_t asked_for;   /* ns of wall time that the answer stands for */
    bool in_flight;
};

struct account_sums {
    struct record_counts counts;
    uint64_t lost[LOSS_COUNT];
    uint64_t cut[CUT_COUNT];
    /* Of the samples that a thread takes of its own running: ns of CPU time in
     * which they were due, and how many were taken, by what limited them. */
    uint64_t due_cpu[LIMIT_COUNT];
    uint64_t due_taken[LIMIT_COUNT];
    uint64_t in_flight;
    uint64_t measured;  /* samples of what a hook measured; nobody asked */
    uint64_t unsampled; /* records of CPU time that nobody may sample */
};

/* Empty everything. PERIOD in ns; CPU_ONLY: waits are not shown. Returns 0, or
 * -1 if memory is short. */
int account_begin(uint64_t period, bool cpu_only);

struct account *account_of(uint32_t index);
struct account_sums *account_sums(void);
uint64_t account_period(void);
bool account_is_cpu_only(void);

/* A thread appeared, of which nothing is known. */
void account_forget(uint32_t index);

/* It is profiled from START on; its CPU clock counts from CLOCK. */
void account_open(uint32_t index, uint64_t clock, uint64_t start,
                  enum trigger trigger);

/* It is not profiled from now on. */
void account_ignore(uint32_t index);

/* A session ends in which it used CPU ns, those of earlier ones included. */
void account_keep(uint32_t index, uint64_t cpu);

/* What it used so far, and all places and numbers of its records, are of a file
 * that is over. */
void account_turn(uint32_t index);

/* The question to this thread is lost to CAUSE. */
void account_lose(struct account *account, enum loss cause);

/* Up to NOW no thread has run but those that are looked at in every tick. */
void account_confirm_quiet(uint64_t now);

/* Threads that are looked at in every tick. */
void account_activate(uint32_t index);
void account_deactivate(uint32_t index);
uint32_t account_active_count(void);
uint32_t account_active_at(uint32_t i);

#endif
