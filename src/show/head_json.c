/* SPDX-License-Identifier: MIT */
/* head_json.c -- see head_json.h. */
#include <inttypes.h>

#include "util/quote.h"
#include "head_json.h"

/* Print a member with a text. */
static void
print_text(FILE *stream, const char *key, const char *text)
{
    fprintf(stream, "\"%s\": ", key);
    quote_json(stream, text);
    fputs(", ", stream);
}

static void
print_processes(FILE *stream, const struct profile *profile)
{
    fputs("\"processes\": [", stream);
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        fprintf(stream, "%s\n{\"pid\": %u, ", i > 0 ? "," : "", process->pid);
        print_text(stream, "exe", process->exe);
        print_text(stream, "command", process->command);
        print_text(stream, "host", process->host);
        fprintf(stream,
                "\"start_ns\": %" PRIu64 ", \"duration_ns\": %" PRIu64
                ", \"ended\": %s}",
                process->start, process->duration,
                process->ended ? "true" : "false");
    }
    fputs("\n],\n", stream);
}

/* Times are in nanoseconds, as in all data for programs. */
static void
print_totals(FILE *stream, const char *key, const uint64_t *totals)
{
    fprintf(stream,
            "\"%s\": {\"cpu_ns\": %" PRIu64 ", \"wall_ns\": %" PRIu64
            ", \"samples\": %" PRIu64 "},\n",
            key, totals[VALUE_CPU], totals[VALUE_WALL], totals[VALUE_SAMPLES]);
}

/* Print the counters that are not 0, from FIRST on. */
static void
print_causes(FILE *stream, const char *key, const uint64_t *counters,
             unsigned first, unsigned count, const char *(*word)(unsigned))
{
    const char *separator = "";
    fprintf(stream, "\"%s\": {", key);
    for (unsigned i = first; i < count; i++) {
        if (counters[i] == 0)
            continue;
        fprintf(stream, "%s\"%s\": %" PRIu64, separator, word(i), counters[i]);
        separator = ", ";
    }
    fputs("},\n", stream);
}

/* Print the sample points that were due, those that were not asked for, and the
 * rate that was reached; null if they are unknown. */
static void
print_rate(FILE *stream, const struct profile_cost *cost)
{
    if (rate_wanted(&cost->rate) == 0) {
        fputs("\"due\": null, \"unasked\": null, \"reached_hz\": null,\n",
              stream);
        return;
    }
    uint64_t unasked[LIMIT_COUNT];
    uint64_t due = rate_points(&cost->rate, cost->asked, unasked);
    fprintf(stream, "\"due\": %" PRIu64 ", \"reached_hz\": %" PRIu64 ",\n", due,
            rate_reached(&cost->rate, cost->taken));
    print_causes(stream, "unasked", unasked, 0, LIMIT_COUNT, limit_word);
}

void
head_json_write(FILE *stream, const struct profile *profile)
{
    const struct profile_cost *cost = &profile->cost;
    print_processes(stream, profile);
    fprintf(stream,
            "\"start_ns\": %" PRIu64 ", \"duration_ns\": %" PRIu64
            ",\n\"filter\": ",
            profile->start, profile->duration);
    if (profile->filter != NULL)
        quote_json(stream, profile->filter);
    else
        fputs("null", stream);
    fputs(",\n", stream);
    print_totals(stream, "totals", profile->totals);
    print_totals(stream, "unfiltered",
                 profile->filter != NULL ? profile->whole : profile->totals);
    fprintf(stream, "\"asked\": %" PRIu64 ", \"taken\": %" PRIu64 ",\n",
            cost->asked, cost->taken);
    print_rate(stream, cost);
    if (cost->unseen_cpu > 0)
        fprintf(stream,
                "\"unseen_cpu_ns\": %" PRIu64 ", \"tree_cpu_ns\": %" PRIu64
                ",\n",
                cost->unseen_cpu, cost->tree_cpu);
    print_causes(stream, "lost", cost->lost, 0, LOSS_COUNT, loss_word);
    print_causes(stream, "cut", cost->cut, CUT_NONE + 1, CUT_COUNT, cut_word);
}
