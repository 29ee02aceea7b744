/* SPDX-License-Identifier: MIT */
/*
 * quality.c -- see quality.h. The words for losses, limits and cut stacks come
 * from the tables in base/loss.h. A row that is added there appears in these
 * sentences.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "util/line.h"
#include "util/number.h"
#include "quality.h"

/* A program that uses less of one CPU, in percent, counts as waiting. The cost
 * of sampling is then compared with the time that passed. */
enum { WAITS_PERCENT = 5 };

/* Add ": 2 exited, 1 silent" to LINE: each of COUNTERS that is not 0, with its
 * WORD. The first counter that is used has index FIRST, the last COUNT - 1. */
static void
add_causes(struct line *line, const uint64_t *counters, unsigned first,
           unsigned count, const char *(*word)(unsigned))
{
    const char *separator = ": ";
    for (unsigned i = first; i < count; i++) {
        if (counters[i] == 0)
            continue;
        line_add(line, "%s%llu %s", separator, (unsigned long long)counters[i],
                 word(i));
        separator = ", ";
    }
}

/* Add "3 of 12348 asked" to LINE. The word "none" is easier to find than a
 * 0. */
static void
add_share(struct line *line, uint64_t part, uint64_t whole, const char *what)
{
    if (part == 0)
        line_add(line, "none of %llu %s", (unsigned long long)whole, what);
    else
        line_add(line, "%llu of %llu %s", (unsigned long long)part,
                 (unsigned long long)whole, what);
}

/* Return the number of samples that were lost for any cause. */
static uint64_t
sum_losses(const struct profile_cost *cost)
{
    uint64_t lost = 0;
    for (unsigned i = 0; i < LOSS_COUNT; i++)
        sum_add(&lost, cost->lost[i]);
    return lost;
}

char *
quality_losses(const struct profile *profile, char *text, size_t size)
{
    const struct profile_cost *cost = &profile->cost;
    struct line line = {text, size, 0};
    add_share(&line, sum_losses(cost), cost->asked, "asked");
    add_causes(&line, cost->lost, 0, LOSS_COUNT, loss_word);
    return text;
}

double
quality_look_share(const struct profile *profile)
{
    double ticks = (double)profile->cost.ticks;
    return ticks > 0 ? ticks / (ticks + (double)profile->cost.skipped) : 1;
}

uint64_t
quality_looks(const struct profile *profile, uint64_t points)
{
    double looks = (double)points * quality_look_share(profile);
    uint64_t whole = (uint64_t)looks;
    /* ceil(3) would need libm where a compiler calls it. */
    return whole + ((double)whole < looks);
}

uint64_t
quality_count(const struct profile *profile, uint64_t *looks)
{
    uint64_t ran = 0;
    *looks = 0;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        if (sample->state != STATE_RUNNING)
            sum_add(looks, sample->values[VALUE_SAMPLES]);
        else if (sample->node != PROFILE_NOT_SAMPLED)
            sum_add(&ran, sample->values[VALUE_SAMPLES]);
    }
    *looks = quality_looks(profile, *looks);
    return ran;
}

char *
quality_spread(const struct profile *profile, char *text, size_t size)
{
    double squares = 0, equal = 0;
    uint64_t samples = 0;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        uint64_t count = sample->values[VALUE_SAMPLES];
        double cpu = (double)sample->values[VALUE_CPU];
        double own = count > 0 ? cpu * cpu / (double)count : 0;
        if (sample->state != STATE_RUNNING || count == 0)
            continue;
        squares += sample->squares > 0 ? sample->squares : own;
        equal += own;
        sum_add(&samples, count);
    }
    text[0] = '\0';
    if (equal > 0 && !profile->lacks_spread)
        snprintf(text, size, "%.6f in %llu samples", squares / equal,
                 (unsigned long long)samples);
    return text;
}

uint32_t
quality_sampled_processes(const struct profile *profile)
{
    bool *is_sampled = calloc(profile->process_count + 1ul, sizeof(bool));
    uint32_t count = 0;
    if (is_sampled == NULL)
        return profile->process_count;
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        if (thread->values[VALUE_SAMPLES] == 0 || is_sampled[thread->process])
            continue;
        is_sampled[thread->process] = true;
        count++;
    }
    free(is_sampled);
    return count;
}

char *
quality_samples(const struct profile *profile, char *text, size_t size)
{
    uint64_t looks, ran = quality_count(profile, &looks);
    uint32_t threads = profile_busy_threads(profile);
    struct line line = {text, size, 0};
    line_add(&line, "%llu of %u thread%s", (unsigned long long)ran, threads,
             number_plural(threads));
    uint32_t sampled = profile->filter == NULL
                           ? quality_sampled_processes(profile)
                           : profile->process_count;
    if (sampled < profile->process_count)
        line_add(&line, " in %u of %u processes", sampled,
                 profile->process_count);
    if (looks > 0)
        line_add(&line, ", %llu look%s at waits", (unsigned long long)looks,
                 number_plural(looks));
    return text;
}

/* A merged pprof file has the longest period of its parts. Its rate then
 * exceeds the one of that period by more than rounding explains, 1 of 20. */
uint64_t
quality_wanted_rate(const struct profile *profile)
{
    const struct rate *rate = &profile->cost.rate;
    uint64_t period = 0, effective = rate_wanted(rate);
    for (uint32_t i = 0; i < profile->process_count; i++) {
        uint64_t other = profile->processes[i].period;
        if (other != 0 && period != 0 && other != period)
            return effective;
        period = other != 0 ? other : period;
    }
    if (period == 0)
        return 0;
    uint64_t common = 1000000000u / period;
    return rate->cpu / period >= 20 && effective > common + common / 20
               ? effective
               : common;
}

char *
quality_rate(const struct profile *profile, char *text, size_t size)
{
    const struct profile_cost *cost = &profile->cost;
    struct line line = {text, size, 0};
    text[0] = '\0';
    if (rate_wanted(&cost->rate) == 0)
        return text;
    line_add(&line, "%llu sample%s in %.3f s of CPU: ",
             (unsigned long long)cost->taken, number_plural(cost->taken),
             number_seconds(cost->rate.cpu));
    struct text rest;
    text_begin(&rest, text + line.length, size - line.length);
    rate_tell(&rest, &cost->rate, quality_wanted_rate(profile), cost->taken,
              sum_losses(cost), 0);
    return text;
}

char *
quality_short_rate(const struct profile *profile, char *text, size_t size,
                   size_t room)
{
    const struct profile_cost *cost = &profile->cost;
    const struct rate part = {.cpu = profile->totals[VALUE_CPU]};
    struct text rate;
    text_begin(&rate, text, size);
    if (profile->filter == NULL) {
        if (rate_wanted(&cost->rate) != 0)
            rate_tell(&rate, &cost->rate, quality_wanted_rate(profile),
                      cost->taken, sum_losses(cost), room != 0 ? room : 1);
        return text;
    }
    uint64_t looks, ran = quality_count(profile, &looks);
    if (ran > 0 && part.cpu > 0) {
        text_add_grouped(&rate, rate_reached(&part, ran));
        text_add(&rate, " a CPU second");
    }
    return text;
}

char *
quality_due(const struct profile *profile, char *text, size_t size)
{
    const struct profile_cost *cost = &profile->cost;
    struct line line = {text, size, 0};
    uint64_t asked = cost->taken;
    text[0] = '\0';
    if (rate_wanted(&cost->rate) == 0)
        return text;
    sum_add(&asked, sum_losses(cost));
    uint64_t unasked[LIMIT_COUNT];
    uint64_t due = rate_points(&cost->rate, asked, unasked);
    line_add(&line,
             "%llu point%s in %.6f s: %llu taken, %llu lost, %llu not asked",
             (unsigned long long)due, number_plural(due),
             number_seconds(cost->rate.cpu / 1000 * 1000),
             (unsigned long long)cost->taken,
             (unsigned long long)sum_losses(cost),
             (unsigned long long)(due - asked));
    add_causes(&line, unasked, 0, LIMIT_COUNT, limit_word);
    return text;
}

/* CUT_NONE counts the complete stacks, so the first cause is CUT_NONE + 1. */
char *
quality_cuts(const struct profile *profile, char *text, size_t size)
{
    const struct profile_cost *cost = &profile->cost;
    struct line line = {text, size, 0};
    uint64_t cut = 0, walked = cost->taken;
    for (unsigned i = CUT_NONE + 1; i < CUT_COUNT; i++)
        sum_add(&cut, cost->cut[i]);
    sum_add(&walked, cost->peeked);
    add_share(&line, cut, walked, walked == 1 ? "stack" : "stacks");
    add_causes(&line, cost->cut, CUT_NONE + 1, CUT_COUNT, cut_word);
    return text;
}

/* The counters of a killed process are old, so its samples may have more CPU
 * time than the counters. */
double
quality_cost_share(const struct profile *profile, uint64_t *of, bool *is_wall)
{
    const struct profile_cost *cost = &profile->cost;
    uint64_t seen = profile->filter != NULL ? profile->whole[VALUE_CPU]
                                            : profile->totals[VALUE_CPU];
    sum_add(&seen, cost->sampler_cpu);
    *of = seen > cost->process_cpu ? seen : cost->process_cpu;
    *is_wall = *of < profile->duration / 100 * WAITS_PERCENT;
    if (*is_wall)
        *of = profile->duration;
    return number_percent(cost->sampler_cpu, *of);
}

char *
quality_cost(const struct profile *profile, char *text, size_t size)
{
    const struct profile_cost *cost = &profile->cost;
    uint64_t of;
    bool is_wall;
    double percent = quality_cost_share(profile, &of, &is_wall);
    snprintf(text, size,
             "sampler %.3f s CPU, %.1f %% of %.3f s%s; threads stopped %.3f s; "
             "%llu parked (%.2f %%)",
             number_seconds(cost->sampler_cpu), percent, number_seconds(of),
             is_wall ? " that passed" : "", number_seconds(cost->stopped),
             (unsigned long long)cost->parked,
             number_percent(cost->parked, cost->taken));
    return text;
}

char *
quality_unseen(const struct profile *profile, char *text, size_t size)
{
    const struct profile_cost *cost = &profile->cost;
    text[0] = '\0';
    if (cost->unseen_cpu == 0)
        return text;
    char processes[32] = "the process";
    bool is_recorder = false;
    for (uint32_t i = 0; i < profile->process_count; i++)
        is_recorder |= profile->processes[i].keep != 0;
    if (profile->process_count > 1)
        snprintf(processes, sizeof(processes), "each of %u processes",
                 profile->process_count);
    snprintf(text, size,
             "%.3f s CPU, %.1f %% of %.3f s: %safter the last look at %s "
             "(exit), while sampling was off, or without the library",
             number_seconds(cost->unseen_cpu),
             number_percent(cost->unseen_cpu, cost->tree_cpu),
             number_seconds(cost->tree_cpu),
             is_recorder ? "before what SPROF_KEEP left, " : "", processes);
    return text;
}

/* The sampler and a target thread may share a CPU. The scheduler may then let a
 * short burst of the thread end before the sampler runs. A thread that is
 * interrupted by its own timer does not depend on the scheduler. */
char *
quality_asked(const struct profile *profile, char *text, size_t size)
{
    snprintf(text, size, "%s",
             profile->triggers[TRIGGER_ASK] == 0
                 ? ""
                 : "running threads were asked by the sampler's signal; on a "
                   "CPU shared with it short bursts of work are "
                   "under-represented");
    return text;
}

char *
quality_sums(const struct profile *profile, char *text, size_t size)
{
    const struct profile_cost *cost = &profile->cost;
    text[0] = '\0';
    if (cost->wrong != 0)
        snprintf(
            text, size,
            "CPU time does not add up in %llu process%s, and may be wrong: "
            "samples %.3f s, threads %.3f s, due %.3f s, process %.3f s",
            (unsigned long long)cost->wrong, cost->wrong == 1 ? "" : "es",
            number_seconds(cost->wrong_samples),
            number_seconds(cost->wrong_threads),
            number_seconds(cost->wrong_due),
            number_seconds(cost->wrong_process));
    return text;
}

char *
quality_times(const struct profile *profile, char *text, size_t size)
{
    snprintf(text, size, "%s",
             !profile->has_no_times
                 ? ""
                 : "invented: the samples came from a file that does not say "
                   "when they were taken, and are drawn one after the other");
    return text;
}

/* The time is in UTC, so that a report is the same in every time zone. */
char *
quality_time(const struct profile *profile, char *text, size_t size)
{
    time_t seconds = (time_t)(profile->start / 1000000000u);
    char date[64] = "";
    struct tm broken;
    if (gmtime_r(&seconds, &broken) != NULL)
        strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &broken);
    snprintf(text, size, "%s, %.3f s", date, number_seconds(profile->duration));
    return text;
}

/* A parent has a smaller number than its children, so one pass over the nodes
 * is enough. */
int
quality_sum_guessed(const struct profile *profile, uint64_t values[VALUE_COUNT])
{
    bool *has = calloc(profile->node_count + 1ul, sizeof(*has));
    for (unsigned i = 0; i < VALUE_COUNT; i++)
        values[i] = 0;
    if (has == NULL)
        return -1;
    for (uint32_t i = 1; i < profile->node_count; i++)
        has[i] = (profile->nodes[i].flags & NODE_GUESSED) != 0 ||
                 has[profile->nodes[i].parent];
    for (uint32_t i = 0; i < profile->sample_count; i++)
        for (unsigned j = 0; has[profile->samples[i].node] && j < VALUE_COUNT;
             j++)
            sum_add(&values[j], profile->samples[i].values[j]);
    free(has);
    return 0;
}

/* NAME_SIZE: bytes for "sampler_cpu ", or for a key and a word of base/loss.h.
 */
enum { NAME_SIZE = 32 };

/* The counters as a line of text: one table serves writing and reading. */
static const struct kind {
    const char *key;
    size_t at;      /* offset of the first counter in struct counters */
    unsigned count; /* of counters */
    const char *(*word)(unsigned); /* the second part of a name; NULL: none */
} kinds[] = {
#define COUNTER(key, field)                            \
    {                                                  \
        key, offsetof(struct counters, field), 1, NULL \
    }
    COUNTER("asked", cost.asked),
    COUNTER("taken", cost.taken),
    COUNTER("parked", cost.parked),
    COUNTER("missed", cost.missed),
    COUNTER("peeked", cost.peeked),
    COUNTER("process_cpu", cost.process_cpu),
    COUNTER("sampler_cpu", cost.sampler_cpu),
    COUNTER("stopped", cost.stopped),
    COUNTER("tree_cpu", cost.tree_cpu),
    COUNTER("unseen_cpu", cost.unseen_cpu),
    COUNTER("wrong", cost.wrong),
    COUNTER("wrong_samples", cost.wrong_samples),
    COUNTER("wrong_threads", cost.wrong_threads),
    COUNTER("wrong_due", cost.wrong_due),
    COUNTER("wrong_process", cost.wrong_process),
    COUNTER("rate_cpu", cost.rate.cpu),
    COUNTER("tick", cost.rate.tick),
    COUNTER("by_signal", by_signal),
#undef COUNTER
    {"lost", offsetof(struct counters, cost.lost), LOSS_COUNT, loss_word},
    {"cut", offsetof(struct counters, cost.cut), CUT_COUNT, cut_word},
    {"due", offsetof(struct counters, cost.rate.due), LIMIT_COUNT, limit_word},
    {"sampled", offsetof(struct counters, cost.rate.taken), LIMIT_COUNT,
     limit_word},
};

enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

/* Write "lost exited " for counter I of KIND. Returns its length. */
static size_t
name_counter(const struct kind *kind, unsigned i, char name[NAME_SIZE])
{
    bool has_word = kind->word != NULL;
    return (size_t)snprintf(name, NAME_SIZE, "%s%s%s ", kind->key,
                            has_word ? " " : "", has_word ? kind->word(i) : "");
}

char *
quality_write_counters(const struct counters *counters, char *text)
{
    size_t length = 0;
    text[0] = '\0';
    for (unsigned k = 0; k < KIND_COUNT; k++) {
        const uint64_t *values =
            (const uint64_t *)((const char *)counters + kinds[k].at);
        for (unsigned i = 0; i < kinds[k].count; i++) {
            char name[NAME_SIZE];
            if (values[i] == 0)
                continue;
            name_counter(&kinds[k], i, name);
            length +=
                (size_t)snprintf(text + length, QUALITY_COUNTERS_SIZE - length,
                                 "%s%s%llu", length > 0 ? ", " : "", name,
                                 (unsigned long long)values[i]);
        }
    }
    return text;
}

/* Set the counter that TEXT, "lost exited 2, ...", begins with. A number beyond
 * INT64_MAX is damage. */
static void
read_counter(struct counters *counters, const char *text)
{
    for (unsigned k = 0; k < KIND_COUNT; k++) {
        uint64_t *values = (uint64_t *)((char *)counters + kinds[k].at);
        for (unsigned i = 0; i < kinds[k].count; i++) {
            char name[NAME_SIZE];
            size_t length = name_counter(&kinds[k], i, name);
            if (strncmp(text, name, length) != 0)
                continue;
            uint64_t value = strtoull(text + length, NULL, 10);
            values[i] = value <= INT64_MAX ? value : 0;
        }
    }
}

void
quality_read_counters(struct counters *counters, const char *text)
{
    *counters = (struct counters){0};
    while (text != NULL) {
        read_counter(counters, text);
        text = strstr(text, ", ");
        text = text != NULL ? text + 2 : NULL;
    }
}
