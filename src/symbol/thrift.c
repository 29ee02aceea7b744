/* SPDX-License-Identifier: MIT */
/*
 * thrift.c -- see thrift.h. What a question is worth is the same everywhere: an
 * address that was seen in a profile. So a budget is spent best on the files
 * that have many of them and take little time.
 */
#include <stdlib.h>

#include "image.h"
#include "sketch.h"
#include "symbolizer.h"
#include "thrift.h"

struct offer {
    struct opening opening;
    struct sketch sketch;
    uint64_t cost; /* ns; 0: it must be read whole */
};

/* The better bargain first. Of equal ones the order does not matter, but is the
 * same each time. */
static int
compare(const void *left, const void *right)
{
    const struct offer *a = left, *b = right;
    double x = (double)a->cost * (double)b->opening.count;
    double y = (double)b->cost * (double)a->opening.count;

    if (x != y)
        return (x < y ? -1 : 1);
    return (a->opening.questions < b->opening.questions ? -1 : 1);
}

/* Open the file of OFFER for its symbols alone. */
static void
open_briefly(struct offer *offer)
{
    struct opening *opening = &offer->opening;
    uint64_t *addresses = calloc(opening->count + 1, sizeof(*addresses));

    if (!addresses) {
        sketch_close(&offer->sketch);
        return;
    }
    for (size_t i = 0; i < opening->count; i++)
        addresses[i] = opening->questions[i].offset;
    opening->image =
        image_open_brief(opening->path, opening->build_id, opening->length,
                         &offer->sketch, addresses, opening->count);
    free(addresses);
    if (opening->image)
        openings_answer(opening);
}

/* OFFERS are in their order. The files that cost more than is left of BUDGET,
 * or have nothing but symbols, are opened, and go to the front of OPENINGS. */
static size_t
spend(struct offer *offers, size_t count, uint64_t budget,
      struct opening *openings)
{
    size_t brief = 0, whole = count;

    for (size_t i = 0; i < count; i++) {
        if (offers[i].cost > budget || offers[i].sketch.is_all)
            open_briefly(&offers[i]);
        else
            sketch_close(&offers[i].sketch);
        if (offers[i].opening.image) {
            openings[brief++] = offers[i].opening;
            continue;
        }
        openings[--whole] = offers[i].opening;
        budget -= offers[i].cost < budget ? offers[i].cost : budget;
    }
    return (brief);
}

size_t
thrift_run(struct opening *openings, size_t count, uint64_t budget)
{
    struct offer *offers = calloc(count + 1, sizeof(*offers));
    size_t brief;

    if (!offers)
        return (0);
    for (size_t i = 0; i < count; i++) {
        struct offer *offer = &offers[i];
        offer->opening = openings[i];
        if (sketch_open(&offer->sketch, openings[i].path, openings[i].build_id,
                        openings[i].length) == 0)
            offer->cost = sketch_cost(&offer->sketch);
    }
    qsort(offers, count, sizeof(*offers), compare);
    brief = spend(offers, count, budget, openings);
    free(offers);
    return (brief);
}
