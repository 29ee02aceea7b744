/* SPDX-License-Identifier: MIT */
/*
 * pprof_notes.h -- what the comments of a pprof file of ours say: the commands,
 * and how good the profile is, as write/phrase.h spells it. For pprof_read.c
 * alone.
 */
#ifndef PROFILE_PPROF_NOTES_H
#define PROFILE_PPROF_NOTES_H

#include <stdint.h>

#include "profile.h"

struct pprof_notes {
    struct pprof_note {
        uint32_t pid;
        const char *host, *exe, *command; /* "" if not known */
    } * processes;
    uint32_t process_count;
    struct profile *profile;  /* keeps the strings */
    struct profile_cost cost; /* see pprof_notes_cost */
    uint64_t walked;          /* stacks, those of waiting threads, too */
    bool was_asked;           /* running threads were, by the sampler */
};

/* What is known of the process that the label LABEL names, "app.4711"; with ""
 * of the only one. Never NULL. */
const struct pprof_note *pprof_notes_process(const struct pprof_notes *notes,
                                             const char *label);

/* Take COMMENT, which outlives NOTES. Others' comments are passed over. Returns
 * 0, or -1 if memory is short. */
int pprof_notes_add(struct pprof_notes *notes, const char *comment);

/* What they say of the cost, once all are taken. */
struct profile_cost pprof_notes_cost(const struct pprof_notes *notes);

void pprof_notes_release(struct pprof_notes *notes);

#endif
