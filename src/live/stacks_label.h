/* SPDX-License-Identifier: MIT */
/*
 * stacks_label.h -- the labels of threads (record LABEL) as chains. Each label
 * is added to its parent: a set is a label and all its ancestors. Part of
 * stacks.c.
 */
#ifndef LIVE_STACKS_LABEL_H
#define LIVE_STACKS_LABEL_H

#include <stddef.h>
#include <stdint.h>

struct spool_load;
struct record_label;

struct stacks_label {
    uint32_t parent; /* 0: none */
    const char *key, *value;
};

/* Label number N is all[N - 1]; number 0 means no label. */
struct stacks_labels {
    struct stacks_label *all;
    uint32_t count;
    struct intern *ids; /* ids in the spool; entry I is label I + 1 */
};

/* Most labels of a set that are shown. */
enum { STACKS_LABELS_MOST = 64 };

/* Take RECORD; a record that makes no sense is left out. BUILD knows its texts.
 * Returns 0, or -1 if memory is short. */
int stacks_label_add(struct stacks_labels *labels,
                     const struct spool_load *load,
                     const struct record_label *record);

/* The number of the set with this ID in the spool, 0 if the spool has not
 * defined it. */
uint32_t stacks_label_set(const struct stacks_labels *labels, uint32_t id);

/* Write the labels of SET to LIST, each key once, in the order in which they
 * were set. Returns their number. */
unsigned stacks_label_list(const struct stacks_labels *labels, uint32_t set,
                           const struct stacks_label *list[STACKS_LABELS_MOST]);

void stacks_label_release(struct stacks_labels *labels);

#endif
