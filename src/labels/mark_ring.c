/* SPDX-License-Identifier: MIT */
/*
 * mark_ring.c -- see mark_ring.h.
 *
 *                any thread            sampler
 *   FREE    ---> CLAIMED
 *   CLAIMED ---> WRITTEN
 *   WRITTEN ------------------------>  FREE
 *
 * Places are claimed in turn and read in turn. Between its two steps a thread
 * may be stopped for long. It may also leave by a jump out of a signal handler.
 * That holds up its own mark and no other one: the sampler passes the place by,
 * and comes to it again on its next round.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/state.h"
#include "base/sys.h"
#include "mark_ring.h"

/* Number of places that are tried before a mark is refused. */
#define TRIES 64u

enum place_state { PLACE_FREE, PLACE_CLAIMED, PLACE_WRITTEN };

struct place {
    _Atomic uint32_t state; /* enum place_state */
    struct mark mark;
};
_Static_assert(sizeof(struct place) == 136, "a megabyte in all");

static struct place *places;
static OF_PROFILE _Atomic uint32_t next_claim;
static OF_PROFILE _Atomic uint32_t waiting; /* WRITTEN, or about to be */
static OF_PROFILE _Atomic uint32_t lost;
static OF_PROFILE uint32_t cursor; /* where the sampler reads next */

int
mark_ring_begin(void)
{
    places = sys_renew(places, MARK_RING_PLACES * sizeof(*places));
    return places != NULL ? 0 : -1;
}

static struct place *
claim_place(void)
{
    uint32_t first = atomic_fetch_add(&next_claim, 1);
    for (uint32_t i = 0; i < TRIES; i++) {
        struct place *place = &places[(first + i) % MARK_RING_PLACES];
        uint32_t state = PLACE_FREE;
        if (atomic_compare_exchange_strong(&place->state, &state,
                                           PLACE_CLAIMED))
            return place;
    }
    return NULL;
}

uint32_t
mark_ring_put(const struct mark *mark, const char *name, size_t length)
{
    struct place *place = claim_place();
    if (place == NULL) {
        atomic_fetch_add(&lost, 1);
        return 0;
    }
    place->mark.time = mark->time;
    place->mark.duration = mark->duration;
    place->mark.tid = mark->tid;
    place->mark.label = mark->label;
    place->mark.kind = mark->kind;
    memcpy(place->mark.name, name, length);
    place->mark.name[length] = '\0';
    /* The mark is counted before it can be taken, so that the count is never
     * too small. */
    uint32_t now = atomic_fetch_add(&waiting, 1) + 1;
    atomic_store_explicit(&place->state, PLACE_WRITTEN, memory_order_release);
    return now;
}

bool
mark_ring_take(struct mark *mark)
{
    if (atomic_load_explicit(&waiting, memory_order_relaxed) == 0)
        return false;
    for (uint32_t i = 0; i < MARK_RING_PLACES; i++) {
        struct place *place = &places[cursor++ % MARK_RING_PLACES];
        if (atomic_load_explicit(&place->state, memory_order_acquire) !=
            PLACE_WRITTEN)
            continue;
        *mark = place->mark;
        atomic_store_explicit(&place->state, PLACE_FREE, memory_order_release);
        atomic_fetch_sub(&waiting, 1);
        return true;
    }
    return false;
}

uint32_t
mark_ring_take_lost(void)
{
    return atomic_exchange(&lost, 0);
}
