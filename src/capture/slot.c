/* SPDX-License-Identifier: MIT */
/* slot.c -- the slots and their states; see slot.h. This code runs in any
 * thread, also in handlers. */
#include <stddef.h>

#include "base/hot.h"
#include "base/sys.h"
#include "signals/nested.h"
#include "unwind/heap_view.h"
#include "slot.h"
#include "base/poison.h"

/* Limit of the slots that a handler tries to claim before its sample is
 * lost. */
#define CLAIM_TRIES 256

/* Bytes of a cache line, and the number of lines of frames that are fetched. */
#define LINE 64u
#define FRAME_LINES 3u

static HOT_STATE struct slot *slots;
static HOT_STATE struct frame *frames;
static struct script_frame *script_frames;
static uint8_t *windows, *heap_windows, *copies;
static uint16_t *list; /* see slots_list */
static HOT_STATE uint32_t slot_count, frames_each;
static HOT_STATE _Atomic uint32_t used;

static void
furnish_slots(void)
{
    for (uint32_t i = 0; i < slot_count; i++) {
        slots[i].walk.frames = frames + (size_t)i * frames_each;
        slots[i].walk.capacity = frames_each;
        slots[i].script.frames = script_frames + (size_t)i * frames_each;
        slots[i].script.capacity = frames_each;
        slots[i].heap_window = heap_windows + (size_t)i * HEAP_VIEW_WINDOW;
        slots[i].window = windows + (size_t)i * VIEW_WINDOW;
        slots[i].copy = copies + (size_t)i * SLOT_COPY;
    }
}

/* Whether the handler of SLOT goes on in this child of a fork. It writes to the
 * slot, so the slot stays its own. If it had parked, it no longer waits: the
 * sampler that served it is not in this process. */
static bool
goes_on(struct slot *slot)
{
    if (!nested_is_forked(
            atomic_load_explicit(&slot->mark, memory_order_relaxed)))
        return false;
    return slot_is_in(slot, SLOT_CLAIMED) || slot_is_in(slot, SLOT_SERVED) ||
           slot_move(slot, SLOT_PARKED, SLOT_SERVED) ||
           slot_move(slot, SLOT_SERVING, SLOT_SERVED);
}

/* Most slots are free, and are not written to. In a forked child, the kernel
 * copies a page before the first write to it. */
static void
empty_slots(void)
{
    uint32_t still_used = 0;
    for (uint32_t i = 0; i < slots_used(); i++) {
        if (slot_is_in(&slots[i], SLOT_FREE))
            continue;
        slots[i].stack = slots[i].copy;
        if (goes_on(&slots[i]))
            still_used = i + 1;
        else
            slot_free(&slots[i]);
    }
    atomic_store_explicit(&used, still_used, memory_order_relaxed);
}

int
slots_begin(uint32_t count, uint32_t max_depth)
{
    if (slots == NULL) {
        slots = sys_reserve(count * sizeof(*slots));
        frames =
            sys_reserve_for_one((size_t)count * max_depth * sizeof(*frames));
        script_frames = sys_reserve_for_one((size_t)count * max_depth *
                                            sizeof(*script_frames));
        heap_windows = sys_reserve_for_one((size_t)count * HEAP_VIEW_WINDOW);
        windows = sys_reserve_for_one((size_t)count * VIEW_WINDOW);
        copies = sys_reserve_for_one((size_t)count * SLOT_COPY);
        list = sys_reserve_for_one(count * sizeof(*list));
        if (slots == NULL || frames == NULL || script_frames == NULL ||
            heap_windows == NULL || windows == NULL || copies == NULL ||
            list == NULL)
            return -1;
        slot_count = count;
        frames_each = max_depth;
        furnish_slots();
    }
    empty_slots();
    return 0;
}

HOT bool
slot_pass(struct slot *slot, uint32_t generation, enum slot_state from,
          enum slot_state to)
{
    uint32_t expected = generation | from;
    return atomic_compare_exchange_strong_explicit(&slot->state, &expected,
                                                   generation | to,
                                                   memory_order_acq_rel,
                                                   memory_order_relaxed);
}

HOT bool
slot_move(struct slot *slot, enum slot_state from, enum slot_state to)
{
    /* The state is read first: an exchange that fails also writes to it. */
    uint32_t word = atomic_load_explicit(&slot->state, memory_order_relaxed);
    return slot_state(word) == from &&
           slot_pass(slot, word & ~SLOT_STATES, from, to);
}

/* Let slots_used() cover place I. The slots themselves show what is in them, so
 * memory order does not matter here. */
static void
note_used(uint32_t i)
{
    uint32_t seen = atomic_load_explicit(&used, memory_order_relaxed);
    while (i >= seen &&
           !atomic_compare_exchange_weak_explicit(&used, &seen, i + 1,
                                                  memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

HOT void
slots_fetch(uint32_t hint)
{
    if (slot_count == 0)
        return;
    uint32_t i = hint % slot_count;
    const char *begin = (const char *)&slots[i];
    const char *walk = begin + offsetof(struct slot, walk);
    for (size_t at = 0; at < offsetof(struct slot, registers); at += LINE)
        __builtin_prefetch(begin + at, 1);
    for (size_t at = 0; at < sizeof(struct walk) + LINE; at += LINE)
        __builtin_prefetch(walk + at, 1);
    for (uint32_t line = 0; line < FRAME_LINES; line++)
        __builtin_prefetch((const char *)(frames + (size_t)i * frames_each) +
                               line * LINE,
                           1);
}

HOT struct slot *
slots_claim(uint32_t hint)
{
    uint32_t tries = slot_count < CLAIM_TRIES ? slot_count : CLAIM_TRIES;
    for (uint32_t n = 0; n < tries; n++) {
        uint32_t i = (hint + n) % slot_count;
        /* First, so that the child of a fork finds each slot that is not free.
         */
        note_used(i);
        if (slot_move(&slots[i], SLOT_FREE, SLOT_CLAIMED))
            return &slots[i];
    }
    return NULL;
}

uint32_t
slots_all(void)
{
    return slot_count;
}

uint32_t
slots_used(void)
{
    return atomic_load_explicit(&used, memory_order_relaxed);
}

struct slot *
slots_at(uint32_t i)
{
    return &slots[i];
}

uint16_t *
slots_list(void)
{
    return list;
}

void
slot_free(struct slot *slot)
{
    uint32_t word = atomic_load_explicit(&slot->state, memory_order_relaxed);
    uint32_t next = (word | SLOT_STATES) + 1;
    atomic_store_explicit(&slot->mark, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->state, next | SLOT_FREE, memory_order_release);
}
