/* SPDX-License-Identifier: MIT */
/*
 * agree.c -- a spool has the CPU time of a process four times: in its samples,
 * in the clocks of its threads, in the time in which samples were due, and in
 * the clock of the process. The recorder gets each of them in another way. So a
 * fault in one of them shows here.
 *
 * A spool that was made of others may have a part of the samples alone, and has
 * no clocks of threads. There only more samples than time are a fault.
 */
#include <stdbool.h>

#include "store/layout.h"
#include "spool_load.h"
#include "agree.h"

/* What two sums may differ by: 1 / PART of them, SLACK_NS for the moments
 * between the readings of clocks, and THREAD_NS for each thread whose end was
 * not seen. */
#define PART 1000u
#define SLACK_NS 5000000u
#define THREAD_NS 5000000u

static bool
differ(uint64_t a, uint64_t b, uint64_t slack)
{
    return a > b ? a - b > slack : b - a > slack;
}

/* Returns the CPU time of the samples. *MEASURED becomes the part that a hook
 * measured, in which no samples were due. */
static uint64_t
sum_samples(const struct spool_load *load, uint64_t *measured)
{
    const struct profile *profile = load->profile;
    uint64_t sum = 0;
    *measured = 0;
    for (uint32_t i = load->first_sample; i < profile->sample_count; i++) {
        uint64_t cpu = profile->samples[i].values[VALUE_CPU];
        sum_add(&sum, cpu);
        if (profile->samples[i].is_measured)
            sum_add(measured, cpu);
    }
    return sum;
}

/* Returns the CPU time of the threads, and 0 if the clock of one of them is not
 * known. */
static uint64_t
sum_threads(const struct spool_load *load)
{
    const struct profile *profile = load->profile;
    uint64_t sum = 0;
    for (uint32_t i = load->first_thread; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        if (!thread->has_cpu && thread->unsampled == 0)
            return 0;
        sum_add(&sum, thread->cpu > thread->unsampled ? thread->cpu
                                                      : thread->unsampled);
    }
    return sum;
}

void
agree_check(struct spool_load *load)
{
    const struct profile *profile = load->profile;
    struct profile_cost *cost = &load->cost;
    bool has_ended = profile->processes[load->process].ended;
    uint64_t measured, samples = sum_samples(load, &measured);
    uint64_t threads = sum_threads(load), due = cost->rate.cpu;
    uint64_t process = cost->process_cpu > cost->sampler_cpu
                           ? cost->process_cpu - cost->sampler_cpu
                           : 0;
    uint64_t slack = SLACK_NS + samples / PART;
    if (!has_ended)
        slack +=
            (uint64_t)THREAD_NS * (profile->thread_count - load->first_thread);
    if (load->is_result) {
        threads = 0;
        due = samples > due + measured ? due : 0;
    }
    if (!(threads != 0 && differ(samples, threads, slack)) &&
        !(due != 0 && differ(samples, due + measured, slack)) &&
        !(has_ended && process != 0 && samples > process + slack))
        return;
    cost->wrong = 1;
    cost->wrong_samples = samples;
    cost->wrong_threads = threads;
    cost->wrong_due = due + measured;
    cost->wrong_process = process;
}
