/* SPDX-License-Identifier: MIT */
/*
 * label_tree.c -- see label_tree.h. The tree has two pieces of memory:
 *
 *   arena   nodes one after the other, never moved or freed; the number of a
 *           set is the place of its node, in units of 8 bytes
 *   index   a hash table of those numbers, 0 where it is empty
 *
 * To make a set, a thread takes room in the arena by one addition, and fills
 * it. Then it enters the number into the index by one exchange. Between these
 * steps a thread can end, or a handler can interrupt it and make the same set.
 * Then a node is left that is in no index: a loss of some bytes. Every number
 * in the index leads to a complete node. A parent is made before its child, so
 * it has the smaller number.
 *
 * The hard thing is the price: a set that exists is found in less than 50 ns.
 * So texts are checked only when they are new, and hashed by words. Labels that
 * are put back on top of a changed label are not hashed again.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "sprof.h"
#include "label_tree.h"

/* Sizes: bytes of a unit, units of the arena, and entries of the index. */
#define UNIT 8u
#define ARENA_UNITS (1u << LABEL_TREE_BITS)
#define INDEX (2u * LABEL_TREE_SETS)

struct node {
    uint32_t parent;
    uint32_t hash;  /* of the text */
    uint32_t epoch; /* of the last note; for the sampler alone */
    uint16_t key_length, value_length;
    char text[]; /* key, NUL, value, NUL */
};
_Static_assert(offsetof(struct node, text) == 16, "two words before the text");

/* A wanted label. Its key and value may lie next to each other, as in a
 * node. */
struct wanted {
    uint32_t parent;
    uint32_t hash; /* of key and value */
    const char *key, *value;
    size_t key_length, value_length;
};

static uint64_t *arena;
static _Atomic uint32_t *index_of_sets;
static _Atomic uint32_t used = 1; /* units; unit 0 is no set */
static _Atomic uint32_t count;    /* of sets */

_Static_assert(LABEL_TREE_BYTES ==
                   (size_t)ARENA_UNITS * UNIT + INDEX * sizeof(*index_of_sets),
               "both pieces");

void
label_tree_begin(void *memory)
{
    arena = memory;
    index_of_sets = (_Atomic uint32_t *)(void *)(arena + ARENA_UNITS);
}

static struct node *
node_at(uint32_t set)
{
    return (struct node *)(void *)&arena[set];
}

/* Returns up to 8 bytes at TEXT as one word. */
static uint64_t
load_word(const char *text, size_t length)
{
    uint64_t word = 0;
    uint32_t low, high;
    if (length >= sizeof(word)) {
        memcpy(&word, text, sizeof(word));
    } else if (length >= sizeof(low)) {
        /* The two words overlap: together they have all bytes. */
        memcpy(&low, text, sizeof(low));
        memcpy(&high, text + length - sizeof(high), sizeof(high));
        word = low | (uint64_t)high << 32;
    } else {
        for (size_t i = 0; i < length; i++)
            word = word << 8 | (unsigned char)text[i];
    }
    return word;
}

static uint64_t
mix_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static uint64_t
hash_text(uint64_t hash, const char *text, size_t length)
{
    size_t left = length;
    for (; left > 8; left -= 8, text += 8)
        hash = mix_word(hash, load_word(text, 8));
    return mix_word(hash, load_word(text, left) + length);
}

/* The same as memcmp, which compares byte by byte in this library (forward.c).
 */
static bool
are_same_bytes(const char *one, const char *two, size_t length)
{
    size_t left = length;
    for (; left > 8; left -= 8, one += 8, two += 8)
        if (load_word(one, 8) != load_word(two, 8))
            return false;
    return load_word(one, left) == load_word(two, left);
}

static void
set_hash(struct wanted *wanted)
{
    uint64_t hash = hash_text(0, wanted->key, wanted->key_length);
    wanted->hash =
        (uint32_t)hash_text(hash, wanted->value, wanted->value_length);
}

static bool
has_text(const struct node *node, const struct wanted *wanted)
{
    size_t behind = wanted->key_length + 1;
    if (wanted->key + behind == wanted->value)
        return are_same_bytes(node->text, wanted->key,
                              behind + wanted->value_length);
    return are_same_bytes(node->text, wanted->key, wanted->key_length) &&
           are_same_bytes(node->text + behind, wanted->value,
                          wanted->value_length);
}

static bool
is_node_of(const struct node *node, const struct wanted *wanted)
{
    return node->hash == wanted->hash && node->parent == wanted->parent &&
           node->key_length == wanted->key_length &&
           node->value_length == wanted->value_length && has_text(node, wanted);
}

/* Returns the set that is WANTED. If it does not exist, returns 0, and its
 * place in the index in *PLACE. */
static uint32_t
find_set(const struct wanted *wanted, uint32_t *place)
{
    uint64_t key = (uint64_t)wanted->parent << 32 | wanted->hash;
    uint32_t i = (uint32_t)mix_word(0, key) % INDEX, set;
    while ((set = atomic_load_explicit(&index_of_sets[i],
                                       memory_order_acquire)) != 0 &&
           !is_node_of(node_at(set), wanted))
        i = (i + 1) % INDEX;
    *place = i;
    return set;
}

/* Make a node for WANTED, which is not in the index yet. Returns 0 if the arena
 * is full. */
static uint32_t
make_node(const struct wanted *wanted)
{
    size_t size = offsetof(struct node, text) + wanted->key_length +
                  wanted->value_length + 2;
    uint32_t units = (uint32_t)((size + UNIT - 1) / UNIT);
    uint32_t set = atomic_load(&used);
    do {
        if (units > ARENA_UNITS - set)
            return 0;
    } while (!atomic_compare_exchange_weak(&used, &set, set + units));
    struct node *node = node_at(set);
    node->parent = wanted->parent;
    node->hash = wanted->hash;
    node->key_length = (uint16_t)wanted->key_length;
    node->value_length = (uint16_t)wanted->value_length;
    memcpy(node->text, wanted->key, wanted->key_length);
    memcpy(node->text + wanted->key_length + 1, wanted->value,
           wanted->value_length);
    return set;
}

/* Returns the set that is WANTED, and makes it if it does not exist. Returns 0
 * if the tree is full. */
static uint32_t
intern_set(struct wanted *wanted)
{
    uint32_t place, found, set;
    found = find_set(wanted, &place);
    if (found != 0)
        return found;
    if (atomic_load(&count) >= LABEL_TREE_SETS ||
        (set = make_node(wanted)) == 0)
        return 0;
    /* The first thread to reach an empty place gets it. That may be another
     * thread, which has made the same set. */
    while (
        !atomic_compare_exchange_strong(&index_of_sets[place], &found, set)) {
        found = find_set(wanted, &place);
        if (found != 0)
            return found;
    }
    atomic_fetch_add(&count, 1);
    return set;
}

/* Whether TEXT can be shown, and be asked for by `--label KEY=VALUE`. */
static bool
is_printable(const char *text, size_t length, bool is_key)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f ||
            (is_key && text[i] == '='))
            return false;
    return true;
}

/* Measure and check the key and the value of WANTED; the value may be NULL.
 * Texts in the tree were checked before, so the bytes are looked at only if
 * IS_NEW. */
static int
check_texts(struct wanted *wanted, bool is_new)
{
    const char *value = wanted->value != NULL ? wanted->value : "-";
    wanted->key_length = strnlen(wanted->key, SPROF_LABEL_KEY_MAX + 1);
    wanted->value_length = strnlen(value, SPROF_LABEL_VALUE_MAX + 1);
    if (wanted->key_length > SPROF_LABEL_KEY_MAX ||
        wanted->value_length > SPROF_LABEL_VALUE_MAX)
        return SPROF_ERROR_TOO_LONG;
    if (wanted->key_length == 0 || wanted->value_length == 0)
        return SPROF_ERROR_INVALID;
    if (is_new && (!is_printable(wanted->key, wanted->key_length, true) ||
                   !is_printable(value, wanted->value_length, false)))
        return SPROF_ERROR_INVALID;
    return 0;
}

static bool
has_key(uint32_t set, const struct wanted *wanted)
{
    const struct node *node = node_at(set);
    return node->key_length == wanted->key_length &&
           are_same_bytes(node->text, wanted->key, wanted->key_length);
}

/* Put the NUMBER labels of ABOVE, the topmost first, on top of *SET. Returns 0,
 * or an error if only some of them had room. */
static int
put_labels_back(uint32_t *set, const uint32_t *above, uint32_t number)
{
    while (number > 0) {
        const struct node *node = node_at(above[--number]);
        struct wanted wanted = {.parent = *set,
                                .key = node->text,
                                .value = node->text + node->key_length + 1,
                                .hash = node->hash,
                                .key_length = node->key_length,
                                .value_length = node->value_length};
        uint32_t next = intern_set(&wanted);
        if (next == 0)
            return SPROF_ERROR_FULL;
        *set = next;
    }
    return 0;
}

/* Put WANTED on top of *SET, if it has a value. */
static int
put_label(uint32_t *set, struct wanted *wanted)
{
    uint32_t place, next;
    if (wanted->value == NULL)
        return 0;
    wanted->parent = *set;
    set_hash(wanted);
    next = find_set(wanted, &place);
    if (next == 0) {
        int error = check_texts(wanted, true);
        if (error != 0)
            return error;
        next = intern_set(wanted);
    }
    if (next == 0)
        return SPROF_ERROR_FULL;
    *set = next;
    return 0;
}

int
label_tree_change(uint32_t *set, const char *key, const char *value)
{
    struct wanted wanted = {.key = key, .value = value};
    uint32_t above[LABEL_TREE_DEPTH], number = 0, at = *set;
    int error, later;
    if (key == NULL)
        return SPROF_ERROR_INVALID;
    error = check_texts(&wanted, false);
    if (wanted.key_length == 0 || wanted.key_length > SPROF_LABEL_KEY_MAX)
        return error;
    for (; at != 0 && !has_key(at, &wanted); at = node_at(at)->parent)
        above[number++] = at;
    if (at != 0) {
        *set = node_at(at)->parent;
    } else if (number == LABEL_TREE_DEPTH && value != NULL) {
        return SPROF_ERROR_FULL;
    } else {
        /* The key is new: no label above it has to be put back. */
        number = 0;
    }
    if (error == 0)
        error = put_label(set, &wanted);
    later = put_labels_back(set, above, number);
    return error != 0 ? error : later;
}

struct label
label_tree_at(uint32_t set)
{
    const struct node *node = node_at(set);
    return (struct label){node->parent, node->text,
                          node->text + node->key_length + 1};
}

bool
label_tree_is_noted(uint32_t set, uint32_t epoch)
{
    return node_at(set)->epoch == epoch;
}

void
label_tree_note(uint32_t set, uint32_t epoch)
{
    node_at(set)->epoch = epoch;
}
