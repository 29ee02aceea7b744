/* SPDX-License-Identifier: MIT */
/*
 * filter.h -- removes from a profile what the user did not ask for. It keeps
 * samples of some threads, in some states, with some functions on their stacks,
 * from some time.
 *
 *   --thread a --thread b --state futex      (a or b) and futex
 *   --focus x --focus y --ignore z --ignore w    x and y and not (z or w)
 *
 * A sample must have one of the values that are asked for one key, and must do
 * so for each key. A stack must match every focus and no ignore: the
 * expressions themselves have "or".
 */
#ifndef VIEW_FILTER_H
#define VIEW_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"

enum filter_kind { FILTER_LABEL, FILTER_FOCUS, FILTER_IGNORE };

struct filter_term {
    enum filter_kind kind;
    char *key;   /* key of a label, else NULL */
    char *value; /* value of a label, or the expression */
    regex_t regex;
};

/* The terms of a filter. All zero: everything is kept. */
struct filter_options {
    struct filter_term *terms;
    size_t count;
    bool full_names;     /* of functions, in expressions and output */
    const char *sysroot; /* files of modules are below it; NULL: here */
    bool is_native;      /* stacks are not folded (model/folding.h) */
    bool is_script;      /* functions of interpreters alone, if it has any */
    bool has_time;
    uint64_t from, to; /* ns since the profile's start; UINT64_MAX: its end */
};

/*
 * Keep only samples with the label KEY = VALUE. Every profile has the labels
 *
 *   thread    its name or tid; VALUE may be a pattern (fnmatch(3))
 *   tid       the number
 *   process   the name of the executable, its pid or "name.pid"
 *   state     as reports show it; "waiting" is any wait
 *   waits_on  what is waited for
 *   --module  the module in whose code it was taken: VALUE matches its path, or
 *             the last part of that (FILTER_MODULE_KEY)
 *
 * Any other label was set by the program; there, too, VALUE may be a pattern. A
 * key that no sample has keeps none. Returns 0, or -1 if memory is short.
 */
int filter_add_label(struct filter_options *filter, const char *key,
                     const char *value);

/* Whether PATTERN matches the module that NODE is in (profile_node_module), or
 * its path. */
#define FILTER_MODULE_KEY "--module" /* the key of such a label */
bool filter_is_in_module(const struct profile *profile, uint32_t node,
                         const char *pattern);

/* Whether EXPRESSION matches the function NAME. IS_MARKER: NAME is a note about
 * a stack ("[truncated]"), which is no function. An expression matches it only
 * by its brackets. So "frame" does not select all stacks that are cut. */
bool filter_matches(const regex_t *expression, const char *name,
                    bool is_marker);

/* Keep only stacks that match EXPRESSION (FILTER_FOCUS), or that do not
 * (FILTER_IGNORE). It is a POSIX extended regular expression for the names of
 * functions, also of inlined ones. Returns 0, or -1 with a sentence in ERROR
 * (of SIZE bytes). */
int filter_add_expression(struct filter_options *filter, enum filter_kind kind,
                          const char *expression, char *error, size_t size);

/* Whether anything is left out. */
bool filter_is_set(const struct filter_options *filter);

/*
 * Remove from PROFILE what FILTER does not keep. Totals, and the sums of
 * threads and states, are then those of the rest. profile->filter says what was
 * done, profile->whole has the totals before the first filter. The profile's
 * costs and losses stay those of the whole. Nothing may be added to the profile
 * afterwards. Of several filters, each works on the result of the one before. A
 * filter with a time needs a profile that keeps its events (events.h).
 *
 * Returns 0, or -1 with errno set if memory is short; parts of the filter may
 * have been applied then.
 */
int filter_apply(const struct filter_options *filter, struct profile *profile);

/*
 * For live/, which decides sample by sample. filter_has_labels: whether SAMPLE
 * has one of the values that are asked for each key. filter_describe: set
 * profile->filter to a description; returns 0, or -1 if memory is short.
 */
bool filter_has_labels(const struct filter_options *filter,
                       struct profile *profile,
                       const struct profile_sample *sample);
int filter_describe(const struct filter_options *filter,
                    struct profile *profile);

/* Whether TEXT is NUMBER in decimal; whether the thread TID with NAME is the
 * one that VALUE asks for, by its tid, its name or a pattern. */
bool filter_is_number(const char *text, uint32_t number);
bool filter_is_thread(const char *name, uint32_t tid, const char *value);

void filter_release(struct filter_options *filter);

#endif
