/* SPDX-License-Identifier: MIT */
/*
 * deadlock.c -- see stacks.h. Each thread waits for at most one thread. So
 * the owners, followed from any thread, lead to one of three places: to an end,
 * to a thread that was met in an earlier walk, or back into the same walk. The
 * last is a circle. Every thread is followed once.
 */
#include <stdlib.h>
#include <string.h>

#include "stacks.h"

/* The end of the walk along the owners of a thread. */
enum { UNKNOWN = 0, NOWHERE = 1, FIRST_CIRCLE = 2 };

struct search {
    const uint32_t *owners;
    uint32_t count;
    uint32_t *leads; /* UNKNOWN, NOWHERE or FIRST_CIRCLE + its number */
    uint32_t
        *walk; /* 1 + thread at which the walk that met it began; 0: none */
    uint32_t *smallest; /* thread of each circle */
    uint32_t circles;
};

/* The smallest thread number on the circle that contains AT. */
static uint32_t
smallest_of(const struct search *search, uint32_t at)
{
    uint32_t smallest = at;
    for (uint32_t i = search->owners[at]; i != at; i = search->owners[i])
        if (i < smallest)
            smallest = i;
    return smallest;
}

/* Follow the owners of FROM. Note for all threads on the way where they lead.
 */
static void
follow_owners(struct search *search, uint32_t from)
{
    uint32_t at = from;
    while (at != DEADLOCK_NONE && search->walk[at] == 0) {
        search->walk[at] = from + 1;
        at = search->owners[at];
    }
    uint32_t leads;
    if (at == DEADLOCK_NONE) {
        leads = NOWHERE;
    } else if (search->walk[at] == from + 1) {
        search->smallest[search->circles] = smallest_of(search, at);
        leads = FIRST_CIRCLE + search->circles++;
    } else {
        leads = search->leads[at];
    }
    for (at = from; at != DEADLOCK_NONE && search->leads[at] == UNKNOWN;
         at = search->owners[at])
        search->leads[at] = leads;
}

/* Write circle NUMBER after the USED entries of THREADS. Returns the number of
 * entries then used. The circle's threads are set to NOWHERE, so that they do
 * not count as outside. */
static uint32_t
write_circle(struct search *search, uint32_t number, struct deadlock *deadlock,
             uint32_t *threads, uint32_t used)
{
    uint32_t start = search->smallest[number], at = start;
    deadlock->first = used;
    do {
        threads[used++] = at;
        search->leads[at] = NOWHERE;
        at = search->owners[at];
    } while (at != start);
    deadlock->count = used - deadlock->first;
    return used;
}

/* Write the threads that lead into a circle, circle by circle. They are counted
 * first, then placed. */
static void
write_outside(const struct search *search, struct deadlocks *deadlocks,
              const uint32_t *rank, uint32_t used)
{
    for (uint32_t i = 0; i < search->count; i++)
        if (search->leads[i] >= FIRST_CIRCLE)
            deadlocks->all[rank[search->leads[i] - FIRST_CIRCLE]].outside++;
    for (uint32_t i = 0; i < deadlocks->count; i++) {
        deadlocks->all[i].first_outside = used;
        used += deadlocks->all[i].outside;
        deadlocks->all[i].outside = 0;
    }
    for (uint32_t i = 0; i < search->count; i++) {
        if (search->leads[i] < FIRST_CIRCLE)
            continue;
        struct deadlock *deadlock =
            &deadlocks->all[rank[search->leads[i] - FIRST_CIRCLE]];
        deadlocks->threads[deadlock->first_outside + deadlock->outside++] = i;
    }
}

/* Write the circles in the order of their smallest threads. A thread is in at
 * most one circle, so its number finds the circle. CIRCLE_OF has room for all
 * threads. */
static void
write_all(struct search *search, struct deadlocks *deadlocks,
          uint32_t *circle_of, uint32_t *rank)
{
    uint32_t used = 0;
    memset(circle_of, 0, search->count * sizeof(*circle_of));
    for (uint32_t i = 0; i < search->circles; i++)
        circle_of[search->smallest[i]] = i + 1;
    for (uint32_t i = 0; i < search->count; i++) {
        if (circle_of[i] == 0)
            continue;
        rank[circle_of[i] - 1] = deadlocks->count;
        used = write_circle(search, circle_of[i] - 1,
                            &deadlocks->all[deadlocks->count++],
                            deadlocks->threads, used);
    }
    write_outside(search, deadlocks, rank, used);
}

/* Four arrays of one word for each thread, in one block. */
int
deadlock_find(struct deadlocks *deadlocks, const uint32_t *owners,
              uint32_t count)
{
    struct search search = {.owners = owners, .count = count};
    uint32_t *words = calloc(4 * (size_t)count + 1, sizeof(*words));
    int result = -1;
    *deadlocks = (struct deadlocks){.count = 0};
    deadlocks->threads = calloc((size_t)count + 1, sizeof(*words));
    if (words == NULL || deadlocks->threads == NULL)
        goto out;
    search.leads = words;
    search.walk = words + count;
    search.smallest = words + 2 * (size_t)count;
    uint32_t *rank = words + 3 * (size_t)count;
    for (uint32_t i = 0; i < count; i++)
        if (search.walk[i] == 0)
            follow_owners(&search, i);
    deadlocks->all =
        calloc((size_t)search.circles + 1, sizeof(*deadlocks->all));
    if (deadlocks->all == NULL)
        goto out;
    /* The walks are over, so their array can be used again. */
    write_all(&search, deadlocks, search.walk, rank);
    result = 0;
out:
    free(words);
    return result;
}

void
deadlock_release(struct deadlocks *deadlocks)
{
    free(deadlocks->all);
    free(deadlocks->threads);
    *deadlocks = (struct deadlocks){.count = 0};
}
