/* SPDX-License-Identifier: MIT */
/* totals.c -- see totals.h. A sum that would overflow stops at INT64_MAX. */
#include "spool_load.h"
#include "totals.h"

/* Add the counters of a spool that was read. */
static void
add_cost(struct profile_cost *to, const struct profile_cost *cost)
{
    sum_add(&to->ticks, cost->ticks);
    sum_add(&to->asked, cost->asked);
    sum_add(&to->taken, cost->taken);
    sum_add(&to->parked, cost->parked);
    sum_add(&to->kept, cost->kept);
    sum_add(&to->peeked, cost->peeked);
    sum_add(&to->unsure, cost->unsure);
    sum_add(&to->skipped, cost->skipped);
    sum_add(&to->expired, cost->expired);
    sum_add(&to->missed, cost->missed);
    sum_add(&to->rules, cost->rules);
    sum_add(&to->process_cpu, cost->process_cpu);
    sum_add(&to->sampler_cpu, cost->sampler_cpu);
    sum_add(&to->stopped, cost->stopped);
    for (unsigned i = 0; i < LOSS_COUNT; i++)
        sum_add(&to->lost[i], cost->lost[i]);
    for (unsigned i = 0; i < CUT_COUNT; i++)
        sum_add(&to->cut[i], cost->cut[i]);
    sum_add(&to->tree_cpu, cost->tree_cpu);
    sum_add(&to->unseen_cpu, cost->unseen_cpu);
    rate_merge(&to->rate, &cost->rate);
}

/* The time of the profile reaches from the first start to the last end. */
static void
add_time(struct spool_load *load)
{
    struct profile *profile = load->profile;
    struct profile_process *process = &profile->processes[load->process];
    uint64_t end = profile->start;
    process->duration = load->end;
    sum_add(&end, profile->duration);
    if (load->process == 0 || process->start < profile->start)
        profile->start = process->start;
    if (load->process == 0 || process->start + load->end > end) {
        end = process->start;
        sum_add(&end, load->end);
    }
    profile->duration = end - profile->start;
}

/* Add the samples of the spool, whose values are final, to the sums of threads
 * and to the totals. */
static void
add_samples(const struct spool_load *load)
{
    struct profile *profile = load->profile;
    for (uint32_t i = load->first_sample; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        uint64_t *thread = profile->threads[sample->thread].values;
        for (unsigned j = 0; j < VALUE_COUNT; j++) {
            sum_add(&thread[j], sample->values[j]);
            sum_add(&profile->totals[j], sample->values[j]);
        }
    }
}

void
totals_add(struct spool_load *load)
{
    add_samples(load);
    add_cost(&load->profile->cost, &load->cost);
    add_time(load);
}

/* UNSEEN_LEAST: the least unseen CPU time that is reported, in ns; less would
 * be shown as 0.000 s. Less than a percent may be nothing, too: each process's
 * part of the kernel's account is exact to a microsecond (getrusage(2)), and
 * the clocks are read one after the other. */
enum { UNSEEN_LEAST = 1000000 };

void
totals_note_tree(struct profile *profile, uint64_t tree_cpu)
{
    struct profile_cost *cost = &profile->cost;
    uint64_t told = profile->totals[VALUE_CPU];
    sum_add(&told, cost->sampler_cpu);
    if (tree_cpu > INT64_MAX || told >= tree_cpu ||
        tree_cpu - told < tree_cpu / 100 || tree_cpu - told < UNSEEN_LEAST)
        return;
    cost->tree_cpu = tree_cpu;
    cost->unseen_cpu = tree_cpu - told;
}
