/* SPDX-License-Identifier: MIT */
/*
 * filter.h -- leaves in a profile what somebody asked for: samples of some
 * threads, in some states, with some functions on their stacks, from some time.
 *
 *   --thread a --thread b --state futex      (a or b) and futex
 *   --focus x --focus y --ignore z --ignore w    x and y and not (z or w)
 *
 * Of the values that are asked for one key, a sample has to have one; of
 * different keys, all. A stack has to match every focus and no ignore: the
 * expressions themselves have "or".
 */
#ifndef PROFILE_FILTER_H
#define PROFILE_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"

enum filter_kind { FILTER_LABEL, FILTER_FOCUS, FILTER_IGNORE };

struct filter_term {
    enum filter_kind kind;
    char *key;   /* of a label, else NULL */
    char *value; /* of a label, or the expression */
    regex_t regex;
};

/* All zero: everything is kept. */
struct filter_options {
    struct filter_term *terms;
    size_t count;
    bool full_names; /* of functions, in expressions and in what is shown */
    bool has_time;
    uint64_t from, to; /* ns since the profile's start; UINT64_MAX: its end */
};

/*
 * Samples must have the label KEY with VALUE. Labels of every profile:
 *
 *   thread    its name or tid; VALUE may be a pattern of the shell's kind
 *   tid       the number
 *   process   the name of the executable, its pid or "name.pid"
 *   state     as reports show it; "waiting" is any wait
 *   waits_on  what is waited for
 *
 * Any other is one that the program set; there, too, VALUE may be a pattern.
 * A key that no sample has keeps none. Returns 0, or -1 if memory is short.
 */
int filter_add_label(struct filter_options *filter, const char *key,
                     const char *value);

/* Samples must have been taken in the code of a module that PATTERN, of the
 * shell's kind, matches: its path, or the last part of that. Of several
 * patterns one has to. Returns 0, or -1 if memory is short. */
int filter_add_module(struct filter_options *filter, const char *pattern);

/* Whether PATTERN matches the module that NODE is in. What is in none is
 * FILTER_NO_MODULE. */
#define FILTER_NO_MODULE "[generated code]"
#define FILTER_MODULE_KEY "--module" /* of such a term, which is a label */
bool filter_is_in_module(const struct profile *profile, uint32_t node,
                         const char *pattern);

/* Stacks must match EXPRESSION (POSIX, extended; on the names of functions,
 * inlined ones included), or must not: KIND is FILTER_FOCUS or FILTER_IGNORE.
 * Returns 0, or -1 with a sentence in ERROR (of SIZE bytes). */
int filter_add_expression(struct filter_options *filter, enum filter_kind kind,
                          const char *expression, char *error, size_t size);

/* Whether anything is left out. */
bool filter_is_set(const struct filter_options *filter);

/*
 * Remove from PROFILE what FILTER does not keep. Totals, and the sums of
 * threads and states, are those of what is left; profile->filter says what was
 * done, profile->whole what there was before. What profiling cost and lost
 * stays that of the whole. Nothing can be added to the profile afterwards. Of
 * several filters, each works on what the one before left. A filter that has a
 * time needs a profile that keeps its events (events.h).
 * Returns 0, or -1 with errno set if memory is short.
 */
int filter_apply(const struct filter_options *filter, struct profile *profile);

/*
 * For watch.c, which decides sample by sample. Whether SAMPLE has one of the
 * values that are asked for each key; and let profile->filter say what was
 * done (0, or -1 if memory is short).
 */
bool filter_has_labels(const struct filter_options *filter,
                       struct profile *profile,
                       const struct profile_sample *sample);
int filter_describe(const struct filter_options *filter,
                    struct profile *profile);

void filter_release(struct filter_options *filter);

#endif
