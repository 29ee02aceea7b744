/* SPDX-License-Identifier: MIT */
/*
 * journal.h -- turns what the sampler sees into records of the spool: gives
 * modules, threads and stacks their numbers and writes each once. The spool is
 * made at once, so that its name is taken. Sampler thread alone but for
 * journal_begin; may be called while a thread is parked
 * (it makes system calls, but takes no lock).
 */
#ifndef AGENT_JOURNAL_H
#define AGENT_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/layout.h"
#include "store/writer.h"
#include "target/modules.h"
#include "target/threads.h"

struct journal_options {
    const char *path; /* of the spool, absolute */
    uint64_t max_size;
    uint64_t start; /* CLOCK_MONOTONIC ns */
    /* Of a flight recorder: ns that it keeps, and where the spool goes when the
     * next one, which is made at NEXT, takes its place. Else 0. */
    uint64_t keep;
    const char *past, *next;
    enum spool_purpose purpose;
    struct record_process process;
    const char *exe, *command;
};

/* Make the file and write its first records. Returns 0, or -1 with errno:
 * EEXIST another process has taken that name. */
int journal_begin(const struct journal_options *options);

/* Before journal_begin: spools are kept open if the calling thread
 * HAS_OWN_FILES, a descriptor table of its own. */
void journal_settle(bool has_own_files);

/*
 * The journal goes on in another file, in two steps: journal_prepare makes it
 * and gives both their names, after which the last records of the present one
 * can still be written; journal_turn ends that. From then on no place in it is
 * valid, nor any number of a node or text. The first returns 0, or -1 with
 * errno set, and nothing has changed.
 */
int journal_prepare(void);
void journal_turn(void);

/* Somebody has shortened the present file (journal_error is ENODATA): it begins
 * anew at NOW. Places and numbers of before are not valid. Returns 0, or -1. */
int journal_restart(uint64_t now);

/* The file of the present was removed by somebody: it gets its name back, with
 * all that was written. Nothing if that is not so, or not possible. */
void journal_put_back(void);

/* From time to time: if the file was removed, and its directory is gone, too,
 * nobody will ever read it, and journal_error is ESTALE. */
void journal_heed_removal(void);

/* The process is about to become user UID's for good: so is its spool. */
void journal_give(uid_t uid);

/* Percent of the present file that are free; 0 after a failure. */
uint64_t journal_room(void);

/* Whether a record could not be written; errno is kept by journal_error. */
int journal_error(void);

/* Append a record (writer_append). Returns its place in the file, or 0 if it,
 * or one before it, could not be written. */
uint64_t journal_append(enum record_kind kind, const void *record, size_t fixed,
                        const struct writer_tail *tail, size_t parts);

/* LENGTH bytes from SKIP on of the record at PLACE are those at BYTES now. */
void journal_change(uint64_t place, size_t skip, const void *bytes,
                    size_t length);

/* Let the file have all that the journal has. Quick if it has. */
void journal_flush(void);

/* CLOCK_MONOTONIC as records have it: since the journal began. */
uint64_t journal_time(uint64_t time);

/* The id of thread INDEX, which is written if it was not yet. */
uint32_t journal_thread(uint32_t index);

/* The node for the stack of COUNT frames (walk.h), leaf first. At index GAP
 * frames were left out if ELIDED; the stack misses its root if CUT. Returns 0
 * if it could not be written. */
uint32_t journal_stack(const uint64_t *frames, uint32_t count, uint32_t gap,
                       bool elided, enum cut cut);

/* Write SAMPLE for thread INDEX; times are CLOCK_MONOTONIC, and relative when
 * it returns: its place in the file, or 0 if it could not be written. */
uint64_t journal_sample(struct record_sample *sample, uint32_t index);

/* The number of TEXT for record_sample.waits_on, 0 if it could not be written.
 */
uint32_t journal_text(const char *text);

/* Thread INDEX ended at END, or the process did, having used CPU ns while it
 * was profiled; FLAGS is enum thread_end_flags. */
void journal_thread_end(uint32_t index, uint64_t cpu, uint64_t flags,
                        uint64_t end);

/* Look whether its name has changed; or it is NAME. */
void journal_follow_name(uint32_t index);
void journal_thread_name(uint32_t index, const char *name);

/* A module has come: frames that were in none may be in it. */
void journal_module_came(void);

/* A module has gone: its frames are no longer looked up. */
void journal_module_gone(const struct module *module);

/* Write a thread with this ID. */
void journal_thread_as(uint32_t id, pid_t tid, const char *name);

/* Write the summary, cut the file to its size and release it. */
void journal_end(const struct record_summary *summary);

/* In the child of a fork: let go of the parent's file. */
void journal_forget(void);

#endif
