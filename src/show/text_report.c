/* SPDX-License-Identifier: MIT */
/*
 * text_report.c -- prints a profile. From three stacks of ./app, sampled
 *
 *   main -> work        3 times, 3 ms of CPU, 3 ms of wall time
 *   main -> work        2 times, 2 ms, 2 ms
 *   main -> read        5 times, 0 ms, 5 ms
 *
 * it makes exactly (the head is shortened)
 *
 *   command  ./app
 *   ...
 *    cpu flat      %   cpu cum      %  wall flat   wall cum  function
 *       0.005  100.0     0.005  100.0      0.005      0.005  work (app)
 *       0.000    0.0     0.005  100.0      0.000      0.010  main (app)
 *       0.000    0.0     0.000    0.0      0.005      0.005  read (libc.so.6)
 *
 * Times are in seconds. Percentages are of all CPU time; if the table is sorted
 * by wall time, they are of all wall time.
 */
#include <errno.h>
#include <stdarg.h>

#include "model/naming.h"
#include "model/quality.h"
#include "model/spending.h"
#include "util/number.h"
#include "truncate.h"
#include "text_report.h"

enum { FEW_PROCESSES = 3 };

/* Print one line of at most COLUMNS; WORD is its subject. */
__attribute__((format(printf, 4, 5))) static void
print_line(FILE *stream, unsigned columns, const char *word, const char *format,
           ...)
{
    va_list arguments;
    va_start(arguments, format);
    char text[1024];
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(stream, "%-9s", word);
    truncate_text(stream, text, columns > 20 ? columns - 9 : columns);
    fputc('\n', stream);
}

/* Usually there is one process. If there are several, the other lines are sums
 * over them. */
static void
print_processes(FILE *stream, const struct profile *profile, uint32_t count,
                unsigned columns)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct profile_process *process = &profile->processes[i];
        print_line(stream, columns, "command", "%s", process->command);
        print_line(stream, columns, "process", "%u on %s, %s", process->pid,
                   process->host[0] != '\0' ? process->host : "unknown host",
                   process->exe);
    }
    if (count < profile->process_count)
        print_line(stream, columns, "", "and %u processes more",
                   profile->process_count - count);
}

/* Print what the filter is, and what it leaves. */
static void
print_filter(FILE *stream, const struct profile *profile, unsigned columns)
{
    const uint64_t *totals = profile->totals, *whole = profile->whole;
    if (profile->filter == NULL)
        return;
    print_line(stream, columns, "filter", "%s", profile->filter);
    print_line(stream, columns, "",
               "leaves %.1f %% of %.3f s CPU, %.1f %% of %.3f s wall time",
               number_percent(totals[VALUE_CPU], whole[VALUE_CPU]),
               number_seconds(whole[VALUE_CPU]),
               number_percent(totals[VALUE_WALL], whole[VALUE_WALL]),
               number_seconds(whole[VALUE_WALL]));
}

/* Print what a flight recorder kept of each process, if anything is missing. */
static void
print_kept(FILE *stream, const struct profile *profile, unsigned columns)
{
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        if (process->begin == 0)
            continue;
        print_line(stream, columns, "kept",
                   "the last %.3f s of %.3f s (SPROF_KEEP is %.3f s)",
                   number_seconds(process->duration),
                   number_seconds(process->begin + process->duration),
                   number_seconds(process->keep));
    }
}

/* Most programs have few stacks with a guessed caller, or none. */
static void
print_guessed(FILE *stream, const struct profile *profile, unsigned columns)
{
    const uint64_t *totals = profile->totals;
    uint64_t values[VALUE_COUNT];
    if (quality_sum_guessed(profile, values) == 0 && values[VALUE_SAMPLES] > 0)
        print_line(stream, columns, "guessed",
                   "%.1f %% of CPU time, %.1f %% of wall time: a caller was "
                   "found by a search of the stack",
                   number_percent(values[VALUE_CPU], totals[VALUE_CPU]),
                   number_percent(values[VALUE_WALL], totals[VALUE_WALL]));
}

/* Print all but the processes. Lost, cut and cost are of the whole run. */
static void
print_rest(FILE *stream, const struct profile *profile, unsigned columns)
{
    const uint64_t *totals = profile->totals;
    uint32_t threads = profile_busy_threads(profile);
    char text[512];
    print_line(stream, columns, "time", "%s",
               quality_time(profile, text, sizeof(text)));
    print_kept(stream, profile, columns);
    print_filter(stream, profile, columns);
    print_line(stream, columns, "samples", "%llu of %u thread%s",
               (unsigned long long)totals[VALUE_SAMPLES], threads,
               number_plural(threads));
    print_line(stream, columns, "totals", "%.3f s CPU, %.3f s wall time",
               number_seconds(totals[VALUE_CPU]),
               number_seconds(totals[VALUE_WALL]));
    if (quality_unseen(profile, text, sizeof(text))[0] != '\0')
        print_line(stream, columns, "unseen", "%s", text);
    if (quality_rate(profile, text, sizeof(text))[0] != '\0')
        print_line(stream, columns, "rate", "%s", text);
    if (spending_rates(profile, text, sizeof(text))[0] != '\0')
        print_line(stream, columns, "epochs", "%s", text);
    print_line(stream, columns, "lost", "%s",
               quality_losses(profile, text, sizeof(text)));
    print_line(stream, columns, "cut", "%s",
               quality_cuts(profile, text, sizeof(text)));
    print_guessed(stream, profile, columns);
    print_line(stream, columns, "cost", "%s",
               quality_cost(profile, text, sizeof(text)));
    if (quality_asked(profile, text, sizeof(text))[0] != '\0')
        print_line(stream, columns, "note", "%s", text);
}

void
text_report_head(FILE *stream, const struct profile *profile)
{
    print_processes(stream, profile, profile->process_count, 0);
    print_rest(stream, profile, 0);
}

void
text_report_short_head(FILE *stream, const struct profile *profile,
                       unsigned columns)
{
    uint32_t count = profile->process_count;
    if (count > FEW_PROCESSES + 1)
        count = FEW_PROCESSES;
    print_processes(stream, profile, count, columns);
    print_rest(stream, profile, columns);
}

int
text_report_table(FILE *stream, struct profile *profile,
                  const struct text_report_options *options)
{
    struct table table;
    if (table_build_by(&table, profile, options->by, options->value) != 0)
        return -1;
    table_text_write(stream, profile, &table, options);
    table_release(&table);
    return 0;
}

void
text_report_notes(FILE *stream, const struct profile *profile)
{
    uint32_t last = 0;
    for (uint32_t i = 1; i < profile->module_count; i++) {
        uint32_t symbols = profile->modules[i].symbols;
        const char *problem = symbolizer_problem(profile->symbols, symbols);
        /* Ids of files grow, so an id that is not larger was handled before. */
        if (problem != NULL && symbols > last)
            fprintf(stream, "note: %s\n", problem);
        if (symbols > last)
            last = symbols;
    }
    for (uint32_t i = 0; i < profile->process_count; i++)
        if (naming_problem(profile, i) != NULL)
            fprintf(stream, "note: %s\n", naming_problem(profile, i));
}

int
text_report_write(FILE *stream, struct profile *profile)
{
    const struct text_report_options options = {.value = VALUE_CPU};
    text_report_head(stream, profile);
    fputc('\n', stream);
    if (text_report_table(stream, profile, &options) != 0)
        return -1;
    text_report_notes(stream, profile);
    return ferror(stream) != 0 ? -1 : 0;
}
