/* SPDX-License-Identifier: MIT */
/* stacks_label.c -- the labels of stacks.h. A parent has a smaller number than
 * its child. So every chain ends, whatever the spool contains. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "read/spool_load.h"
#include "store/layout.h"
#include "util/array.h"
#include "util/intern.h"
#include "stacks.h"

/* The text ID, NULL if the spool has not defined it. */
static const char *
text_of(const struct spool_load *load, uint32_t id)
{
    uint32_t string = spool_load_number(&load->texts, id);
    return string == INTERN_NONE ? NULL
                                 : intern_bytes(load->profile->strings, string);
}

/* A record is left out if its id was defined before, or if it refers to
 * something that does not exist. */
int
stacks_label_add(struct stacks_labels *labels, const struct spool_load *load,
                 const struct record_label *record)
{
    const struct stacks_label label = {
        .parent = stacks_label_set(labels, record->parent),
        .key = text_of(load, record->key),
        .value = text_of(load, record->value),
    };
    if (labels->ids == NULL)
        labels->ids = intern_new();
    if (labels->ids == NULL)
        return -1;
    if (record->id == 0 || label.key == NULL || label.value == NULL ||
        (record->parent != 0 && label.parent == 0) ||
        stacks_label_set(labels, record->id) != 0)
        return 0;
    if (!ARRAY_GROW(labels->all, labels->count))
        return -1;
    if (intern_put(labels->ids, &record->id, sizeof(record->id)) == INTERN_NONE)
        return -1;
    labels->all[labels->count++] = label;
    return 0;
}

uint32_t
stacks_label_set(const struct stacks_labels *labels, uint32_t id)
{
    uint32_t number = INTERN_NONE;
    if (labels->ids != NULL && id != 0)
        number = intern_find(labels->ids, &id, sizeof(id));
    return number == INTERN_NONE ? 0 : number + 1;
}

static bool
has_key(const struct stacks_label *const *list, unsigned count, const char *key)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(list[i]->key, key) == 0)
            return true;
    return false;
}

/* The chain begins with the latest label. The list is reversed, because readers
 * want the order in which the labels were set. */
unsigned
stacks_label_list(const struct stacks_labels *labels, uint32_t set,
                  const struct stacks_label *list[STACKS_LABELS_MOST])
{
    unsigned count = 0;
    for (; set != 0 && count < STACKS_LABELS_MOST;
         set = labels->all[set - 1].parent)
        if (!has_key(list, count, labels->all[set - 1].key))
            list[count++] = &labels->all[set - 1];
    for (unsigned i = 0; i < count / 2; i++) {
        const struct stacks_label *other = list[i];
        list[i] = list[count - 1 - i];
        list[count - 1 - i] = other;
    }
    return count;
}

void
stacks_label_release(struct stacks_labels *labels)
{
    intern_free(labels->ids);
    free(labels->all);
    *labels = (struct stacks_labels){.count = 0};
}
