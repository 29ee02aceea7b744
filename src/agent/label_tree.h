/* SPDX-License-Identifier: MIT */
/*
 * label_tree.h -- sets of labels as numbers. A set is a label on top of another
 * set, 0 is the empty one; the same labels in the same order are one number:
 *
 *   set 5   user=ada       on top of 3
 *   set 3   request=/cart  on top of 0
 *
 * So a thread's labels are one word, which changes as a whole and can be read
 * by anybody at any time. Sets are made and found without a lock and without
 * memory of the program's, in any thread and in signal handlers; they stay for
 * the life of the process, and a forked child goes on with its parent's.
 */
#ifndef AGENT_LABEL_TREE_H
#define AGENT_LABEL_TREE_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers of sets have so many bits. */
#define LABEL_TREE_BITS 22

/* How many sets there may be, and how many labels in one. */
#define LABEL_TREE_SETS (1u << 19)
#define LABEL_TREE_DEPTH 32u

/* A label on top of PARENT. */
struct label {
    uint32_t parent;
    const char *key, *value;
};

/* How much memory that takes. */
#define LABEL_TREE_BYTES \
    ((8u << LABEL_TREE_BITS) + 2u * LABEL_TREE_SETS * sizeof(uint32_t))

/* Have the tree in MEMORY, LABEL_TREE_BYTES of zeros (sys_reserve). Before any
 * other call; several threads may do so at once, with the same MEMORY. */
void label_tree_begin(void *memory);

/*
 * *SET becomes that of its labels with KEY=VALUE, in the place of what KEY was
 * before, or without KEY if VALUE is NULL. Returns 0, or an enum sprof_error
 * (sprof.h), and *SET has no KEY then (if memory is short, it may lack labels
 * that were set after it, too).
 * Context: any thread. Safe in signals. Locks: none.
 */
int label_tree_change(uint32_t *set, const char *key, const char *value);

/* What is on top of SET, which is not 0. Any thread. */
struct label label_tree_at(uint32_t set);

/* Whether SET was noted as EPOCH's, and that it is. Context: sampler. */
bool label_tree_is_noted(uint32_t set, uint32_t epoch);
void label_tree_note(uint32_t set, uint32_t epoch);

#endif
