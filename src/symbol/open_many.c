/* SPDX-License-Identifier: MIT */
/*
 * open_many.c -- see open_many.h. libdw shares nothing between two handles. So
 * a file is safe as long as only one thread uses it.
 *
 * Within a budget, every question is worth the same: it is an address of a
 * profile. So files with many questions that take little time come first.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "parallel.h"
#include "sketch.h"
#include "open_many.h"

struct job {
    struct opening *openings;
    size_t count;
    _Atomic size_t next;
};

/* Copy ANSWER, whose frames are the caller's, into OPENING. Returns 0, or -1 if
 * memory is short. */
static int
keep_answer(struct opening *opening, const struct image_answer *answer)
{
    struct image_answer *kept = &opening->answers[opening->answered];
    size_t size = answer->count * sizeof(*answer->frames);
    *kept = *answer;
    kept->frames = intern_space(&opening->store, size);
    if (kept->frames == NULL)
        return -1;
    memcpy(kept->frames, answer->frames, size);
    opening->answered++;
    return 0;
}

/* Answer all questions of OPENING, whose image is open already. */
static void
answer_all(struct opening *opening)
{
    struct image_answer answer = {
        .frames = calloc(opening->depth, sizeof(*answer.frames))};
    opening->answers = intern_space(&opening->store,
                                    opening->count * sizeof(*opening->answers));
    if (opening->image != NULL && opening->answers != NULL &&
        answer.frames != NULL)
        while (opening->answered < opening->count) {
            image_find(opening->image,
                       opening->questions[opening->answered].offset, &answer,
                       opening->depth);
            if (keep_answer(opening, &answer) != 0)
                break;
        }
    free(answer.frames);
}

/* The work of one thread: take files until none is left. */
static void *
open_files(void *argument)
{
    struct job *job = argument;
    size_t i;
    while ((i = atomic_fetch_add(&job->next, 1)) < job->count) {
        struct opening *opening = &job->openings[i];
        opening->image =
            image_open(opening->path, opening->build_id, opening->length);
        answer_all(opening);
    }
    return NULL;
}

void
open_many_run(struct opening *openings, size_t count)
{
    struct job job = {.openings = openings, .count = count};
    parallel_run(open_files, &job, count);
}

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
    opening->image =
        image_open_brief(&offer->sketch, opening->questions, opening->count);
    if (opening->image != NULL)
        answer_all(opening);
}

/* Spend BUDGET on the sorted OFFERS. Files that cost more than its rest, or
 * have only symbols, are opened and go to the front of OPENINGS. Returns their
 * number. */
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
open_many_within(struct opening *openings, size_t count, uint64_t budget)
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

void
open_many_free(struct opening *openings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        intern_clear(&openings[i].store);
}
