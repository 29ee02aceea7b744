/* SPDX-License-Identifier: MIT */
/*
 * label_sets.h -- the labels that the program gave to its samples. Every sample
 * also has our own labels (thread, tid, process, state, waits_on; see
 * view/filter.h). A set of labels is a number; 0 is the empty set. Equal sets
 * have one number, in whatever order their labels were set, so that the number
 * can be part of a sample's key.
 *
 *   number   key       value   parent
 *   1        request   /cart   0
 *   2        user      ada     1       the set {request=/cart, user=ada}
 *
 * The keys of a chain grow towards its top. Only pprof files of other programs
 * have a key several times in one set.
 */
#ifndef MODEL_LABEL_SETS_H
#define MODEL_LABEL_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

/* Limit for the labels of one set; further labels are left out. */
#define LABEL_SETS_DEPTH 64u

/* A label. Its strings come from profile_string. UNIT is NULL if the value is a
 * text. A number in a pprof file has its unit, or "". */
struct label_pair {
    const char *key, *value, *unit;
};

/* Return the set of the COUNT labels in PAIRS, which are sorted in place.
 * INTERN_NONE if memory is short. */
uint32_t label_sets_put(struct profile *profile, struct label_pair *pairs,
                        unsigned count);

/* Write the labels of SET to PAIRS, sorted by key; PAIRS has room for
 * LABEL_SETS_DEPTH. Returns their number. */
unsigned label_sets_get(const struct profile *profile, uint32_t set,
                        struct label_pair *pairs);

/* The value of KEY in SET, NULL if the set does not have the key. */
const char *label_sets_value(const struct profile *profile, uint32_t set,
                             const char *key);

/* Whether SET has KEY with VALUE, which may be a pattern (fnmatch(3)). */
bool label_sets_match(const struct profile *profile, uint32_t set,
                      const char *key, const char *value);

/* Whether KEY is one of our own labels, which every sample has. A label of the
 * program must not have such a key. */
bool label_sets_is_reserved(const char *key);

/* Write "a=1, b=2" to TEXT of SIZE bytes, truncated if it is
 * longer. Returns TEXT. */
char *label_sets_text(const struct profile *profile, uint32_t set, char *text,
                      size_t size);

#endif
