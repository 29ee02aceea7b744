/* SPDX-License-Identifier: MIT */
/*
 * interval_finish.c -- makes the last interval of a spool such that all of them
 * add up to what a report says. A report knows the whole spool when it shares
 * CPU time (read/weigh.h), so the sums may differ a little.
 */
#include "read/spool.h"
#include "store/reader.h"
#include "interval_parts.h"
#include "interval.h"

/* The sample of the take with the most of VALUE; NULL if it has none. */
static struct profile_sample *
largest(const struct interval *interval, enum value value)
{
    struct profile *profile = interval->profile;
    struct profile_sample *most = NULL;
    for (uint32_t i = 0; i < profile->sample_count; i++)
        if (profile->samples[i].values[value] > 0 &&
            (most == NULL ||
             profile->samples[i].values[value] > most->values[value]))
            most = &profile->samples[i];
    return most;
}

/* Take back up to COUNT of VALUE from the samples of the take. */
static void
take_back(struct interval *interval, enum value value, uint64_t count)
{
    struct profile_sample *sample;
    while (count > 0 && (sample = largest(interval, value)) != NULL) {
        uint64_t part = sample->values[value];
        part = part < count ? part : count;
        sample->values[value] -= part;
        interval->taken.of[value] -= (int64_t)part;
        count -= part;
    }
}

/* Change all that was taken of VALUE to TOTAL. A missing amount goes to the
 * largest sample of the take. */
static int
correct(struct interval *interval, enum value value, uint64_t total)
{
    int64_t missing = (int64_t)total - interval->taken.of[value];
    struct interval_values values = {{0}};
    const struct profile_sample *most = largest(interval, value);
    struct profile_sample key = {.node = PROFILE_NOT_SAMPLED,
                                 .system_call = SYSCALL_UNKNOWN,
                                 .state = STATE_RUNNING,
                                 .waits_on = ""};
    interval->debts.of[value] = 0;
    if (missing < 0)
        take_back(interval, value, (uint64_t)-missing);
    if (missing <= 0 || interval->profile->thread_count == 0)
        return 0;
    if (most != NULL)
        key = *most;
    values.of[value] = missing;
    return interval_count(interval, &key, &values);
}

/* Make all that was taken agree with a report. */
static int
agree(struct interval *interval)
{
    static const struct symbolizer_options options;
    struct profile *whole = profile_new(&options);
    uint64_t offset = reader_offset(interval->reader);
    int status = -1;
    if (whole == NULL)
        return -1;
    reader_go(interval->reader, interval->begin);
    if (spool_add(whole, interval->reader) == 0)
        status = 0;
    for (unsigned i = 0; i < VALUE_COUNT && status == 0; i++)
        status = correct(interval, (enum value)i, whole->totals[i]);
    if (reader_problem(interval->reader) == NULL)
        reader_go(interval->reader, offset);
    profile_free(whole);
    return status;
}

int
interval_finish(struct interval *interval)
{
    interval->is_last = true;
    int status = interval_read(interval);
    if (status == 0)
        status = agree(interval);
    return interval_complete(interval, status);
}
