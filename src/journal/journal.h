/* SPDX-License-Identifier: MIT */
/*
 * journal.h -- turns the sampler's findings into records of the spool. It gives
 * threads and texts their numbers, and writes each of them once; stack_tree.h
 * does that for stacks and modules. journal_begin creates the spool, so that
 * its name is taken from then on.
 *
 * These functions make system calls and take no lock. The sampler never calls
 * them while it serves a parked thread. The sampler's thread alone calls them;
 * journal_forget is also called in the child of a fork.
 * Context: sampler.
 */
#ifndef JOURNAL_JOURNAL_H
#define JOURNAL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loss.h"
#include "base/sample.h"
#include "process/threads.h"
#include "store/layout.h"
#include "store/writer.h"

struct config_files;

struct journal_options {
    /* The paths of the spool, and of a flight recorder's past and next spool;
     * the caller keeps them. If another file has the first path, NAME_BESIDE
     * with FILES changes it; it returns false if no name is left. */
    const char *spool, *past, *next;
    bool (*name_beside)(struct config_files *files);
    struct config_files *files;
    bool is_kept_open; /* else the spool is opened by its path each time */
    uint64_t max_size;
    uint64_t start; /* CLOCK_MONOTONIC ns */
    uint64_t keep;  /* ns that a flight recorder keeps; 0: all */
    enum spool_purpose purpose;
    struct record_process process;
    const char *exe, *command;
};

/* Create the spool and write its first records. Returns 0, or -1 with errno:
 * EEXIST if another process has taken the name. */
int journal_begin(const struct journal_options *options);

/*
 * Rotate the journal, in two steps. journal_prepare creates the next file and
 * gives both files their names; after it the last records of the present file
 * can still be written. journal_rotate ends the present file. After that no
 * place in it is valid, nor the number of any node or text.
 *
 * journal_prepare returns 0, or -1 with errno, and then nothing has changed.
 */
int journal_prepare(void);
void journal_rotate(void);

/* Begin the present file anew at NOW, after it was shortened from outside
 * (journal_error is ENODATA). Earlier places and numbers are no longer valid.
 * Returns 0, or -1. */
int journal_restart(uint64_t now);

/* Give the present file its name back, with all that was written, if it was
 * removed or moved from outside. If another file has that name now, it gets a
 * name beside it. Does nothing if the file has its name, or if that is not
 * possible. */
void journal_put_back(void);

/* Called from time to time. If the file was removed together with its
 * directory, no reader can find it: journal_error is ESTALE from then on. */
void journal_heed_removal(void);

/* The process is about to become user UID's for good: give the spool to that
 * user, too. */
void journal_give(uid_t uid);

/* Percent of the present file that is free; 0 after a failure. */
uint64_t journal_room(void);

/* Returns the errno of the first record that could not be written; 0: all were
 * written. */
int journal_error(void);

/* Returns a number that changes with each file, and when a file is begun anew.
 * Places and numbers from another generation are not valid. */
uint32_t journal_generation(void);

/* Whether a reader follows the present file (reader_follow). */
bool journal_is_followed(void);

/* Append a record (writer_append). Returns its place in the file, or 0 if this
 * record or an earlier one could not be written. */
uint64_t journal_append(enum record_kind kind, const void *record, size_t fixed,
                        const struct writer_tail *tail, size_t parts);

/* Replace LENGTH bytes, from SKIP on, of the record at PLACE by those at BYTES.
 */
void journal_change(uint64_t place, size_t skip, const void *bytes,
                    size_t length);

/* Write to the file all that the journal has gathered. Quick if all is
 * written. */
void journal_flush(void);

/* Turns the CLOCK_MONOTONIC time TIME (ns) into the time of a record: ns since
 * the journal began. */
uint64_t journal_time(uint64_t time);

/* Returns the id of thread INDEX. The thread is written if it was not written
 * yet. */
uint32_t journal_thread(uint32_t index);

/* The place of a thread: a stack with its real depth (node 0: not known), and
 * the labels of the thread there. SET has those that the program set
 * (labels/labels.h). */
struct journal_place {
    uint32_t node, depth, label, set;
};

/* Whether A and B are the same place with the same labels. */
static inline bool
journal_is_same_place(const struct journal_place *a,
                      const struct journal_place *b)
{
    return a->node == b->node && a->label == b->label && a->set == b->set;
}

/* Returns a sample without a signal: a thread was in STATE at PLACE from SINCE
 * to UNTIL (CLOCK_MONOTONIC), and used no CPU time. */
struct record_sample journal_make_sample(enum state state,
                                         struct journal_place place,
                                         uint64_t since, uint64_t until);

/* Write SAMPLE for thread INDEX. Its times are CLOCK_MONOTONIC; on return they
 * are relative to the journal's start. Returns its place in the file, or 0 if
 * it could not be written. */
uint64_t journal_sample(struct record_sample *sample, uint32_t index);

/* Returns the number of TEXT for record_sample.waits_on, or 0 if it could not
 * be written. */
uint32_t journal_text(const char *text);

/* Write that thread INDEX, or the process, ended at END. The thread used CPU ns
 * while it was profiled; FLAGS is enum thread_end_flags. */
void journal_thread_end(uint32_t index, uint64_t cpu, uint64_t flags,
                        uint64_t end);

/* journal_follow_name: read the name of thread INDEX, and write it if it has
 * changed. journal_thread_name: the same with the name NAME. */
void journal_follow_name(uint32_t index);
void journal_thread_name(uint32_t index, const char *name);

/* The map was read: write the jitdumps that the file does not have yet. */
void journal_jitdumps(void);

/* Write a thread with the given ID. */
void journal_thread_as(uint32_t id, pid_t tid, const char *name);

/* Returns the summary of a process that ends at TIME of the record for REASON:
 * the CPU time that it has used. */
struct record_summary journal_summary(uint64_t time, enum end_reason reason);

/* The process ends at END for REASON: write the summary, cut the file to its
 * size and release it. */
void journal_end(uint64_t end, enum end_reason reason);

/* Release the parent's file, in the child of a fork. */
void journal_forget(void);

/* The sums of the whole profile: asked = taken + lost + in flight. */
struct journal_sums {
    struct record_counts counts;
    uint64_t lost[LOSS_COUNT];
    uint64_t cut[CUT_COUNT];
    uint64_t expired; /* waits, as clock_expired counts them */
    uint64_t missed;  /* of those taken: the handler lacked a rule */
    uint64_t handled; /* CPU ns in the handler */
    /* For the samples that running threads take of themselves, by the limit of
     * their rate: ns of CPU time in which they were due, and how many were
     * taken. */
    uint64_t due_cpu[LIMIT_COUNT];
    uint64_t due_taken[LIMIT_COUNT];
    /* The rest is not written. */
    uint64_t in_flight;
    uint64_t measured;  /* samples of calls that a hook measured; no question
                           asked for them */
    uint64_t unsampled; /* records of CPU time that must not be sampled */
};

/* These change records near the beginning of the file in place, if a file
 * exists. journal_state: the process is in STATE (enum control_state) since
 * NOW. journal_signal: SIGNO carries requests; 0: no signal does. */
void journal_state(uint32_t state, uint64_t now);
void journal_signal(int signo);

/* Write SUMS into the counters. */
void journal_counts(const struct journal_sums *sums);

#endif
