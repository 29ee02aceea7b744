/* SPDX-License-Identifier: MIT */
/*
 * label_sets.h -- the labels that the program gave its samples, beside those
 * that every sample has (thread, tid, process, state, waits_on; filter.h). A
 * set of labels is a number, 0 is the empty one; equal sets have one number,
 * in whatever order their labels were set, so it is a part of a sample's key.
 *
 *   number   key       value   parent
 *   1        request   /cart   0
 *   2        user      ada     1       the set {request=/cart, user=ada}
 *
 * The keys of a chain grow towards its top. A key comes several times only in
 * pprof files of other programs.
 */
#ifndef PROFILE_LABEL_SETS_H
#define PROFILE_LABEL_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

/* Labels of one set beyond these are left out. */
#define LABEL_SETS_DEPTH 64u

/* Strings are of profile_string. UNIT is NULL where the value is a text; a
 * number of a pprof file has its unit, or "". */
struct label_pair {
    const char *key, *value, *unit;
};

/* The set of the COUNT labels of PAIRS, which are put in order; INTERN_NONE if
 * memory is short. */
uint32_t label_sets_put(struct profile *profile, struct label_pair *pairs,
                        unsigned count);

/* The labels of SET in the order of their keys, in PAIRS, which has room for
 * LABEL_SETS_DEPTH. Returns how many there are. */
unsigned label_sets_get(const struct profile *profile, uint32_t set,
                        struct label_pair *pairs);

/* The value of KEY in SET, NULL if it has none. */
const char *label_sets_value(const struct profile *profile, uint32_t set,
                             const char *key);

/* Whether SET has KEY with VALUE, which may be a pattern of the shell's kind.
 */
bool label_sets_match(const struct profile *profile, uint32_t set,
                      const char *key, const char *value);

/* Whether every sample has a label KEY of ours, which another one must not be
 * called. */
bool label_sets_is_reserved(const char *key);

/* "a=1, b=2" in TEXT of SIZE bytes; cut if it is longer. Returns TEXT. */
char *label_sets_text(const struct profile *profile, uint32_t set, char *text,
                      size_t size);

#endif
