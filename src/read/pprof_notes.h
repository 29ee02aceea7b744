/* SPDX-License-Identifier: MIT */
/*
 * pprof_notes.h -- reads the comments of a pprof file that we wrote, or that
 * was merged of such files: the commands, and the counters of the profile
 * (model/quality.h). For pprof.c alone.
 */
#ifndef READ_PPROF_NOTES_H
#define READ_PPROF_NOTES_H

#include <stdint.h>

#include "model/quality.h"
#include "model/profile.h"

struct pprof_notes {
    struct pprof_note {
        uint32_t pid;
        const char *host, *exe, *command; /* "" if unknown */
    } * processes;
    uint32_t process_count;
    struct profile *profile;  /* owns the strings */
    struct counters counters; /* complete after pprof_notes_end */
    /* Of the file whose comments are read, of those that were merged. */
    struct counters of_file;
    unsigned place; /* of the last comment */
    /* Sums over all files: of factor times samples, and of samples. */
    double spread, spread_samples;
    bool has_counters; /* else they come from sentences */
    uint64_t walked;   /* by a sentence: stacks, also of waits */
};

/* Return the notes on the process that the label LABEL names, "app.4711"; for
 * "" those on the only process. Never NULL. */
const struct pprof_note *pprof_notes_process(const struct pprof_notes *notes,
                                             const char *label);

/* Take COMMENT, which outlives NOTES. Comments of other programs are ignored.
 * Returns 0, or -1 if memory is short. */
int pprof_notes_add(struct pprof_notes *notes, const char *comment);

/* By how much squares of samples exceed those of equal ones (quality_spread); 0
 * if no file tells it. */
double pprof_notes_spread(const struct pprof_notes *notes);

/* All comments are taken. */
void pprof_notes_end(struct pprof_notes *notes);

void pprof_notes_release(struct pprof_notes *notes);

#endif
