/* SPDX-License-Identifier: MIT */
/*
 * stacks_label.h -- the labels of threads (record LABEL), as chains: each adds
 * one to the set that it stands on. Part of stacks.c.
 */
#ifndef PROFILE_STACKS_LABEL_H
#define PROFILE_STACKS_LABEL_H

#include <stddef.h>
#include <stdint.h>

struct build;
struct record_label;

struct stacks_label {
    uint32_t parent; /* 0: none */
    const char *key, *value;
};

/* Number 0 means no label. */
struct stacks_labels {
    struct stacks_label *all;
    uint32_t count;
    struct intern *ids; /* of the spool; number I is label I + 1 */
};

/* More are not shown. */
enum { STACKS_LABELS_MOST = 64 };

/* Take a record; one that makes no sense is left out. BUILD knows its texts.
 * Returns 0, or -1 if memory is short. */
int stacks_label_add(struct stacks_labels *labels, const struct build *build,
                     const struct record_label *record);

/* The number of the set that the spool calls ID, 0 if it has not defined it. */
uint32_t stacks_label_set(const struct stacks_labels *labels, uint32_t id);

/* Put the labels of SET into LIST, each key once, those that were set first in
 * front. Returns how many. */
unsigned stacks_label_list(const struct stacks_labels *labels, uint32_t set,
                           const struct stacks_label *list[STACKS_LABELS_MOST]);

void stacks_label_release(struct stacks_labels *labels);

#endif
