/* SPDX-License-Identifier: MIT */
/* shown.c -- see shown.h. The time in which idle threads did not run is added
 * to copies of the functions a second time, as negative sums. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/folding.h"
#include "model/idle.h"
#include "util/array.h"
#include "watch_parts.h"
#include "shown.h"

/* The context of sample_time. */
struct times {
    const struct watch *watch;
    enum span span;
};

static bool
is_kept(const struct watch *watch, uint32_t sample)
{
    return sample < watch->sample_count &&
           watch->samples[sample].verdict == VERDICT_KEEP;
}

/* An idle_time_of. Negative corrections are 0. */
static struct idle_time
sample_time(const void *context, uint32_t sample)
{
    const struct times *times = context;
    struct idle_time time = {0};
    if (!is_kept(times->watch, sample))
        return time;
    const int64_t *values =
        times->watch->samples[sample].sums.values[times->span];
    if (values[VALUE_CPU] > 0)
        time.cpu = (uint64_t)values[VALUE_CPU];
    if (values[VALUE_WALL] > 0)
        time.wall = (uint64_t)values[VALUE_WALL];
    return time;
}

static struct span_sums
negative(const struct span_sums *sums)
{
    struct span_sums result;
    for (unsigned i = 0; i < SPAN_COUNT; i++)
        for (unsigned j = 0; j < VALUE_COUNT; j++) {
            result.values[i][j] = -sums->values[i][j];
            result.squares[i][j] = -sums->squares[i][j];
        }
    return result;
}

static void
take_waits(struct shown *shown, const struct watch *watch)
{
    const struct profile *profile = watch->profile;
    struct functions functions = watch->functions;
    functions.rows = shown->functions;
    for (uint32_t i = 0; i < watch->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        if (!shown->are_idle[sample->thread] || !is_kept(watch, i) ||
            sample->state == STATE_RUNNING)
            continue;
        const struct span_sums *sums = &watch->samples[i].sums;
        const struct span_sums less = negative(sums);
        functions_add(&functions, folding_shown(profile, sample->node), &less);
        span_add_sums(&shown->idle, sums);
    }
}

int
shown_begin(struct shown *shown, const struct watch *watch, enum span span)
{
    const struct times times = {watch, span};
    uint32_t count = watch->functions.count;
    *shown = (struct shown){
        .are_idle = idle_threads(watch->profile, sample_time, &times)};
    if (shown->are_idle == NULL || !ARRAY_NEW(shown->functions, count)) {
        errno = ENOMEM;
        return -1;
    }
    for (uint32_t i = 0; i < watch->profile->thread_count; i++)
        shown->idle_count += shown->are_idle[i];
    if (count > 0)
        memcpy(shown->functions, watch->functions.rows,
               count * sizeof(*shown->functions));
    if (shown->idle_count > 0)
        take_waits(shown, watch);
    return 0;
}

void
shown_end(struct shown *shown)
{
    free(shown->functions);
    free(shown->are_idle);
    *shown = (struct shown){0};
}
