/* SPDX-License-Identifier: MIT */
/*
 * options.h -- every option exists once, in this table. The parser, its error
 * messages, the defaults, the help and their test come from it.
 *
 * OPTION(field, variable, kind, min, max, default, text): KIND is the enum
 * option_kind without its prefix. MIN and MAX bound numbers in the field's unit
 * (ns for DURATION and SPAN, ns of a second for
 * PERCENT, bytes for SIZE). For CHOICE, MAX is the number of
 * words and TEXT begins with them: "wall|cpu: ..."; the field is the word's
 * index.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTION_TABLE(OPTION)                                                   \
    OPTION(output, "SPROF_OUTPUT", STRING, 1, 4000, "sprof.%e.%p.pb.gz",       \
           "comma-separated files to write; the ending picks the format")      \
    OPTION(frequency, "SPROF_FREQUENCY", INTEGER, 1, 20000, "1000",            \
           "sample points a second for each thread")                           \
    OPTION(trigger, "SPROF_TRIGGER", CHOICE, 0, 4, "auto",                     \
           "auto|perf|timer|ask: what interrupts a running thread")            \
    OPTION(mode, "SPROF_MODE", CHOICE, 0, 2, "wall",                           \
           "wall|cpu: every thread, or only threads that are running")         \
    OPTION(threads, "SPROF_THREADS", CHOICE, 0, 2, "all",                      \
           "all|registered: every thread, or only those that register")        \
    OPTION(max_depth, "SPROF_MAX_DEPTH", INTEGER, 16, 65536, "1024",           \
           "frames kept for a stack")                                          \
    OPTION(start, "SPROF_START", INTEGER, 0, 1, "1",                           \
           "0: nothing is sampled before sprof_start or sprofile start")       \
    OPTION(delay, "SPROF_DELAY", DURATION, 0, 31536000000000000, "0",          \
           "seconds before the first sample")                                  \
    OPTION(duration, "SPROF_DURATION", DURATION, 0, 31536000000000000, "0",    \
           "seconds of sampling, from each start, 0 for all")                  \
    OPTION(only, "SPROF_ONLY", STRING, 0, 1000, "",                            \
           "glob on the executable's name; others run untouched")              \
    OPTION(fork, "SPROF_FORK", CHOICE, 0, 2, "follow",                         \
           "follow|off: whether a forked child is profiled")                   \
    OPTION(symbolize, "SPROF_SYMBOLIZE", CHOICE, 0, 2, "exit",                 \
           "exit|off: off leaves the spool only")                              \
    OPTION(inlines, "SPROF_INLINES", INTEGER, 0, 1, "1",                       \
           "whether inlined functions are shown as frames")                    \
    OPTION(python, "SPROF_PYTHON", INTEGER, 0, 1, "1",                         \
           "whether Python functions are shown as frames")                     \
    OPTION(cache, "SPROF_CACHE", STRING, 0, 4000, "",                          \
           "directory in which looked-up names are kept; off: nowhere")        \
    OPTION(signal, "SPROF_SIGNAL", SIGNAL, 1, 64, "SIGPROF",                   \
           "the signal that suspends a thread, by name or number")             \
    OPTION(dump_signal, "SPROF_DUMP_SIGNAL", SIGNAL, 0, 64, "35",              \
           "the signal that prints the stacks of all threads, 0 for none")     \
    OPTION(dump_on, "SPROF_DUMP_ON", SIGNALS, 0, UINT64_MAX, "",               \
           "fatal signals on which the stacks of all threads are printed")     \
    OPTION(dump_when, "SPROF_DUMP_WHEN", CONDITIONS, 0, 1000, "",              \
           "conditions on which a flight recorder writes what it has")         \
    OPTION(keep, "SPROF_KEEP", SPAN, 1000000000, 31536000000000000, "all",     \
           "all, or seconds: only so much of the past is kept and written")    \
    OPTION(keep_spool, "SPROF_KEEP_SPOOL", INTEGER, 0, 2, "0",                 \
           "1: the .sprof file is kept beside the output; 2: of each process") \
    OPTION(max_size, "SPROF_MAX_SIZE", SIZE, 1048576, 1125899906842624, "1G",  \
           "cap of the spool, with K, M or G")                                 \
    OPTION(exit_ms, "SPROF_EXIT_MS", INTEGER, 1, 120000, "1000",               \
           "milliseconds that the end of a process waits for its profile")     \
    OPTION(budget, "SPROF_BUDGET", INTEGER, 1, 100, "2",                       \
           "percent of one CPU that the sampler may use by itself")            \
    OPTION(cost, "SPROF_COST", PERCENT, 100000, 1000000000, "1",               \
           "percent of the threads' CPU time that sampling may cost, or off; " \
           "off by default with SPROF_FREQUENCY")                              \
    OPTION(log, "SPROF_LOG", CHOICE, 0, 4, "error",                            \
           "quiet|error|info|debug: messages on stderr")

enum option_kind {
    OPTION_INTEGER,
    OPTION_SIZE,
    OPTION_DURATION,
    OPTION_SPAN,    /* a duration, or the word "all", which is 0 */
    OPTION_PERCENT, /* fractions allowed, or the word "off", which is 0; kept as
                     * ns of a second */
    OPTION_CHOICE,
    OPTION_SIGNAL,
    OPTION_SIGNALS, /* a set: signal N is bit N - 1 */
    OPTION_STRING,
    OPTION_CONDITIONS, /* a text of conditions.h */
};

enum option_trigger {
    OPTION_TRIGGER_AUTO,
    OPTION_TRIGGER_PERF,
    OPTION_TRIGGER_TIMER,
    OPTION_TRIGGER_ASK,
};
enum option_threads { OPTION_THREADS_ALL, OPTION_THREADS_REGISTERED };
enum option_mode { OPTION_MODE_WALL, OPTION_MODE_CPU };
enum option_fork { OPTION_FORK_FOLLOW, OPTION_FORK_OFF };
enum option_symbolize { OPTION_SYMBOLIZE_EXIT, OPTION_SYMBOLIZE_OFF };
#define OPTION_KEEP_SPOOL_ALL 2 /* of keep_spool: each process leaves one */

/* How the name of the directory begins in which the processes of a recording
 * leave their spools. It is removed after the recording. A process that
 * outlives the recording then cannot write, which is no error. */
#define RECORDING_DIRECTORY "sprof.record."

/* A link in it names the mount namespace of the command that records, as
 * /proc/self/ns/mnt does (namespaces(7)). */
#define RECORDING_MOUNTS ".mounts"

/* A value: the number, or for STRING and CONDITIONS the text (in the
 * environment itself). */
union option {
    uint64_t number;
    const char *string;
};

struct options {
#define OPTION(field, variable, kind, min, max, standard, text) \
    union option field;
    OPTION_TABLE(OPTION)
#undef OPTION
    bool is_cost_given;   /* SPROF_COST was set */
    bool is_output_given; /* SPROF_OUTPUT was set */
};

/* How long the end of a process waits for its profile, in ns. */
static inline uint64_t
options_exit_ns(const struct options *options)
{
    return options->exit_ms.number * 1000000;
}

struct option_row {
    const char *variable;
    enum option_kind kind;
    size_t offset; /* of its field in struct options */
    uint64_t min, max;
    const char *standard;
    const char *text;
};

extern const struct option_row option_rows[];
extern const unsigned option_row_count;

/*
 * Set OPTIONS from ENVIRONMENT ("NAME=value" strings, ending with NULL), else
 * from the defaults. Returns 0, or -1 at the first wrong value, with a sentence
 * in ERROR of SIZE bytes: "SPROF_FREQUENCY=0: expected an integer from 1 to
 * 20000". Every field is valid all the same.
 */
int options_parse(struct options *options, char *const environment[],
                  char *error, size_t size);

/* The value of NAME in ENVIRONMENT; NULL if it is not there. */
const char *options_variable(char *const environment[], const char *name);

/* The next "SPROF_NAME=value" from **AT on that is no setting. *AT is moved
 * past it. NULL if there is none before the NULL that ends the list. */
const char *options_unknown(char *const **at);

/* The setting that VARIABLE ("SPROF_NAME=value") is closest to in spelling.
 * Static. */
const char *options_nearest(const char *variable);

#endif
