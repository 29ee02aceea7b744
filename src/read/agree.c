/* SPDX-License-Identifier: MIT */
/*
 * agree.c -- a spool has the CPU time of a process four times: in its samples,
 * in the clocks of its threads, in the time in which samples were due, and in
 * the clock of the process. The recorder gets each of them in a different way,
 * so a fault in one of them shows here.
 *
 * A spool that was made from others may have only a part of the samples, and
 * has no clocks of threads. There a fault is only if samples exceed the time.
 */
#include <stdbool.h>

#include "store/layout.h"
#include "spool_load.h"
#include "agree.h"

/* Allowed difference of two sums: 1 / PART of them, SLACK_NS for the moments
 * between the readings of clocks, and THREAD_NS for each thread whose end was
 * not seen. */
#define PART 1000u
#define SLACK_NS 5000000u
#define THREAD_NS 5000000u

/* Samples of threads without a known clock may have 1 / CHANCE too much. */
#define CHANCE 8u

static bool
differ(uint64_t a, uint64_t b, uint64_t slack)
{
    return a > b ? a - b > slack : b - a > slack;
}

/* The CPU time of THREAD by its clock or by records without a sample, in ns; 0
 * if it is not known. */
static uint64_t
clock_of(const struct profile_thread *thread)
{
    return thread->cpu > thread->unsampled ? thread->cpu : thread->unsampled;
}

/* CPU time in the samples, in ns. MEASURED: the part that a hook measured, in
 * which no samples were due. UNKNOWN: the part of threads whose clock is not
 * known. It is an estimate. */
struct sampled {
    uint64_t all, measured, unknown;
};

static struct sampled
sum_samples(const struct spool_load *load)
{
    const struct profile *profile = load->profile;
    struct sampled sums = {0};
    for (uint32_t i = load->first_sample; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        uint64_t cpu = sample->values[VALUE_CPU];
        sum_add(&sums.all, cpu);
        if (sample->is_measured)
            sum_add(&sums.measured, cpu);
        if (clock_of(&profile->threads[sample->thread]) == 0)
            sum_add(&sums.unknown, cpu);
    }
    return sums;
}

/* Returns the CPU time of the threads whose clock is known. */
static uint64_t
sum_threads(const struct spool_load *load)
{
    const struct profile *profile = load->profile;
    uint64_t sum = 0;
    for (uint32_t i = load->first_thread; i < profile->thread_count; i++)
        sum_add(&sum, clock_of(&profile->threads[i]));
    return sum;
}

void
agree_check(struct spool_load *load)
{
    const struct profile *profile = load->profile;
    struct profile_cost *cost = &load->cost;
    bool has_ended = profile->processes[load->process].ended;
    struct sampled sums = sum_samples(load);
    uint64_t samples = sums.all, measured = sums.measured;
    uint64_t threads = sum_threads(load) + sums.unknown, due = cost->rate.cpu;
    uint64_t process = cost->process_cpu > cost->sampler_cpu
                           ? cost->process_cpu - cost->sampler_cpu
                           : 0;
    uint64_t slack = SLACK_NS + samples / PART + sums.unknown;
    if (!has_ended)
        slack +=
            (uint64_t)THREAD_NS * (profile->thread_count - load->first_thread);
    if (load->is_result) {
        threads = 0;
        due = samples > due + measured ? due : 0;
    }
    if (!(threads != 0 && differ(samples, threads, slack)) &&
        !(due != 0 && differ(samples, due + measured, slack)) &&
        !(has_ended && process != 0 &&
          samples > process + slack - sums.unknown + sums.unknown / CHANCE))
        return;
    cost->wrong = 1;
    cost->wrong_samples = samples;
    cost->wrong_threads = threads;
    cost->wrong_due = due + measured;
    cost->wrong_process = process;
}
