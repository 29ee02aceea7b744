/* SPDX-License-Identifier: MIT */
/*
 * parts.h -- the things that samples refer to, as a spool defines them:
 * modules, threads, nodes and texts. A spool's own numbers begin at 1 each
 * time; here they are mapped to those of the profile, behind what other spools
 * brought. For build.c and those that finish its work, waits.c and weigh.c.
 */
#ifndef PROFILE_PARTS_H
#define PROFILE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"

/* Numbers of one spool, which may have gaps, and what they became: entry I of
 * NUMBERS belongs to the id that IDS calls I. */
struct numbering {
    struct intern *ids;
    uint32_t *numbers;
};

/* A spool on its way into a profile. */
struct build {
    struct profile *profile;
    uint32_t process;
    uint32_t number;    /* no other build of the profile has it */
    uint64_t base_node; /* node N of the spool is BASE_NODE + N */
    /* Samples have the build in their key, so those of a spool are the last of
     * the profile, as its threads are. */
    uint32_t first_thread, first_sample;
    size_t first_event; /* of this spool, see events.h */
    struct numbering modules, threads;
    struct numbering texts;  /* to numbers of the profile's strings */
    struct numbering labels; /* to its sets of labels */
    struct open_wait *waits; /* see waits.h */
    uint32_t wait_count;
    struct weigh_note *notes; /* see weigh.h */
    size_t note_count;
    struct weigh_unsampled *unsampled;
    size_t unsampled_count;
    struct mapped_files *mapped; /* of the process, if it lives */
    bool has_looked;             /* whether it does */
    struct profile_cost cost;    /* by the last counts that were seen */
    uint64_t last_tick;          /* ns, by the same; 0 if there were none */
    uint64_t end;                /* ns, the latest time that was seen */
    bool has_process;
    struct symbol *
        *symbols; /* that came with the spool; see parts_add_symbol */
    uint32_t symbol_count;
    uint32_t frame_count; /* that the last of them has */
};

/* What became of a record. */
enum outcome { USED, SENSELESS, FAILED };

/* Returns 0, or -1 if memory is short; parts_release is due in both cases. */
int parts_begin(struct build *build);

/* Each takes the record of its kind. */
enum outcome parts_add_module(struct build *build, const void *bytes);
enum outcome parts_add_thread(struct build *build, const void *bytes);
enum outcome parts_end_thread(struct build *build, const void *bytes);

/* Thread NUMBER lived at TIME: if an end before that is known, it was that of a
 * session, and what was said then of its CPU time is not all of it. */
void parts_see_alive(struct build *build, uint32_t number, uint64_t time);
enum outcome parts_add_node(struct build *build, const void *bytes);
enum outcome parts_add_text(struct build *build, const void *bytes);
enum outcome parts_add_symbol(struct build *build, const void *bytes);
enum outcome parts_name_node(struct build *build, const void *bytes);

/* The sample that KEY stands for, made of KEY if it is new; NULL if memory is
 * short. Stable until the next call. */
struct profile_sample *parts_sample(struct build *build,
                                    const struct profile_sample *key);

/* The symbolizer's id for a file with the build-id of LENGTH BYTES, in
 * hexadecimal BUILD_ID: the same file has one, in how many processes it may be
 * mapped. 0 if memory is short. */
uint32_t parts_file(struct profile *profile, const char *path,
                    const char *build_id, const uint8_t *bytes, size_t length);

/* The profile's number for ID, INTERN_NONE if the spool has not defined it. */
uint32_t parts_number(const struct numbering *numbering, uint32_t id);

/* Let ID, which is not defined yet, mean NUMBER from now on. Returns 0, or -1
 * if memory is short. */
int parts_define(struct numbering *numbering, uint32_t id, uint32_t number);

/* The text ID, "" for 0, NULL if the spool has not defined it. */
const char *parts_text(const struct build *build, uint32_t id);

/* Note that the process was there until TIME + DURATION. */
void parts_see_time(struct build *build, uint64_t time, uint64_t duration);

/* Look for deleted files anew when the next module comes. */
void parts_forget_mapped(struct build *build);

void parts_release(struct build *build);

#endif
