/* SPDX-License-Identifier: MIT */
/*
 * quality.c -- see quality.h. The words for losses, limits and cut stacks come
 * from the tables in base/loss.h. A row that is added there appears in these
 * sentences.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/text.h"
#include "util/number.h"
#include "quality.h"

/* A line of text to which words are added. Text beyond SIZE is cut off. */
struct line {
    char *text;
    size_t size, length;
};

/* Add text to the end of LINE, with a FORMAT as for printf(3). */
__attribute__((format(printf, 2, 3))) static void
add_text(struct line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line->text + line->length, line->size - line->length,
                           format, arguments);
    va_end(arguments);
    if (length > 0)
        line->length += (size_t)length;
    if (line->length >= line->size)
        line->length = line->size - 1;
}

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
        add_text(line, "%s%llu %s", separator, (unsigned long long)counters[i],
                 word(i));
        separator = ", ";
    }
}

/* Add "3 of 12348 asked" to LINE. A reader finds the word "none" more easily
 * than a 0. */
static void
add_share(struct line *line, uint64_t part, uint64_t whole, const char *what)
{
    if (part == 0)
        add_text(line, "none of %llu %s", (unsigned long long)whole, what);
    else
        add_text(line, "%llu of %llu %s", (unsigned long long)part,
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

uint64_t
quality_wanted_rate(const struct profile *profile)
{
    uint64_t period = 0;
    for (uint32_t i = 0; i < profile->process_count; i++) {
        uint64_t other = profile->processes[i].period;
        if (other != 0 && period != 0 && other != period)
            return rate_wanted(&profile->cost.rate);
        period = other != 0 ? other : period;
    }
    return period != 0 ? 1000000000u / period : 0;
}

char *
quality_rate(const struct profile *profile, char *text, size_t size)
{
    const struct profile_cost *cost = &profile->cost;
    struct line line = {text, size, 0};
    text[0] = '\0';
    if (rate_wanted(&cost->rate) == 0)
        return text;
    add_text(&line, "%llu sample%s in %.3f s of CPU: ",
             (unsigned long long)cost->taken, number_plural(cost->taken),
             number_seconds(cost->rate.cpu));
    struct text rest;
    text_begin(&rest, text + line.length, size - line.length);
    rate_tell(&rest, &cost->rate, quality_wanted_rate(profile), cost->taken,
              sum_losses(cost));
    return text;
}

char *
quality_short_rate(const struct profile *profile, char *text, size_t size,
                   size_t room)
{
    const struct profile_cost *cost = &profile->cost;
    struct text rate;
    text_begin(&rate, text, size);
    if (rate_wanted(&cost->rate) != 0)
        rate_tell_in(&rate, &cost->rate, quality_wanted_rate(profile),
                     cost->taken, sum_losses(cost), room);
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
    add_text(&line,
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

char *
quality_cost(const struct profile *profile, char *text, size_t size)
{
    const struct profile_cost *cost = &profile->cost;
    struct line line = {text, size, 0};
    add_text(&line, "sampler %.3f s CPU, %.1f %% of %.3f s; ",
             number_seconds(cost->sampler_cpu),
             number_percent(cost->sampler_cpu, cost->process_cpu),
             number_seconds(cost->process_cpu));
    add_text(&line, "threads stopped %.3f s; ", number_seconds(cost->stopped));
    add_text(&line, "%llu parked (%.2f %%)", (unsigned long long)cost->parked,
             number_percent(cost->parked, cost->taken));
    return text;
}

char *
quality_unseen(const struct profile *profile, char *text, size_t size)
{
    const struct profile_cost *cost = &profile->cost;
    struct line line = {text, size, 0};
    text[0] = '\0';
    if (cost->unseen_cpu == 0)
        return text;
    add_text(&line, "%.3f s CPU, %.1f %% of %.3f s: after the last look at ",
             number_seconds(cost->unseen_cpu),
             number_percent(cost->unseen_cpu, cost->tree_cpu),
             number_seconds(cost->tree_cpu));
    if (profile->process_count > 1)
        add_text(&line, "each of %u processes", profile->process_count);
    else
        add_text(&line, "the process");
    add_text(&line, " (exit), while sampling was off, or without the library");
    return text;
}

/* The sampler and a target thread may share a CPU. The scheduler may then let a
 * short burst of the thread end before the sampler runs. A thread that is
 * interrupted by its own timer does not depend on the scheduler. */
char *
quality_asked(const struct profile *profile, char *text, size_t size)
{
    struct line line = {text, size, 0};
    text[0] = '\0';
    if (profile->triggers[TRIGGER_ASK] > 0)
        add_text(&line,
                 "running threads were asked by the sampler's signal; on a CPU "
                 "shared with it short bursts of work are under-represented");
    return text;
}

char *
quality_times(const struct profile *profile, char *text, size_t size)
{
    struct line line = {text, size, 0};
    text[0] = '\0';
    if (profile->has_no_times)
        add_text(&line,
                 "invented: the samples came from a file that does not tell "
                 "when they were, and stand one behind the other");
    return text;
}

/* The time is in UTC, so that a report is the same in every time zone. */
char *
quality_time(const struct profile *profile, char *text, size_t size)
{
    struct line line = {text, size, 0};
    time_t seconds = (time_t)(profile->start / 1000000000u);
    char date[64] = "";
    struct tm broken;
    if (gmtime_r(&seconds, &broken) != NULL)
        strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &broken);
    add_text(&line, "%s, %.3f s", date, number_seconds(profile->duration));
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
