/* SPDX-License-Identifier: MIT */
/*
 * waits.c -- extends open waits. A thread that waits for an hour costs the
 * recorder only the record with which the wait began; the hour is added here.
 * Usually each thread has at most one open wait, its last.
 */
#include "model/events.h"
#include "store/record.h"
#include "util/array.h"
#include "spool_load.h"
#include "waits.h"

/* A running thread has no open end, whatever a damaged record says. */
int
waits_note(struct spool_load *load, const struct record_sample *record,
           const struct profile_sample *sample)
{
    uint64_t reached = record->time;
    if ((record->flags & SAMPLE_OPEN) == 0 || record->state == STATE_RUNNING)
        return 0;
    struct open_wait *waits =
        array_room(load->waits, load->wait_count, sizeof(*waits));
    if (waits == NULL)
        return -1;
    load->waits = waits;
    sum_add(&reached, record->duration);
    waits[load->wait_count++] = (struct open_wait){
        .sample = (uint32_t)(sample - load->profile->samples),
        .reached = reached,
        .event = load->profile->event_count - 1,
    };
    return 0;
}

/* The added points count as answered without a signal, like those of a wait
 * that ended. */
static void
extend_wait(struct profile *profile, const struct open_wait *wait,
            uint64_t wall)
{
    struct profile_sample *sample = &profile->samples[wait->sample];
    uint32_t process = profile->threads[sample->thread].process;
    uint64_t period = profile->processes[process].period;
    uint64_t count = period > 0 ? wall / period : 0;
    sum_add(&sample->values[VALUE_WALL], wall);
    sum_add(&sample->values[VALUE_SAMPLES], count);
    sum_add(&profile->triggers[TRIGGER_KEPT], count);
    sum_add(&profile->states[sample->state], count);
    events_extend(profile, wait->event, wall, count);
}

/* A live spool that was read from its beginning may have an earlier last tick.
 * A wait that was noted since then stays as it is. */
void
waits_extend(struct spool_load *load)
{
    struct profile *profile = load->profile;
    for (uint32_t i = 0; i < load->wait_count; i++) {
        const struct open_wait *wait = &load->waits[i];
        uint32_t thread = profile->samples[wait->sample].thread;
        uint64_t limit = profile->threads[thread].end;
        if (limit > load->last_tick)
            limit = load->last_tick;
        if (limit > wait->reached)
            extend_wait(profile, wait, limit - wait->reached);
    }
}
