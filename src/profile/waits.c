/* SPDX-License-Identifier: MIT */
/*
 * waits.c -- a thread that waits for an hour costs the recorder nothing but the
 * record with which the wait began; the hour is added here. Usually each thread
 * has one open wait at the most, its last.
 */
#include "waits.h"

#include "store/record.h"

#include "array.h"
#include "events.h"
#include "parts.h"

/* A thread that runs has no open end, whatever a damaged record says. */
int
waits_note(struct build *build, const struct record_sample *record,
           const struct profile_sample *sample)
{
    struct open_wait *waits;
    uint64_t reached = record->time;

    if ((record->flags & SAMPLE_OPEN) == 0 || record->state == STATE_RUNNING)
        return 0;
    waits = array_room(build->waits, build->wait_count, sizeof *waits);
    if (waits == NULL)
        return -1;
    build->waits = waits;
    profile_sum(&reached, record->duration);
    waits[build->wait_count++] = (struct open_wait){
        .sample = (uint32_t)(sample - build->profile->samples),
        .reached = reached,
        .event = build->profile->event_count - 1,
    };
    return 0;
}

/* The points were answered without a signal, like those of a wait that ended.
 */
static void
extend(struct profile *profile, const struct open_wait *wait, uint64_t wall)
{
    struct profile_sample *sample = &profile->samples[wait->sample];
    uint32_t process = profile->threads[sample->thread].process;
    uint64_t period = profile->processes[process].period;
    uint64_t count = period > 0 ? wall / period : 0;

    profile_sum(&sample->values[VALUE_WALL], wall);
    profile_sum(&sample->values[VALUE_SAMPLES], count);
    profile_sum(&profile->triggers[TRIGGER_KEPT], count);
    profile_sum(&profile->states[sample->state], count);
    events_extend(profile, wait->event, wall, count);
}

/* A live spool that was read from its beginning tells an earlier tick than the
 * last; a wait that was noted since then stays as it is. */
void
waits_extend(struct build *build)
{
    struct profile *profile = build->profile;

    for (uint32_t i = 0; i < build->wait_count; i++) {
        const struct open_wait *wait = &build->waits[i];
        uint32_t thread = profile->samples[wait->sample].thread;
        uint64_t limit = profile->threads[thread].end;

        if (limit > build->last_tick)
            limit = build->last_tick;
        if (limit > wait->reached)
            extend(profile, wait, limit - wait->reached);
    }
}
