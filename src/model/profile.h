/* SPDX-License-Identifier: MIT */
/*
 * profile.h -- the model from which every output is made. It holds the content
 * of one or several spools or pprof files. The content is checked and summed
 * up. The model does not depend on the layout of the files.
 *
 *   processes   one for each image of a process that a file describes
 *   modules     mapped ELF files; number 0 is no module
 *   threads
 *   nodes       the tree of all stacks; a node's parent has a smaller number,
 *               0 is beyond the root. A stack is the number of its leaf.
 *   labels      sets of labels that the program gave to samples (label_sets.h)
 *   samples     one for each (thread, stack, state, system call, what is
 *               waited for, labels), with sums
 *   marks       instants and spans of time that the program named
 *
 * Every part of the report side reads the fields directly. These change them:
 *
 *   read/           adds a file: spool.c, load.c and pprof.c with their
 *                   helpers; join.c joins and shortens flight recordings
 *   model/          keeps strings, labels and symbols, cuts events, adds totals
 *   model/folding.c moves nodes to other parents
 *   view/filter.c   removes samples, events and marks
 *   live/watch.c    adds a growing spool, and sets its times, cost and problems
 *   the caller      sets keeps_events and spares_names before it adds a file,
 *                   and is_short after that
 *
 * A number (of a node, module, thread, sample) is an index. A filter, a clip
 * or a join removes entries, which changes the numbers of samples and threads.
 * So a caller must not keep such a number across these calls. An array may move
 * when an entry is added to it.
 *
 * Sums stop at INT64_MAX instead of wrapping, because formats have signed
 * values. Strings are clean (util/clean.h); equal strings of profile_string
 * have one address. A symbol is looked up when its node is first asked for it.
 * A profile is not thread-safe: one thread at a time may use it.
 */
#ifndef MODEL_PROFILE_H
#define MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/loss.h"
#include "base/rate.h"
#include "store/layout.h"
#include "symbol/address_table.h"
#include "symbol/symbolizer.h"
#include "util/share.h"

struct generated_code;
struct perf_map;
struct profile_event;

/* The values that are summed up: sample points, CPU time in ns, wall time in
 * ns. */
enum value { VALUE_SAMPLES, VALUE_CPU, VALUE_WALL, VALUE_COUNT };

struct profile_process {
    uint32_t pid, ppid;
    uint32_t machine;  /* e_machine of ELF */
    uint64_t period;   /* ns between the sample points of a thread */
    uint64_t start;    /* ns since the epoch */
    uint64_t duration; /* ns from the start to the latest known time */
    const char *exe, *command, *version, *host;
    const char *boot;             /* proc_boot on that host; "": not known */
    bool ended;                   /* the library saw the end */
    bool is_foreign;              /* its files are those of another host */
    bool is_cpu_only;             /* waiting threads were not sampled */
    uint32_t first_node;          /* number of its first node */
    struct perf_map *map;         /* names of its generated code (naming.h) */
    bool has_map;                 /* MAP was looked for */
    uint64_t map_size;            /* bytes of the map's file at that time */
    struct generated_code *codes; /* of its jitdumps; NULL: none */
    bool has_variants;            /* some of its nodes are not in its spool
                                     (read/generated.h) */
    const char *spool;            /* path; NULL: not read from a spool file */
    uint64_t monotonic; /* its start on CLOCK_MONOTONIC, in ns; 0: unknown */
    /* 0, unless a flight recorder wrote the spool (read/join.h). KEEP: the time
     * that the recorder keeps, in ns. BEGIN: the beginning of the data, in ns
     * since that start. LAST_BEGIN: the beginning of the last spool's data,
     * likewise. */
    uint64_t keep, begin, last_begin;
    /* Expressions of its pprof file, which were applied. NULL: it is from no
     * such file. */
    const char *drop_frames, *keep_frames;
};

struct profile_module {
    uint32_t process;
    uint32_t symbols;    /* id for the symbolizer; equal files share it */
    uint32_t flags;      /* enum module_flags */
    uint64_t base;       /* a node's address is base + offset */
    uint64_t start, end; /* addresses that it covers */
    const char *path;
    const char *build_id; /* hexadecimal, "" if none */
    uint32_t names;       /* enum module_names of store/layout.h */
    bool has_names;       /* names came with the profile, not from the file */
    bool is_checked;      /* its spool has its file's size and time */
    /* folding.h: an interpreter in it collects its garbage here. */
    bool is_interpreter;
    struct collector collector;
};

struct profile_thread {
    uint32_t process;
    uint32_t tid;
    uint32_t id; /* id in its spool */
    const char *name;
    uint64_t cpu;       /* ns by the thread's own clock; 0 if unknown */
    uint64_t live_cpu;  /* ns: that clock at the sampler's last looks */
    uint64_t unsampled; /* ns of CPU time in records without a stack */
    uint64_t start; /* ns since the start of its process, when first known */
    uint64_t end;   /* ns, likewise; UINT64_MAX if unknown */
    bool has_cpu;   /* CPU is known */
    bool has_exact_cpu; /* CPU was read when the thread or the run ended */
    bool is_idle;       /* idle.h; false as long as that is not known */
    uint64_t values[VALUE_COUNT]; /* the sums of its samples */
};

/* A flag of nodes in memory alone, with NODE_SCRIPT: a function of PHP. */
#define NODE_PHP (1u << 31)

struct profile_node {
    uint32_t parent;
    uint32_t module;
    uint32_t flags; /* enum node_flags */
    uint32_t code;  /* of an address in no module (symbol/generated_code.h) */
    /* folding.h: its parent stands for it; its parent stays (always in a pprof
     * file, whose stacks are folded). */
    bool is_folded, is_settled;
    bool is_below;    /* it, or a caller, is a function of an interpreter */
    uint8_t mark;     /* enum naming_mark (naming.h) */
    uint8_t gpu_wait; /* for gpu_wait.c */
    uint8_t entries;  /* innermost inlined functions that are left out */
    uint32_t caller;  /* the parent that it had before it was folded */
    uint64_t offset;
    const struct symbol *symbol; /* NULL until naming_symbol finds it */
};

struct profile_sample {
    uint32_t thread, node;
    uint16_t system_call; /* SYSCALL_UNKNOWN unless waiting in one */
    uint8_t state;        /* enum state */
    bool is_measured;     /* CPU time is exact (TRIGGER_HOOK) */
    bool is_gpu_wait; /* gpu_wait.h: its stack may lack the function that shows
                         it */
    uint32_t epoch;   /* of its process, from 0; of one that ran */
    const char *waits_on; /* awaited object, "" if unknown */
    uint32_t labels;      /* number of their set; 0: none */
    uint32_t native_node; /* NODE before it was folded */
    double squares;       /* ns^2: of the CPU time of each record of one that
                             ran; 0: not known */
    uint64_t values[VALUE_COUNT];
};

/* A label on top of the set PARENT (label_sets.h). */
struct profile_label {
    uint32_t parent;
    const char *key, *value;
    const char *unit; /* of a number in a pprof file; NULL: text */
};

/* An instant, or a span of time. */
struct profile_mark {
    uint64_t time, duration; /* ns, since the start of its process */
    uint32_t process;
    uint32_t thread; /* PROFILE_NO_THREAD: the whole process */
    uint32_t labels; /* set of its thread at that time */
    uint32_t kind;   /* enum mark_kind of store/layout.h */
    const char *name;
};

#define PROFILE_NO_THREAD UINT32_MAX

/* A time in which threads that run were sampled at one rate (struct
 * record_epoch of store/layout.h). */
struct profile_epoch {
    uint32_t process;
    uint64_t time;          /* ns, since the start of its process */
    uint64_t period;        /* ns of CPU time between two samples */
    uint64_t each, allowed; /* ns for an interruption; ns in a CPU second */
    uint64_t cpu, taken, spent;
};

/* Costs and losses of profiling, summed over all processes. Counters have the
 * meaning of struct record_counts in store/layout.h. */
struct profile_cost {
    uint64_t ticks, asked, taken, parked, kept, peeked, unsure, skipped, rules;
    uint64_t process_cpu, sampler_cpu, stopped; /* ns */
    uint64_t expired, missed;
    uint64_t lost[LOSS_COUNT];
    uint64_t cut[CUT_COUNT]; /* of the stacks of taken and peeked samples */
    /* TREE_CPU: CPU time of all processes that the kernel counted, in ns.
     * UNSEEN_CPU: the part that no process reported, in ns. Both are 0 if they
     * are unknown, or if the part is below a percent or below 1 ms. */
    uint64_t tree_cpu, unseen_cpu;
    /* WRONG: number of processes whose sums of CPU time do not agree
     * (read/agree.h). The others are the sums of these processes, in ns; 0: not
     * known. WRONG_PROCESS is the process's clock less the sampler's, and may
     * exceed the others. */
    uint64_t wrong, wrong_samples, wrong_threads, wrong_due, wrong_process;
    struct rate rate; /* rate of running threads' samples; all fields before it
                         are sums */
};

struct profile {
    struct profile_process *processes;
    struct profile_module *modules;
    struct profile_thread *threads;
    struct profile_node *nodes;
    struct profile_sample *samples;
    uint32_t process_count, module_count, thread_count, node_count,
        sample_count;

    bool full_names;   /* of functions, see enum demangle_form */
    bool shows_native; /* show native frames of interpreters, too (folding.h) */
    bool shows_script; /* show only functions of interpreters, where a stack has
                          some */
    bool has_scripts;  /* functions of an interpreter are among the nodes */
    bool has_no_times; /* the times of some samples are unknown */
    bool is_from_pprof; /* part of it came from a pprof file */
    bool lacks_spread;  /* and of some of that SQUARES are not known */
    bool spares_names;  /* limit the time for reading names (naming.h) */
    bool is_short;      /* an input or a filter lacks something asked for */
    bool keeps_events;  /* events.h; set it before the first file */
    bool knows_idle;    /* idle_find was called */
    /* Of the process whose spool is added next, in this namespace; 0: as the
     * spool says. */
    uint32_t next_pid;
    struct profile_label *labels; /* set N is at index N - 1 */
    uint32_t label_count;
    struct profile_mark *timed_marks;
    size_t timed_mark_count;
    struct profile_event *events;
    size_t event_count;
    struct profile_epoch *epochs; /* threads of a process are neighbours */
    uint32_t epoch_count;

    uint64_t totals[VALUE_COUNT];
    const char *filter;               /* as typed (view/filter.h); NULL: none */
    uint64_t whole[VALUE_COUNT];      /* totals before the first filter */
    uint64_t triggers[TRIGGER_COUNT]; /* sample points */
    uint64_t states[STATE_COUNT];     /* sample points */
    struct profile_cost cost;
    /* START: the start of the first process, in ns since the epoch. DURATION:
     * ns from START to the latest known time of any process. */
    uint64_t start, duration;
    uint32_t *stopped; /* ns in the handler, for each visit */
    size_t stopped_count;

    uint64_t records;  /* records that were used */
    uint64_t problems; /* records without sense, left out */

    struct intern *strings; /* clean strings, and what profile_block gave */
    struct intern files;    /* (path, build-id); see spool_load_file */
    uint32_t owner;         /* ids of its files without a build-id */
    struct intern keys;     /* of samples; numbers are those of samples */
    struct intern label_keys;
    uint32_t folded_nodes;        /* nodes below this are folded (folding.h) */
    uint32_t idle_node;           /* idle_fold made it; 0: no */
    uint32_t loads;               /* processes begun; part of sample keys */
    bool has_looked_up;           /* naming.c has looked up all names */
    struct symbolizer *symbols;   /* from offsets to names */
    struct address_table spelled; /* names and symbols that naming.c makes */
};

/* Number of the node that stands for an unknown stack. */
#define PROFILE_NO_STACK 1u

/* Number of the node for CPU time without samples. */
#define PROFILE_NOT_SAMPLED 2u
#define PROFILE_NOT_SAMPLED_NAME "[not sampled]"

/* Make an empty profile with a symbolizer of OPTIONS. The profile copies
 * full_names from OPTIONS. Returns NULL with errno set if memory is short. The
 * caller releases the profile by profile_free. */
struct profile *profile_new(const struct symbolizer_options *options);

/* Whether NODE is a marker: a note about the stack and not a frame. */
bool profile_is_marker(const struct profile *profile, uint32_t node);

/* Whether NODE is a function that an interpreter ran. */
bool profile_is_script(const struct profile *profile, uint32_t node);

/* Add COST to TO. A sum that would overflow stops at INT64_MAX. */
void profile_add_cost(struct profile_cost *to, const struct profile_cost *cost);

/* The address to look up for NODE, relative to its module. It is the pc.
 * For a return address it is one less, because the call is before that. */
uint64_t profile_offset(const struct profile *profile, uint32_t node);

/* The last part of MODULE's path, "" for module 0. It lives as long as
 * PROFILE. */
const char *profile_module_name(const struct profile *profile, uint32_t module);

/* Shown as the file of code that is in none. Functions of an interpreter have
 * the name of their language. */
#define PROFILE_NO_MODULE "[generated code]"
#define PROFILE_PYTHON "Python"
#define PROFILE_PHP "PHP"

/* The last part of the path of the file with NODE's code. It is the language of
 * a function that an interpreter runs (PROFILE_PYTHON), or PROFILE_NO_MODULE.
 * It lives as long as PROFILE. */
const char *profile_node_module(const struct profile *profile, uint32_t node);

/* Return the kinds of names that MODULE has, as enum module_names of
 * store/layout.h. The names may come from the module's file. Their kinds are
 * then known only after a symbol of the module was looked up. */
uint32_t profile_module_names(const struct profile *profile, uint32_t module);

/* The number of threads with at least one sample point. */
uint32_t profile_busy_threads(const struct profile *profile);

/* Remove the marks of PROFILE that were not between FROM and TO, in ns since
 * profile->start. A span that reaches into the window stays whole. */
void profile_clip_marks(struct profile *profile, uint64_t from, uint64_t to);

/* The time of MARK in ns since profile->start. */
uint64_t profile_mark_time(const struct profile *profile,
                           const struct profile_mark *mark);

/* The end of the sampling that began with the mark of number START, in ns since
 * profile->start. */
uint64_t profile_session_end(const struct profile *profile, size_t start);

/* How often sampling began in all processes; 0: the file has no such marks.
 * *SAMPLED becomes its total time in ns. */
uint32_t profile_sessions(const struct profile *profile, uint64_t *sampled);

/* Return RAW as a clean string (util/clean.h) that lives as long as PROFILE,
 * NULL if memory is short. Equal strings have the same address. */
const char *profile_string(struct profile *profile, const char *raw);

/* Return SIZE bytes of 0 that live as long as PROFILE, NULL if memory is
 * short. */
void *profile_block(struct profile *profile, size_t size);

/* Free PROFILE with all its symbols and strings. PROFILE may be NULL. */
void profile_free(struct profile *profile);

#endif
