/* SPDX-License-Identifier: MIT */
/*
 * sampling_maker.h -- a process for tests of the sampler: threads whose clocks
 * move when a test says so, and a journal that keeps its records in memory.
 * sampling_maker.c and sampling_records.c stand in for the clocks, the kernel's
 * list of threads, the handler and the journal, because they define all of
 * their functions.
 */
#ifndef TESTS_UNIT_SAMPLING_MAKER_H
#define TESTS_UNIT_SAMPLING_MAKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loss.h"
#include "base/sample.h"
#include "base/settings.h"
#include "capture/shared.h"
#include "capture/slot.h"
#include "sampling/observe.h"
#include "sampling/roster.h"
#include "store/layout.h"

#define MADE_MS 1000000ull
#define MADE_PERIOD MADE_MS
#define MADE_PID 4000000 /* the main thread's tid, too */
#define MADE_TID 4000001 /* of another thread */
#define MADE_START (1000 * MADE_MS)
#define MADE_SAMPLES 4096u
#define MADE_ENDS 64u

/* Places in the program. */
#define RUNS 1000u
#define RUNS_ELSEWHERE 1100u
#define WAITS 2000u
#define WAITS_ELSEWHERE 3000u

/* A thread as the kernel has it. Its pc is where it waits, if it does. */
struct made_thread {
    pid_t tid;
    bool is_listed;
    bool is_waiting;
    long call; /* the system call that it waits in */
    uint64_t pc;
    uint64_t cpu, user, queued; /* ns */
    uint64_t runs_on;           /* ns of CPU time before each reading of CPU */
    uint64_t slices;            /* how often it got a CPU */
    uint64_t noted;             /* the pc of its note (waiting.h) */
    bool measures;              /* its hooks measure calls */
    /* Of each site (waiting.h): its id, which is the pc of its note, the ns
     * that calls there took, and their number. */
    uint64_t sites[SHARED_SITES], site_ns[SHARED_SITES],
        site_calls[SHARED_SITES];
    bool is_old[SHARED_SITES]; /* may be another's */
    uint32_t label;
    uint64_t began;  /* CLOCK_MONOTONIC */
    unsigned looks;  /* by look_at */
    unsigned asked;  /* signals that were sent to it */
    uint32_t cookie; /* the sequence of the last question */
    uint32_t index;  /* of that question */
};

/* A record of the journal: as it was last changed, of thread TID. */
struct made_record {
    struct record_sample sample;
    pid_t tid;
    uint32_t serial;
};

/* A record that a thread ended. */
struct made_end {
    pid_t tid;
    uint32_t serial;
    uint64_t cpu, flags, time;
};

/* What it is sampled with. made_begin sets what is not 0: pid and period. */
extern struct options made_options;
extern struct settings made_settings;

extern uint64_t made_now;         /* CLOCK_MONOTONIC */
extern uint64_t made_own;         /* the sampler's CPU clock */
extern enum trigger made_trigger; /* what trigger_of_thread returns */
extern bool made_is_split;        /* what trigger_is_split returns */
extern enum trigger made_next;    /* what trigger_after returns */
extern long made_ask_result;      /* of ask_thread */
extern enum loss made_refusal;    /* of ask_refusal */
extern bool made_keeps;           /* what ask_keeps_at returns */
extern uint64_t made_measured;    /* of serve_take_measured, once */
extern bool made_journal_is_full;
extern uint64_t made_list_cost;        /* CPU ns of a reading of the list */
extern uint32_t made_lost[LOSS_COUNT]; /* own samples that handlers lost */
extern bool made_may_ask;              /* of the last trigger_after */
extern bool made_map_is_old;           /* for walks that are unfinished */
extern unsigned made_records_at_map;   /* when the map was read last */
extern unsigned made_doubts;           /* calls of trigger_after */

extern struct made_record made_records[MADE_SAMPLES];
extern unsigned made_record_count;
extern struct made_end made_ends[MADE_ENDS];
extern unsigned made_end_count;
extern struct record_live made_clocks[MADE_ENDS];
extern unsigned made_clock_count;
extern unsigned made_list_readings; /* of the list of threads */
extern unsigned made_rearmed;       /* calls of trigger_rearm */

/* Begin: the process has one thread, the main thread, which runs. */
void made_begin(void);

/* Begin to sample it as session.c does: all existing threads are entered. */
void made_begin_sampling(void);

/* cmocka's set-up of a test: both. */
int made_set_up(void **state);

/* A thread begins now, with a CPU clock of 0. */
struct made_thread *made_thread_begin(pid_t tid);

/* The thread of TID that the kernel has. */
struct made_thread *made_thread_of(pid_t tid);

/* NS pass, in which thread TID, or 0: none, runs. */
void made_run(pid_t tid, uint64_t ns);

/* The thread waits from now on at PC, or runs again. */
void made_wait(pid_t tid, uint64_t pc);
void made_wake(pid_t tid);

/* The thread registers itself. */
void made_register(pid_t tid);

/* The thread reports its end, with its present clock. It goes from the list
 * with made_thread_gone. */
void made_report_end(pid_t tid, uint64_t start, const char *name);
void made_thread_gone(pid_t tid);

/* The thread has LABEL from now on. */
void made_label(pid_t tid, uint32_t label);

/* A slot has a sample of thread TID, with its present clock, at PC: brought by
 * TRIGGER, or the answer to its last question (TRIGGER_ASK). */
struct slot *made_sample(pid_t tid, enum trigger trigger, uint64_t pc);

/* One tick, as session.c makes it. */
struct observe_view made_tick(void);

/* NS pass, in which thread TID runs or, if 0, none; then comes a tick. If it
 * asks the thread, the thread answers at once, at RUNS. */
void made_pass(pid_t tid, uint64_t ns);

/* The same each millisecond, and no thread runs. */
void made_pass_waits(uint64_t ns);

/* The wall time that the records at NODE with STATE have in all. */
uint64_t made_wall_at(uint32_t node, enum state state);

/* Sums over the records of thread TID in STATE. */
uint64_t made_cpu(pid_t tid);
uint64_t made_wall(pid_t tid, enum state state);
unsigned made_count(pid_t tid, enum state state);

/* The newest record; it is that of the thread TID. */
const struct record_sample *made_last(pid_t tid);

/* Whether each sample that was asked for was taken, lost or is in flight. */
bool made_sums_add_up(void);

#endif
