/* SPDX-License-Identifier: MIT */
/* journal_labels.c -- see journal_labels.h. */
#include "labels/label_tree.h"
#include "store/layout.h"
#include "journal.h"
#include "journal_labels.h"

static bool
write_label(uint32_t set)
{
    struct label label = label_tree_at(set);
    struct record_label record = {.id = set,
                                  .parent = label.parent,
                                  .key = journal_text(label.key),
                                  .value = journal_text(label.value)};
    if (record.key == 0 || record.value == 0 ||
        journal_append(RECORD_LABEL, &record, sizeof(record), NULL, 0) == 0)
        return false;
    label_tree_note(set, journal_generation());
    return true;
}

/* The missing sets below SET are written first, beginning with the lowest. */
uint32_t
journal_labels(uint32_t set)
{
    uint32_t missing[LABEL_TREE_DEPTH], count = 0;
    for (uint32_t at = set; at != 0 && count < LABEL_TREE_DEPTH &&
                            !label_tree_is_noted(at, journal_generation());
         at = label_tree_at(at).parent)
        missing[count++] = at;
    while (count > 0)
        if (!write_label(missing[--count]))
            return 0;
    return set;
}
