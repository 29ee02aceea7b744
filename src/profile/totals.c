/* SPDX-License-Identifier: MIT */
/* totals.c -- see totals.h. A sum that does not fit stays at its largest. */
#include "totals.h"

#include "parts.h"

/* Take over the counters of the spool once it is read. */
static void
add_cost(struct profile_cost *to, const struct profile_cost *cost)
{
    profile_sum(&to->ticks, cost->ticks);
    profile_sum(&to->asked, cost->asked);
    profile_sum(&to->taken, cost->taken);
    profile_sum(&to->parked, cost->parked);
    profile_sum(&to->kept, cost->kept);
    profile_sum(&to->peeked, cost->peeked);
    profile_sum(&to->unsure, cost->unsure);
    profile_sum(&to->skipped, cost->skipped);
    profile_sum(&to->rules, cost->rules);
    profile_sum(&to->process_cpu, cost->process_cpu);
    profile_sum(&to->sampler_cpu, cost->sampler_cpu);
    profile_sum(&to->stopped, cost->stopped);
    for (unsigned i = 0; i < LOSS_COUNT; i++)
        profile_sum(&to->lost[i], cost->lost[i]);
    for (unsigned i = 0; i < CUT_COUNT; i++)
        profile_sum(&to->cut[i], cost->cut[i]);
    rate_merge(&to->rate, &cost->rate);
}

/* The profile's time reaches from the first start to the last end. */
static void
add_time(struct build *build)
{
    struct profile *profile = build->profile;
    struct profile_process *process = &profile->processes[build->process];
    uint64_t end = profile->start;

    process->duration = build->end;
    profile_sum(&end, profile->duration);
    if (build->process == 0 || process->start < profile->start)
        profile->start = process->start;
    if (build->process == 0 || process->start + build->end > end) {
        end = process->start;
        profile_sum(&end, build->end);
    }
    profile->duration = end - profile->start;
}

/* The samples of the spool have their final values: sum them up by threads and
 * over all. */
static void
sum_up(const struct build *build)
{
    struct profile *profile = build->profile;

    for (uint32_t i = build->first_sample; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        uint64_t *thread = profile->threads[sample->thread].values;
        for (unsigned j = 0; j < VALUE_COUNT; j++) {
            profile_sum(&thread[j], sample->values[j]);
            profile_sum(&profile->totals[j], sample->values[j]);
        }
    }
}

void
totals_add(struct build *build)
{
    sum_up(build);
    add_cost(&build->profile->cost, &build->cost);
    add_time(build);
}
