/* SPDX-License-Identifier: MIT */
/*
 * open_many.c -- see open_many.h. libdw shares nothing between two handles. So
 * a file is safe as long as only one thread uses it.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "parallel.h"
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

void
open_many_answer(struct opening *opening)
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

static void
open_one(struct opening *opening)
{
    opening->image =
        image_open(opening->path, opening->build_id, opening->length);
    open_many_answer(opening);
}

/* The work of one thread: take files until none is left. */
static void *
open_files(void *argument)
{
    struct job *job = argument;
    size_t i;
    while ((i = atomic_fetch_add(&job->next, 1)) < job->count)
        open_one(&job->openings[i]);
    return NULL;
}

void
open_many_run(struct opening *openings, size_t count)
{
    struct job job = {.openings = openings, .count = count};
    parallel_run(open_files, &job, count);
}

void
open_many_free(struct opening *openings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        intern_clear(&openings[i].store);
}
