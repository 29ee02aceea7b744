/* SPDX-License-Identifier: MIT */
/*
 * process_record.h -- the record of a spool that says whose it is: the process,
 * its program, the version of this library and the host. Any thread.
 */
#ifndef AGENT_PROCESS_RECORD_H
#define AGENT_PROCESS_RECORD_H

#include "store/layout.h"
#include "store/writer.h"

#define PROCESS_RECORD_PARTS 4

/* FIXED is followed by what TAIL leads to. */
struct process_record {
    struct record_process fixed;
    struct writer_tail tail[PROCESS_RECORD_PARTS];
    char host[256];
};

/* For the process that WORDS tell of, which runs EXE by COMMAND. They are used
 * as long as MADE is, which must not be moved. */
void process_record_make(struct process_record *made,
                         const struct record_process *words, const char *exe,
                         const char *command);

#endif
