/* SPDX-License-Identifier: MIT */
/*
 * labels.c -- see labels.h. The token of an open scope holds all that the end
 * of the scope needs. It is checked against the thread's own record of the
 * scope:
 *
 *   owner:20 | depth:5 | serial:16 | set before it:22
 *
 * The owner is a number that a thread takes when it first opens a scope. It is
 * not the thread's tid, because a forked child ends the scopes that its parent
 * opened.
 *
 * A handler may open and end scopes in the middle of the same work on its
 * thread. It leaves all as it found it, so the thread may read the same word
 * twice.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "base/state.h"
#include "base/sys.h"
#include "base/thread_local.h"
#include "process/threads.h"
#include "label_tree.h"
#include "sprof.h"
#include "labels.h"

/* Bits of the parts of a token, and limit of the open scopes of a thread. */
#define OWNER_BITS 20
#define DEPTH_BITS 5
#define SERIAL_BITS 16
#define SCOPES_MOST ((1u << DEPTH_BITS) - 1)
_Static_assert(OWNER_BITS + DEPTH_BITS + SERIAL_BITS + LABEL_TREE_BITS == 63,
               "a token is a positive number of 64 bits");

/* Bytes of the table of sets by tid. */
#define TABLE_BYTES (THREADS_TIDS * sizeof(uint32_t))
_Static_assert(SCOPES_MOST == SPROF_LABEL_SCOPES_MAX, "as the manual says");

struct scopes {
    uint32_t owner; /* 0: none yet */
    uint32_t depth; /* number of open scopes */
    uint16_t last_serial;
    uint16_t serials[SCOPES_MOST]; /* of the open scopes */
};

static __thread volatile struct scopes scopes;
/* The sets by tid, and the tree of their labels. */
static _Atomic(void *) reserved;
static OF_PROFILE _Atomic bool is_on;
static _Atomic uint32_t last_owner;
static OF_PROFILE _Atomic bool have_changed;

void
labels_accept(bool is_now_on)
{
    atomic_store(&is_on, is_now_on);
}

bool
labels_are_on(void)
{
    return atomic_load_explicit(&is_on, memory_order_relaxed);
}

/* Reserve the memory. If another thread has reserved it meanwhile, use that.
 * Also called in a signal handler; takes no lock. */
static _Atomic uint32_t *
reserve_tables(void)
{
    void *others = NULL;
    void *memory = sys_reserve(TABLE_BYTES + LABEL_TREE_BYTES);
    if (memory == NULL)
        return NULL;
    if (!atomic_compare_exchange_strong(&reserved, &others, memory)) {
        sys_release(memory, TABLE_BYTES + LABEL_TREE_BYTES);
        memory = others;
    }
    label_tree_begin((char *)memory + TABLE_BYTES);
    thread_local_use_labels(memory, THREADS_TIDS);
    return thread_local_label_place();
}

/* Returns the place of the calling thread's set, or NULL if it has none. */
static _Atomic uint32_t *
own_place(void)
{
    if (!labels_are_on())
        return NULL;
    _Atomic uint32_t *place = thread_local_label_place();
    return place != NULL ? place : reserve_tables();
}

static uint32_t
read_set(const _Atomic uint32_t *place)
{
    return atomic_load_explicit(place, memory_order_relaxed);
}

/* The flag is read by all threads, and written rarely: once for each tick. */
static void
write_set(_Atomic uint32_t *place, uint32_t set)
{
    atomic_store_explicit(place, set, memory_order_relaxed);
    if (!atomic_load_explicit(&have_changed, memory_order_relaxed))
        atomic_store_explicit(&have_changed, true, memory_order_relaxed);
}

bool
labels_have_changed(void)
{
    return atomic_load_explicit(&have_changed, memory_order_relaxed) &&
           atomic_exchange(&have_changed, false);
}

int
labels_set(const char *key, const char *value)
{
    _Atomic uint32_t *place = own_place();
    if (place == NULL)
        return SPROF_ERROR_NOT_RUNNING;
    uint32_t set = read_set(place);
    int error = label_tree_change(&set, key, value);
    write_set(place, set);
    return error;
}

static uint32_t
own_number(void)
{
    while (scopes.owner == 0)
        scopes.owner =
            (atomic_fetch_add(&last_owner, 1) + 1) & ((1u << OWNER_BITS) - 1);
    return scopes.owner;
}

int64_t
labels_push(const char *key, const char *value)
{
    _Atomic uint32_t *place = own_place();
    uint32_t depth = scopes.depth;
    if (place == NULL)
        return SPROF_ERROR_NOT_RUNNING;
    if (value == NULL)
        return SPROF_ERROR_INVALID;
    if (depth == SCOPES_MOST)
        return SPROF_ERROR_FULL;
    uint32_t before = read_set(place), set = before;
    int error = label_tree_change(&set, key, value);
    if (error != 0)
        return error;
    uint16_t serial = (uint16_t)(scopes.last_serial + 1);
    uint64_t token = (uint64_t)own_number() << DEPTH_BITS | (depth + 1);
    token = (token << SERIAL_BITS | serial) << LABEL_TREE_BITS | before;
    scopes.last_serial = serial;
    /* The depth is written first. A handler's scopes are above it from then on,
     * and leave the serial of this one alone. */
    scopes.depth = depth + 1;
    scopes.serials[depth] = serial;
    write_set(place, set);
    return (int64_t)token;
}

/* Scopes inside this one that were never ended (an exception, longjmp) end with
 * it. The caller has the labels from before, and gets SPROF_ERROR_UNBALANCED.
 */
int
labels_pop(int64_t token)
{
    _Atomic uint32_t *place = own_place();
    if (token <= 0)
        return token < 0 ? (int)token : SPROF_ERROR_INVALID;
    if (place == NULL)
        return SPROF_ERROR_NOT_RUNNING;
    uint64_t rest = (uint64_t)token;
    uint32_t before = (uint32_t)rest & ((1u << LABEL_TREE_BITS) - 1);
    rest >>= LABEL_TREE_BITS;
    uint16_t serial = (uint16_t)rest;
    rest >>= SERIAL_BITS;
    uint32_t depth = (uint32_t)rest & SCOPES_MOST, open = scopes.depth;
    if (rest >> DEPTH_BITS != scopes.owner)
        return SPROF_ERROR_OTHER_THREAD;
    if (depth == 0 || depth > open || scopes.serials[depth - 1] != serial)
        return SPROF_ERROR_UNBALANCED;
    write_set(place, before);
    scopes.depth = depth - 1;
    return depth == open ? 0 : SPROF_ERROR_UNBALANCED;
}

uint32_t
labels_of(pid_t tid)
{
    const _Atomic uint32_t *place = thread_local_label_place_of(tid);
    return place != NULL ? read_set(place) : 0;
}

void
labels_end_thread(void)
{
    _Atomic uint32_t *place =
        labels_are_on() ? thread_local_label_place() : NULL;
    if (place != NULL)
        write_set(place, 0);
}
