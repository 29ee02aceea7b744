/* SPDX-License-Identifier: MIT */
/*
 * thrift.c -- see thrift.h. Every question has the same worth: it is an address
 * of a profile. So the budget is spent best on files with many questions that
 * take little time.
 */
#include <stdlib.h>

#include "image.h"
#include "sketch.h"
#include "symbolizer.h"
#include "thrift.h"

struct offer {
    struct opening opening;
    struct sketch sketch;
    uint64_t cost; /* ns; 0: the file must be read whole */
};

/* For qsort: the better bargain first. Equal ones come in a fixed order, so
 * that the result is the same each time. */
static int
compare_offers(const void *left, const void *right)
{
    const struct offer *a = left, *b = right;
    double x = (double)a->cost * (double)b->opening.count;
    double y = (double)b->cost * (double)a->opening.count;
    if (x != y)
        return x < y ? -1 : 1;
    return a->opening.questions < b->opening.questions ? -1 : 1;
}

/* Open the file of OFFER for its symbols alone. */
static void
open_briefly(struct offer *offer)
{
    struct opening *opening = &offer->opening;
    uint64_t *addresses = calloc(opening->count + 1, sizeof(*addresses));
    if (addresses == NULL) {
        sketch_close(&offer->sketch);
        return;
    }
    for (size_t i = 0; i < opening->count; i++)
        addresses[i] = opening->questions[i].offset;
    opening->image =
        image_open_brief(opening->path, opening->build_id, opening->length,
                         &offer->sketch, addresses, opening->count);
    free(addresses);
    if (opening->image != NULL)
        open_many_answer(opening);
}

/* Spend BUDGET on the sorted OFFERS. Files that cost more than what is left of
 * it, or have only symbols, are opened and go to the front of OPENINGS. Returns
 * their number. */
static size_t
spend_budget(struct offer *offers, size_t count, uint64_t budget,
             struct opening *openings)
{
    size_t brief = 0, whole = count;
    for (size_t i = 0; i < count; i++) {
        if (offers[i].cost > budget || offers[i].sketch.is_all)
            open_briefly(&offers[i]);
        else
            sketch_close(&offers[i].sketch);
        if (offers[i].opening.image != NULL) {
            openings[brief++] = offers[i].opening;
            continue;
        }
        openings[--whole] = offers[i].opening;
        budget -= offers[i].cost < budget ? offers[i].cost : budget;
    }
    return brief;
}

size_t
thrift_run(struct opening *openings, size_t count, uint64_t budget)
{
    struct offer *offers = calloc(count + 1, sizeof(*offers));
    if (offers == NULL)
        return 0;
    for (size_t i = 0; i < count; i++) {
        struct offer *offer = &offers[i];
        offer->opening = openings[i];
        if (sketch_open(&offer->sketch, openings[i].path, openings[i].build_id,
                        openings[i].length) == 0)
            offer->cost = sketch_cost(&offer->sketch);
    }
    qsort(offers, count, sizeof(*offers), compare_offers);
    size_t brief = spend_budget(offers, count, budget, openings);
    free(offers);
    return brief;
}
