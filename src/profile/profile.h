/* SPDX-License-Identifier: MIT */
/*
 * profile.h -- the model that every output is made from: what one or several
 * spools say, checked, summed up, and free of the file's layout.
 *
 *   processes   one for each spool
 *   modules     mapped ELF files; number 0 is no module
 *   threads
 *   nodes       the tree of all stacks; a node's parent has a smaller number,
 *               0 is beyond the root. A stack is the number of its leaf.
 *   labels      sets of them, that the program gave to samples (label_sets.h)
 *   samples     one for each (thread, stack, state, system call, what is waited
 *               for, labels), with sums
 *   marks       instants and spans of time that the program named
 *
 * All arrays are read directly and changed only by build_add (build.h). Sums
 * stop at INT64_MAX instead of wrapping: formats have signed values. Strings
 * are clean (clean.h). Names are looked up when a node is first asked for its
 * own.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/loss.h"
#include "base/rate.h"
#include "store/layout.h"
#include "symbol/symbolizer.h"

struct address_table;
struct perf_map;
struct profile_event;

enum value { VALUE_SAMPLES, VALUE_CPU, VALUE_WALL, VALUE_COUNT };

struct profile_process {
    uint32_t pid, ppid;
    uint32_t machine;  /* e_machine of ELF */
    uint64_t period;   /* ns between the sample points of a thread */
    uint64_t start;    /* ns since the epoch */
    uint64_t duration; /* ns, to the last thing that is known */
    const char *exe, *command, *version, *host;
    bool ended;           /* in a way that the library saw */
    uint32_t first_node;  /* number of its first node */
    struct perf_map *map; /* names of its generated code, see generated.h */
    bool has_map;         /* it was looked for */
    uint64_t map_size;    /* bytes of its file then */
    const char *spool;    /* path, NULL if it has none; see respool.h */
    /* Of a flight recorder (sequel.h), else 0: ns that it keeps, and since its
     * start on CLOCK_MONOTONIC, when what it has begins, and the last of its
     * spools. */
    uint64_t keep, monotonic, begin, last_begin;
};

struct profile_module {
    uint32_t process;
    uint32_t symbols; /* its id for the symbolizer; shared by equal files */
    uint32_t flags;   /* enum module_flags */
    uint64_t base;    /* a node's address is base + offset */
    uint64_t start, end;
    const char *path;
    const char *build_id; /* in hexadecimal, "" if none */
    uint32_t names;       /* enum module_names of store/layout.h */
    bool has_names;       /* they came with the profile, not from its file */
};

struct profile_thread {
    uint32_t process;
    uint32_t tid;
    uint32_t id; /* in its spool */
    const char *name;
    uint64_t cpu;       /* ns, by its own clock; 0 if that is not known */
    uint64_t unsampled; /* ns of CPU time, told by records without a stack */
    uint64_t start;     /* ns, when it was first seen */
    uint64_t end;       /* ns, when it ended; UINT64_MAX if not known */
    bool has_cpu;       /* CPU is known */
    bool has_exact_cpu; /* and nothing came after it was read */
    uint64_t values[VALUE_COUNT]; /* the sums of its samples */
};

struct profile_node {
    uint32_t parent;
    uint32_t module;
    uint32_t flags; /* enum node_flags */
    uint64_t offset;
    const struct symbol *symbol; /* see profile_symbol */
};

struct profile_sample {
    uint32_t thread, node;
    uint16_t system_call; /* SYSCALL_UNKNOWN unless waiting in one */
    uint8_t state;        /* enum state */
    bool is_measured;     /* its CPU time is exact (TRIGGER_HOOK) */
    const char *waits_on; /* what is waited for, "" if that is not known */
    uint32_t labels;      /* their set, 0: none */
    uint64_t values[VALUE_COUNT];
};

/* A label on top of the set PARENT; see label_sets.h. */
struct profile_label {
    uint32_t parent;
    const char *key, *value;
    const char *unit; /* of a number of a pprof file; NULL: a text */
};

/* What happened at a time, or went on for some. */
struct profile_mark {
    uint64_t time, duration; /* ns, since the start of its process */
    uint32_t process;
    uint32_t thread; /* PROFILE_NO_THREAD: the process */
    uint32_t labels; /* of its thread at that time */
    uint32_t kind;   /* enum mark_kind of store/layout.h */
    const char *name;
};

#define PROFILE_NO_THREAD UINT32_MAX

/* What profiling cost and what it missed, summed over all processes. */
struct profile_cost {
    uint64_t ticks, asked, taken, parked, kept, peeked, unsure, skipped, rules;
    uint64_t process_cpu, sampler_cpu, stopped; /* ns */
    uint64_t lost[LOSS_COUNT];
    uint64_t cut[CUT_COUNT]; /* of the stacks of those taken and peeked */
    struct rate rate;        /* of running threads, who were asked */
};

struct profile {
    struct profile_process *processes;
    struct profile_module *modules;
    struct profile_thread *threads;
    struct profile_node *nodes;
    struct profile_sample *samples;
    uint32_t process_count, module_count, thread_count, node_count,
        sample_count;

    bool full_names;    /* of functions, see enum demangle_form */
    bool has_no_times;  /* some of its samples may have been at any time */
    bool is_from_pprof; /* some of it: how that was recorded is not known */
    bool spares_names;  /* names may take a small part of its time; names.h */
    bool is_short;      /* something that was asked for is not in it */
    bool keeps_events;  /* see events.h; to be set before anything is added */
    struct profile_label *labels; /* number N is in place N - 1 */
    uint32_t label_count;
    struct profile_mark *timed_marks;
    size_t timed_mark_count;
    struct profile_event *events;
    size_t event_count;

    uint64_t totals[VALUE_COUNT];
    const char *filter;               /* what was asked for; NULL: everything */
    uint64_t whole[VALUE_COUNT];      /* the totals before; see filter.h */
    uint64_t triggers[TRIGGER_COUNT]; /* sample points */
    uint64_t states[STATE_COUNT];     /* sample points */
    struct profile_cost cost;
    uint64_t start, duration; /* of all processes together */
    uint32_t *stopped;        /* ns in the handler, one for each visit */
    size_t stopped_count;

    uint64_t records;  /* that were used */
    uint64_t problems; /* records that made no sense and were left out */

    struct intern *strings; /* clean strings */
    struct intern *files;   /* what makes modules the same for symbols */
    struct intern *keys;    /* sample keys; numbers are those of samples */
    struct intern *label_keys;
    uint32_t builds;        /* spools that were begun, which are part of keys */
    struct intern *markers; /* texts of frames that are none */
    bool has_looked_up;     /* names.h has been asked */
    struct mark **marks;    /* their symbols */
    uint32_t mark_count;
    void **blocks; /* memory for symbols that came with a profile */
    size_t block_count;
    struct symbolizer *symbols;    /* from offsets to names */
    struct address_table *spelled; /* see spell.h; NULL: nothing yet */
};

/* Number of the node that stands for a stack of which nothing is known. */
#define PROFILE_NO_STACK 1u

/* And of the one that stands for CPU time of which no sample was taken. */
#define PROFILE_NOT_SAMPLED 2u
#define PROFILE_NOT_SAMPLED_NAME "[not sampled]"

/* An empty profile, or NULL with errno set. */
struct profile *profile_new(const struct symbolizer_options *options);

/*
 * What is at NODE (> 0): its function and those inlined there. Frames that are
 * none have one function with a name in brackets: "[truncated]", "[frames
 * elided]", "[caller guessed]", "[no stack]", "[not sampled]". Never NULL;
 * stable until profile_free; equal places give the same pointer.
 */
const struct symbol *profile_symbol(struct profile *profile, uint32_t node);

/* Whether NODE is no frame but a note about the stack. */
bool profile_is_marker(const struct profile *profile, uint32_t node);

/* The address to look up: the pc, less one for a return address, which belongs
 * to the call before it. Relative to the module. */
uint64_t profile_offset(const struct profile *profile, uint32_t node);

/* "running", "runnable", the system call waited in, or "waiting". */
const char *profile_state(struct profile *profile,
                          const struct profile_sample *sample);

/* The last part of a module's path, "" for module 0. */
const char *profile_module_name(const struct profile *profile, uint32_t module);

/* What is known of the names in MODULE, enum module_names; of its file only
 * once a symbol of it was asked for. */
uint32_t profile_module_names(const struct profile *profile, uint32_t module);

/* Threads that have samples. */
uint32_t profile_busy_threads(const struct profile *profile);

/* *SUM += VALUE, or INT64_MAX if that is more. */
void profile_sum(uint64_t *sum, uint64_t value);

/* RAW as a clean string that lives as long as the profile, NULL if memory is
 * short. */
const char *profile_string(struct profile *profile, const char *raw);

/* SIZE bytes of 0 that live as long as the profile, NULL if memory is short. */
void *profile_block(struct profile *profile, size_t size);

void profile_free(struct profile *profile);

#endif
