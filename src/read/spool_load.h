/* SPDX-License-Identifier: MIT */
/*
 * spool_load.h -- the things that samples refer to, as a spool defines them:
 * modules, threads, nodes and texts. Each spool has its own numbers, which
 * begin at 1. They are mapped to numbers of the profile, after those of other
 * spools. For spool.c and its helpers, and for live/watch.c.
 */
#ifndef READ_SPOOL_LOAD_H
#define READ_SPOOL_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"
#include "util/intern.h"
#include "spool_script.h"

/* Ids of one spool, which may have gaps, and the profile's numbers for them.
 * Entry I of NUMBERS belongs to the id that has number I in IDS. */
struct numbering {
    struct intern ids;
    uint32_t *numbers;
};

/* A process of a spool while it is added to a profile. */
struct spool_load {
    struct profile *profile;
    uint32_t process;
    uint32_t number; /* unique in the profile */
    uint32_t *nodes; /* the profile's number of node N is at N - 1 */
    uint32_t node_count;
    /* A sample's key has its number in it, so the samples of a spool are the
     * last of the profile, as its threads are. */
    uint32_t first_thread, first_sample;
    size_t first_event; /* of this spool (events.h) */
    uint32_t first_epoch;
    struct numbering modules, threads;
    struct numbering texts;  /* to numbers of the profile's strings */
    struct numbering labels; /* to the profile's sets of labels */
    struct open_wait *waits; /* spool.c */
    uint32_t wait_count;
    struct weigh_note *notes; /* weigh.h */
    size_t note_count;
    struct weigh_unsampled *unsampled;
    size_t unsampled_count;
    struct weigh_clock *clocks;
    size_t clock_count;
    uint32_t pid; /* of the process in this namespace; 0: not known */
    struct mapped_files *mapped; /* of the process, if it still runs */
    bool has_looked;             /* MAPPED was looked for */
    struct profile_cost cost;    /* by the last record of counts */
    uint64_t last_tick;          /* ns, of the same; 0: no such record */
    uint64_t end;                /* ns, the latest time in a record */
    bool has_process;
    bool is_here;    /* PID was given: the process lives on this host */
    bool is_foreign; /* its files are those of another host */
    bool is_result;  /* the spool was made of others: it has names */
    struct generated *generated; /* generated.h; NULL: no jitdump */
    struct spool_scripts scripts;
    struct symbol **symbols; /* of the spool (spool_load_add_symbol) */
    uint32_t symbol_count;
    uint32_t frame_count; /* frames of the last symbol so far */
};

/* Outcome of a record: it was used, was left out, or memory was short. */
enum outcome { USED, SENSELESS, FAILED };

/* Each takes the record BYTES of its kind. */
enum outcome spool_load_add_module(struct spool_load *load, const void *bytes);
enum outcome spool_load_see_file(struct spool_load *load, const void *bytes);

/* Whether HOST, "" if unknown, is another host than this one, whose files are
 * not here. A container with another name is on this host if BOOT is what
 * proc_boot tells. With a copy of its files (elf_view_set_root) they are here.
 */
bool spool_load_is_foreign(const char *host, const char *boot);
enum outcome spool_load_add_thread(struct spool_load *load, const void *bytes);
enum outcome spool_load_end_thread(struct spool_load *load, const void *bytes);
enum outcome spool_load_see_clock(struct spool_load *load, const void *bytes);
enum outcome spool_load_add_node(struct spool_load *load, const void *bytes);
enum outcome spool_load_add_text(struct spool_load *load, const void *bytes);
enum outcome spool_load_add_symbol(struct spool_load *load, const void *bytes);
enum outcome spool_load_name_node(struct spool_load *load, const void *bytes);

/* Note that thread NUMBER lived at TIME, which is before its record if the
 * sampler has met the thread late. If an end before TIME is known, it was the
 * end of a session, and its CPU time is not the thread's last. */
void spool_load_see_alive(struct spool_load *load, uint32_t number,
                          uint64_t time);

/* Return the sample for KEY, made as a copy of KEY if it is new; NULL if memory
 * is short. Valid until the next call. */
struct profile_sample *spool_load_sample(struct spool_load *load,
                                         const struct profile_sample *key);

/* Return the symbolizer's id for the file at PATH with the build-id of LENGTH
 * BYTES, in hexadecimal BUILD_ID. A file has one id, however many processes map
 * it. 0 if memory is short. */
uint32_t spool_load_file(struct profile *profile, const char *path,
                         const char *build_id, const uint8_t *bytes,
                         size_t length);

/* The profile's number for ID, INTERN_NONE if the spool has not defined it. */
uint32_t spool_load_number(const struct numbering *numbering, uint32_t id);

/* From now on ID, which is not defined yet, means NUMBER. Returns 0, or -1 if
 * memory is short. */
int spool_load_define(struct numbering *numbering, uint32_t id,
                      uint32_t number);

/* The profile's number of node ID (> 0) of the spool, INTERN_NONE if the spool
 * has not defined it. */
uint32_t spool_load_node(const struct spool_load *load, uint32_t id);

/* The text ID, "" for 0, NULL if the spool has not defined it. */
const char *spool_load_text(const struct spool_load *load, uint32_t id);

/* Note that the process existed until TIME + DURATION. Both are ns, TIME since
 * the start of the process. */
void spool_load_see_time(struct spool_load *load, uint64_t time,
                         uint64_t duration);

/* Add the counters, times and samples of LOAD, whose file was read to its end,
 * to the sums of the profile. */
void spool_load_sum(struct spool_load *load);

/* Look for deleted files anew when the next module comes. */
void spool_load_forget_mapped(struct spool_load *load);

/* Free what LOAD holds; the profile keeps what was added. */
void spool_load_release(struct spool_load *load);

#endif
