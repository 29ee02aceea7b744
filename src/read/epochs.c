/* SPDX-License-Identifier: MIT */
/* epochs.c -- see epochs.h. Records come in the order of their times. */
#include "util/array.h"
#include "util/intern.h"
#include "epochs.h"

/* The number of records of epochs so far. */
static uint32_t
record_count(const struct spool_load *load)
{
    return load->profile->epoch_count - load->first_epoch;
}

static const struct profile_epoch *
first_of(const struct spool_load *load)
{
    return load->profile->epochs + load->first_epoch;
}

enum outcome
epochs_add(struct spool_load *load, const void *bytes)
{
    const struct record_epoch *record = bytes;
    struct profile *profile = load->profile;
    uint32_t count = record_count(load);
    if (record->time > INT64_MAX || record->period == 0 ||
        record->period > INT64_MAX || count >= EPOCHS_MOST ||
        (count > 0 && record->time < first_of(load)[count - 1].time))
        return SENSELESS;
    if (!ARRAY_GROW(profile->epochs, profile->epoch_count))
        return FAILED;
    struct profile_epoch *epoch = &profile->epochs[profile->epoch_count++];
    *epoch = (struct profile_epoch){.process = load->process,
                                    .time = record->time,
                                    .period = record->period,
                                    .each = record->each,
                                    .allowed = record->allowed};
    sum_add(&epoch->cpu, record->cpu);
    sum_add(&epoch->taken, record->taken);
    sum_add(&epoch->spent, record->spent);
    return USED;
}

enum outcome
epochs_add_clock(struct spool_load *load, const void *bytes)
{
    const struct record_clock *record = bytes;
    uint32_t thread = spool_load_number(&load->threads, record->thread);
    uint32_t count = record_count(load);
    /* The clocks of a refused epoch belong to no other one. */
    if (thread == INTERN_NONE || count == 0 || count >= EPOCHS_MOST ||
        record->cpu > INT64_MAX)
        return SENSELESS;
    if (!ARRAY_GROW(load->clocks, load->clock_count))
        return FAILED;
    load->clocks[load->clock_count++] =
        (struct weigh_clock){thread, count - 1, record->cpu};
    return USED;
}

uint32_t
epochs_count(const struct spool_load *load)
{
    uint32_t count = record_count(load);
    return count > 0 ? count : 1;
}

/* While a spool is read, most times are in the last epoch so far. */
uint32_t
epochs_at(const struct spool_load *load, uint64_t time)
{
    uint32_t epoch = epochs_count(load) - 1;
    while (epoch > 0 && first_of(load)[epoch].time > time)
        epoch--;
    return epoch;
}

uint64_t
epochs_period(const struct spool_load *load, uint32_t epoch)
{
    return epoch < record_count(load)
               ? first_of(load)[epoch].period
               : load->profile->processes[load->process].period;
}

uint64_t
epochs_longest(const struct spool_load *load)
{
    uint64_t longest = load->profile->processes[load->process].period;
    for (uint32_t i = 0; i < record_count(load); i++)
        if (epochs_period(load, i) > longest)
            longest = epochs_period(load, i);
    return longest;
}
