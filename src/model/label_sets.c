/* SPDX-License-Identifier: MIT */
/*
 * label_sets.c -- builds sets of labels. A set is entered label by label, the
 * smallest key first, each on top of the ones before.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/intern.h"
#include "label_sets.h"

/* For qsort: by key, then by value. */
static int
compare_pairs(const void *a, const void *b)
{
    const struct label_pair *one = a, *two = b;
    int order = strcmp(one->key, two->key);
    return order != 0 ? order : strcmp(one->value, two->value);
}

/* Put PAIR on top of PARENT. Strings are compared by address: equal strings of
 * a profile have the same address. */
static uint32_t
put_on_top(struct profile *profile, uint32_t parent,
           const struct label_pair *pair)
{
    const uintptr_t key[4] = {parent, (uintptr_t)pair->key,
                              (uintptr_t)pair->value, (uintptr_t)pair->unit};
    uint32_t known = profile->label_count;
    if (!ARRAY_GROW(profile->labels, known))
        return INTERN_NONE;
    uint32_t number = intern_put(&profile->label_keys, key, sizeof(key));
    if (number == INTERN_NONE)
        return INTERN_NONE;
    /* Numbers in the table begin at 0, but set 0 is the empty one. */
    if (number == known)
        profile->labels[profile->label_count++] =
            (struct profile_label){.parent = parent,
                                   .key = pair->key,
                                   .value = pair->value,
                                   .unit = pair->unit};
    return number + 1;
}

uint32_t
label_sets_put(struct profile *profile, struct label_pair *pairs,
               unsigned count)
{
    uint32_t set = 0;
    if (count > 1)
        qsort(pairs, count, sizeof(*pairs), compare_pairs);
    for (unsigned i = 0; i < count && set != INTERN_NONE; i++)
        if (i == 0 || compare_pairs(&pairs[i - 1], &pairs[i]) != 0)
            set = put_on_top(profile, set, &pairs[i]);
    return set;
}

unsigned
label_sets_get(const struct profile *profile, uint32_t set,
               struct label_pair *pairs)
{
    unsigned count = 0;
    for (uint32_t at = set; at != 0; at = profile->labels[at - 1].parent)
        count++;
    unsigned i = count;
    for (uint32_t at = set; at != 0; at = profile->labels[at - 1].parent) {
        const struct profile_label *label = &profile->labels[at - 1];
        pairs[--i] = (struct label_pair){label->key, label->value, label->unit};
    }
    return count;
}

const char *
label_sets_value(const struct profile *profile, uint32_t set, const char *key)
{
    for (; set != 0; set = profile->labels[set - 1].parent)
        if (strcmp(profile->labels[set - 1].key, key) == 0)
            return profile->labels[set - 1].value;
    return NULL;
}

/* The literal value is tried before the pattern, because values
 * with brackets exist. */
bool
label_sets_match(const struct profile *profile, uint32_t set, const char *key,
                 const char *value)
{
    for (; set != 0; set = profile->labels[set - 1].parent) {
        const struct profile_label *label = &profile->labels[set - 1];
        if (strcmp(label->key, key) == 0 &&
            (strcmp(label->value, value) == 0 ||
             fnmatch(value, label->value, 0) == 0))
            return true;
    }
    return false;
}

bool
label_sets_is_reserved(const char *key)
{
    static const char *const keys[] = {"thread", "tid", "process", "state",
                                       "waits_on"};
    for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

char *
label_sets_text(const struct profile *profile, uint32_t set, char *text,
                size_t size)
{
    struct label_pair pairs[LABEL_SETS_DEPTH];
    unsigned count = label_sets_get(profile, set, pairs);
    size_t length = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < count && length + 1 < size; i++) {
        snprintf(text + length, size - length, "%s%s=%s", i > 0 ? ", " : "",
                 pairs[i].key, pairs[i].value);
        length += strlen(text + length);
    }
    return text;
}
