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
 * Times are seconds; percentages are of all CPU time, or of all wall time when
 * that is what the table is sorted by.
 */
#include "text_report.h"

#include <errno.h>
#include <string.h>

#include "profile/generated.h"
#include "profile/table.h"

#include "phrase.h"

enum { FILE_COLUMNS = 100, NUMBER_COLUMNS = 57, NAME_LEAST = 16 };

/* Usually one; with several the other lines are sums over them. */
static void
print_processes(FILE *stream, const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        fprintf(stream, "command  %s\n", process->command);
        fprintf(stream, "process  %u on %s, %s\n", process->pid,
                process->host[0] != '\0' ? process->host : "unknown host",
                process->exe);
    }
}

void
text_report_head(FILE *stream, const struct profile *profile)
{
    const uint64_t *totals = profile->totals;
    char text[512];

    print_processes(stream, profile);
    fprintf(stream, "time     %s\n", phrase_time(profile, text, sizeof text));
    fprintf(stream, "samples  %llu of %u threads",
            (unsigned long long)totals[VALUE_SAMPLES],
            profile_busy_threads(profile));
    if (profile->process_count > 0 && profile->processes[0].period > 0)
        fprintf(stream, ", %.0f a second for each",
                1e9 / (double)profile->processes[0].period);
    fprintf(stream, "\ntotals   %.3f s CPU, %.3f s wall time\n",
            phrase_seconds(totals[VALUE_CPU]),
            phrase_seconds(totals[VALUE_WALL]));
    fprintf(stream, "lost     %s\n", phrase_losses(profile, text, sizeof text));
    fprintf(stream, "cut      %s\n", phrase_cuts(profile, text, sizeof text));
    fprintf(stream, "cost     %s\n", phrase_cost(profile, text, sizeof text));
    if (phrase_asked(profile, text, sizeof text)[0] != '\0')
        fprintf(stream, "note     %s\n", text);
}

/* Print the function and its module in at most COLUMNS (0: any number). */
static void
print_name(FILE *stream, const struct table_row *row, unsigned columns)
{
    bool module = row->module[0] != '\0';
    const char *open = module ? " (" : "", *close = module ? ")" : "";
    char name[512];
    int length;

    if (columns == 0) {
        fprintf(stream, "%s%s%s%s\n", row->function, open, row->module, close);
        return;
    }
    length = snprintf(name, sizeof name, "%s%s%s%s", row->function, open,
                      row->module, close);
    if (columns >= sizeof name)
        columns = sizeof name - 1;
    if (length > (int)columns) {
        /* Cut where a character begins. */
        length = (int)columns - 3;
        while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
            length--;
        strcpy(name + length, "...");
    }
    fprintf(stream, "%s\n", name);
}

/* One function. What the table is sorted by comes first, with percentages. */
static void
print_row(FILE *stream, const struct table_row *row, uint64_t whole,
          const struct text_report_options *options)
{
    enum value first = options->value;
    enum value second = first == VALUE_CPU ? VALUE_WALL : VALUE_CPU;
    unsigned columns = options->columns;

    if (columns > 0)
        columns = columns > NUMBER_COLUMNS + NAME_LEAST
                      ? columns - NUMBER_COLUMNS
                      : NAME_LEAST;
    fprintf(stream, "%9.3f  %5.1f %9.3f  %5.1f  %9.3f  %9.3f  ",
            phrase_seconds(row->flat[first]),
            phrase_percent(row->flat[first], whole),
            phrase_seconds(row->cumulative[first]),
            phrase_percent(row->cumulative[first], whole),
            phrase_seconds(row->flat[second]),
            phrase_seconds(row->cumulative[second]));
    print_name(stream, row, columns);
}

int
text_report_table(FILE *stream, struct profile *profile,
                  const struct text_report_options *options)
{
    uint64_t whole = profile->totals[options->value];
    uint32_t rows = options->rows;
    struct table table;

    if (table_build(&table, profile, options->value) < 0)
        return -1;
    if (rows == 0 || rows > table.count)
        rows = table.count;
    if (options->value == VALUE_CPU)
        fputs(" cpu flat      %   cpu cum      %  wall flat   wall cum"
              "  function\n",
              stream);
    else
        fputs("wall flat      %  wall cum      %   cpu flat    cpu cum"
              "  function\n",
              stream);
    for (uint32_t i = 0; i < rows; i++)
        print_row(stream, &table.rows[i], whole, options);
    if (rows < table.count)
        fprintf(stream, "(%u more functions; -n 0 shows all)\n",
                table.count - rows);
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
        /* The ids of files grow, so one that is not larger was there. */
        if (problem != NULL && symbols > last)
            fprintf(stream, "note: %s\n", problem);
        if (symbols > last)
            last = symbols;
    }
    for (uint32_t i = 0; i < profile->process_count; i++)
        if (generated_problem(profile, i) != NULL)
            fprintf(stream, "note: %s\n", generated_problem(profile, i));
}

int
text_report_write(FILE *stream, struct profile *profile)
{
    const struct text_report_options options = {.value = VALUE_CPU,
                                                .columns = FILE_COLUMNS};

    text_report_head(stream, profile);
    fputc('\n', stream);
    if (text_report_table(stream, profile, &options) < 0)
        return -1;
    text_report_notes(stream, profile);
    return ferror(stream) != 0 ? -1 : 0;
}
