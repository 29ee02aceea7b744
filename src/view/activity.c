/* SPDX-License-Identifier: MIT */
/* activity.c -- merges samples by the name of their state, not by its number: a
 * number may mean another system call on another machine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/intern.h"
#include "activity.h"

/* Add SAMPLE to its row, made if it is new. KEYS has the rows' numbers. Returns
 * 0, or -1 if memory is short. */
static int
add_sample(struct activity *activity, struct intern *keys,
           struct profile *profile, const struct profile_sample *sample)
{
    const char *state = profile_state(profile, sample);
    uint32_t key[2] = {intern_string(profile->strings, state),
                       intern_string(profile->strings, sample->waits_on)};
    struct activity_row *rows =
        array_room(activity->rows, activity->count, sizeof(*rows));
    if (rows == NULL)
        return -1;
    activity->rows = rows;
    if (key[0] == INTERN_NONE || key[1] == INTERN_NONE)
        return -1;
    uint32_t number = intern_put(keys, key, sizeof(key));
    if (number == INTERN_NONE)
        return -1;
    if (number == activity->count)
        rows[activity->count++] = (struct activity_row){
            .state = state,
            .waits_on = sample->waits_on,
        };
    sum_add(&rows[number].wall, sample->values[VALUE_WALL]);
    return 0;
}

/* For qsort: large values first, ties by name. */
static int
compare_rows(const void *a, const void *b)
{
    const struct activity_row *one = a, *two = b;
    int order = (one->wall < two->wall) - (one->wall > two->wall);
    if (order == 0)
        order = strcmp(one->state, two->state);
    return order != 0 ? order : strcmp(one->waits_on, two->waits_on);
}

int
activity_build(struct activity *activity, struct profile *profile)
{
    struct intern *keys = intern_new();
    int status = keys == NULL ? -1 : 0;
    *activity = (struct activity){0};
    for (uint32_t i = 0; i < profile->sample_count && status == 0; i++)
        status = add_sample(activity, keys, profile, &profile->samples[i]);
    intern_free(keys);
    if (status != 0) {
        activity_release(activity);
        errno = ENOMEM;
        return -1;
    }
    if (activity->count > 0)
        qsort(activity->rows, activity->count, sizeof(*activity->rows),
              compare_rows);
    return 0;
}

void
activity_release(struct activity *activity)
{
    free(activity->rows);
    *activity = (struct activity){0};
}
