/* SPDX-License-Identifier: MIT */
/*
 * label_journal.c -- see label_journal.h. The number of a set is its number in
 * the file, too: parents have smaller ones. That it was written is noted in the
 * tree, with the number of the journal, as a forked child has another one.
 */
#include "store/layout.h"
#include "journal.h"
#include "label_journal.h"
#include "label_tree.h"

static uint32_t journals;

void
label_journal_begin(void)
{
    journals++;
}

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
    label_tree_note(set, journals);
    return true;
}

/* Those below it that are missing come first, the lowest before all. */
uint32_t
label_journal_put(uint32_t set)
{
    uint32_t missing[LABEL_TREE_DEPTH], count = 0;
    for (uint32_t at = set; at != 0 && count < LABEL_TREE_DEPTH &&
                            !label_tree_is_noted(at, journals);
         at = label_tree_at(at).parent)
        missing[count++] = at;
    while (count > 0)
        if (!write_label(missing[--count]))
            return 0;
    return set;
}
