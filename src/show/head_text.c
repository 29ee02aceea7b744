/* SPDX-License-Identifier: MIT */
/*
 * head_text.c -- prints, for a profile without a filter,
 *
 *   command  ./app, 2.466 s from 2026-11-21 18:19:17 UTC
 *   samples  4099 of 2 threads: 0.700 s CPU, 4.894 s wall; 985 a CPU second ...
 *   lost     none of 675 asked; cut none of 675 stacks; cost 5.4 % CPU
 *
 * With a filter the second line is
 *
 *   filter   --thread a: 2050 of 1 thread, 0.441 of 0.700 s CPU, ...
 *
 * Unseen CPU time stands behind the cost, if it is known. Lost, cut, cost and
 * unseen are of the whole run.
 */
#include <string.h>

#include "model/quality.h"
#include "util/number.h"
#include "truncate.h"
#include "text_report.h"

/* Bytes of a line: a longer command is cut. Columns of the word in front of it.
 */
enum { LINE_SIZE = 1024, WORD_COLUMNS = 9 };

/* Columns that the line of samples should not exceed. */
enum { COLUMNS = 100 };

static void
print_line(FILE *stream, unsigned columns, const char *word, const char *text)
{
    fprintf(stream, "%-9s", word);
    truncate_text(stream, text,
                  columns > 2 * WORD_COLUMNS ? columns - WORD_COLUMNS
                                             : columns);
    fputc('\n', stream);
}

/* The file of a flight recorder has only the end of a run. */
static void
print_command(FILE *stream, const struct profile *profile, unsigned columns)
{
    const struct profile_process *process = profile->processes;
    char others[64] = "", kept[96] = "", time[128];
    quality_time(profile, time, sizeof(time));
    const char *when = strrchr(time, ',');
    if (profile->process_count > 1)
        snprintf(others, sizeof(others), " and %u process%s more",
                 profile->process_count - 1,
                 profile->process_count == 2 ? "" : "es");
    if (profile->process_count > 0 && process->begin != 0)
        snprintf(kept, sizeof(kept), ", the last %.3f s of %.3f s",
                 number_seconds(process->duration),
                 number_seconds(process->begin + process->duration));
    char line[LINE_SIZE];
    snprintf(line, sizeof(line), "%.600s%s%s, %.3f s from %.*s",
             profile->process_count > 0 ? process->command : "(no process)",
             others, kept, number_seconds(profile->duration),
             when != NULL ? (int)(when - time) : (int)strlen(time), time);
    print_line(stream, columns, "command", line);
}

/* Add the rate behind the LENGTH bytes of LINE, if it is known: "; 985 a CPU
 * second of 1,000 asked". It has as many reasons as fit; `sprofile info` has
 * all reasons. */
static void
add_rate(char *line, size_t length, const struct profile *profile)
{
    char rate[256];
    size_t used = WORD_COLUMNS + length + strlen("; ");
    quality_short_rate(profile, rate, sizeof(rate),
                       used < COLUMNS ? COLUMNS - used : 0);
    if (rate[0] != '\0')
        snprintf(line + length, LINE_SIZE - length, "; %s", rate);
}

static void
print_samples(FILE *stream, const struct profile *profile, unsigned columns)
{
    const uint64_t *totals = profile->totals, *whole = profile->whole;
    unsigned threads = profile_busy_threads(profile);
    const char *plural = number_plural(threads);
    unsigned long long samples = totals[VALUE_SAMPLES];
    char line[LINE_SIZE];
    if (profile->filter == NULL) {
        snprintf(line, sizeof(line),
                 "%llu of %u thread%s: %.3f s CPU, %.3f s wall", samples,
                 threads, plural, number_seconds(totals[VALUE_CPU]),
                 number_seconds(totals[VALUE_WALL]));
        add_rate(line, strlen(line), profile);
    } else {
        snprintf(line, sizeof(line),
                 "%.500s: %llu of %u thread%s, %.3f of %.3f s CPU, %.3f of "
                 "%.3f s wall time",
                 profile->filter, samples, threads, plural,
                 number_seconds(totals[VALUE_CPU]),
                 number_seconds(whole[VALUE_CPU]),
                 number_seconds(totals[VALUE_WALL]),
                 number_seconds(whole[VALUE_WALL]));
    }
    print_line(stream, columns, profile->filter == NULL ? "samples" : "filter",
               line);
}

static void
print_quality(FILE *stream, const struct profile *profile, unsigned columns)
{
    const struct profile_cost *cost = &profile->cost;
    char unseen[64] = "";
    if (cost->unseen_cpu > 0)
        snprintf(unseen, sizeof(unseen), "; unseen %.3f s CPU",
                 number_seconds(cost->unseen_cpu));
    char line[LINE_SIZE], losses[300], cuts[300];
    snprintf(line, sizeof(line), "%s; cut %s; cost %.1f %% CPU%s",
             quality_losses(profile, losses, sizeof(losses)),
             quality_cuts(profile, cuts, sizeof(cuts)),
             number_percent(cost->sampler_cpu, cost->process_cpu), unseen);
    print_line(stream, columns, "lost", line);
}

void
head_text_write(FILE *stream, const struct profile *profile, unsigned columns)
{
    print_command(stream, profile, columns);
    print_samples(stream, profile, columns);
    print_quality(stream, profile, columns);
}
