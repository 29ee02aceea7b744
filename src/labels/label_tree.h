/* SPDX-License-Identifier: MIT */
/*
 * label_tree.h -- numbers sets of labels. A set is one label on top of another
 * set; 0 is the empty set. The same labels in the same order have the same
 * number:
 *
 *   set 5   user=ada       on top of 3
 *   set 3   request=/cart  on top of 0
 *
 * So the labels of a thread are one word. The word changes as a whole, and any
 * thread may read it at any time. Any thread may make and find sets, also in a
 * signal handler: that takes no lock and no memory from the program's
 * allocator. Sets stay for the life of the process, and a forked child goes on
 * with its parent's sets.
 */
#ifndef LABELS_LABEL_TREE_H
#define LABELS_LABEL_TREE_H

#include <stdbool.h>
#include <stdint.h>

/* Bits of a set's number. */
#define LABEL_TREE_BITS 22

/* Limits: sets in a process, and labels in one set. */
#define LABEL_TREE_SETS (1u << 19)
#define LABEL_TREE_DEPTH 32u

/* A label on top of the set PARENT. */
struct label {
    uint32_t parent;
    const char *key, *value;
};

/* Bytes of memory that the tree takes. */
#define LABEL_TREE_BYTES \
    ((8u << LABEL_TREE_BITS) + 2u * LABEL_TREE_SETS * sizeof(uint32_t))

/* Keep the tree in MEMORY: LABEL_TREE_BYTES of zeros from sys_reserve. Called
 * before any other function; several threads may call it at once with the same
 * MEMORY.
 * Context: any. */
void label_tree_begin(void *memory);

/*
 * Change *SET to the set with KEY=VALUE. The label takes the place of the
 * earlier label of KEY, if there is one. With VALUE NULL, KEY is removed.
 *
 * Returns 0, or an enum sprof_error (sprof.h). After an error *SET has no label
 * of KEY; if memory is short, it may also lack labels that were set after KEY.
 * The function takes no lock.
 * Context: any.
 */
int label_tree_change(uint32_t *set, const char *key, const char *value);

/* Returns the topmost label of SET, which is not 0. Context: any thread. */
struct label label_tree_at(uint32_t set);

/* label_tree_is_noted: whether SET was last noted with EPOCH. label_tree_note:
 * note SET with EPOCH.
 * Context: sampler. */
bool label_tree_is_noted(uint32_t set, uint32_t epoch);
void label_tree_note(uint32_t set, uint32_t epoch);

#endif
