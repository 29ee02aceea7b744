/* SPDX-License-Identifier: MIT */
/* journal_process.h -- makes the first record of a journal. */
#ifndef JOURNAL_JOURNAL_PROCESS_H
#define JOURNAL_JOURNAL_PROCESS_H

#include "base/proc.h"
#include "store/layout.h"
#include "store/writer.h"

/* Number of strings that follow the record. */
#define PROCESS_RECORD_PARTS 4

/* The record FIXED, and the strings of TAIL that follow it in the spool. */
struct process_record {
    struct record_process fixed;
    struct writer_tail tail[PROCESS_RECORD_PARTS];
    char host[256 + PROC_BOOT_SIZE]; /* its name, and what proc_boot tells */
};

/* Make the record of the process that WORDS describes, which runs EXE by
 * COMMAND. MADE refers to both strings and to itself: they must outlive it, and
 * it must not be moved. */
void journal_process_record(struct process_record *made,
                            const struct record_process *words, const char *exe,
                            const char *command);

#endif
