/* SPDX-License-Identifier: MIT */
/*
 * diff_text.c -- prints, for a program that became slower,
 *
 *   total    +0.500 s CPU, +25.0 %; seconds of each run are compared
 *   old      2.000 s CPU, 2003 points: ./app
 *   new      2.500 s CPU, 2498 points: ./app
 *   test     31 functions, 2 changed by more than noise
 *            (1 % false alarms) and 1 % of all CPU time
 *
 *   slower
 *       old s     new s    change  of old       ±  function
 *       0.500     0.800    +0.300   +60.0   0.051  work (app)
 *
 * The true change lies within ± of the printed one with a probability of 95 %.
 * If nothing is found, two lines say how large a change would have been found,
 * and what helps:
 *
 *   nothing  a function must change by 3.2 % of all CPU time to be seen
 *            to see 1 %, record 21 s, or -F 11000
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/quality.h"
#include "util/intern.h"
#include "util/number.h"
#include "columns.h"
#include "truncate.h"
#include "text_report.h"

/* Least width of a name; most bytes of it. */
enum { NAME_LEAST = 14, NAME_MOST = 64 * 1024 };

/* Bits of the columns that a narrow terminal may lack: all but the change
 * and the name. */
enum { DISPENSABLE = 0x0b };

/* Columns in front of a command in the head, with room for long numbers. */
enum { HEAD_TAKEN = 48 };

/* The highest rate that can be asked for; the part of an asked rate that must
 * be reached for a higher one to help. */
#define RATE_MOST 20000
#define REACHED 0.9

/* The sections and the rows that they show. */
enum section { SLOWER, FASTER, REST };

/* How rows are printed. */
struct listing {
    FILE *stream;
    const struct diff *diff;
    const struct diff_options *test;
    const struct text_report_options *options;
    const struct paint *paint;
};

/* The leaf comes first, so what does not fit is the root's end. */
static void
print_stack(FILE *stream, const struct diff *diff, uint32_t stack,
            unsigned columns)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    const char *separator = "";
    if (memory == NULL)
        return;
    while (stack != INTERN_NONE && ftell(memory) < NAME_MOST) {
        fprintf(memory, "%s%s", separator,
                measure_function(&diff->names,
                                 measure_leaf(&diff->names, stack)));
        stack = measure_below(&diff->names, stack);
        separator = " < ";
    }
    if (fclose(memory) == 0)
        truncate_text(stream, text, columns);
    free(text);
}

void
diff_text_name(FILE *stream, const struct diff *diff,
               const struct diff_row *row, enum measure_by by, unsigned columns)
{
    if (by == MEASURE_STACK)
        print_stack(stream, diff, row->number, columns);
    else
        truncate_function(stream, measure_function(&diff->names, row->number),
                          measure_module(&diff->names, row->number), columns);
}

static void
print_side(const struct listing *listing, const char *word,
           const struct profile *profile, double points)
{
    enum value value = listing->test->value;
    const char *command = profile->process_count > 0
                              ? profile->processes[0].command
                              : "(no process)";
    fprintf(listing->stream, "%-9s%.3f s %s, %.0f point%s: ", word,
            number_seconds(profile->totals[value]),
            value == VALUE_CPU ? "CPU" : "wall time", points,
            number_plural((uint64_t)(points + 0.5)));
    if (profile->process_count > 1)
        fprintf(listing->stream, "%u processes, ", profile->process_count);
    truncate_text(listing->stream, command,
                  listing->options->columns > HEAD_TAKEN
                      ? listing->options->columns - HEAD_TAKEN
                      : listing->options->columns);
    fputc('\n', listing->stream);
    if (profile->filter != NULL)
        fprintf(listing->stream, "         %s\n", profile->filter);
}

static const char *
time_word(const struct listing *listing)
{
    return listing->test->value == VALUE_CPU ? "CPU" : "wall";
}

/* Print how much the total changed, and what the rows below compare. */
static void
print_total(const struct listing *listing)
{
    const struct diff_row *total = &listing->diff->total;
    double change = total->new - total->old;
    const char *what = listing->test->absolute
                           ? "seconds of each run are compared"
                           : "shares of the totals are compared";
    text_report_line(listing->stream, listing->options->columns, "total",
                     "%+.3f s %s, %+.1f %%; %s", change / 1e9,
                     listing->test->value == VALUE_CPU ? "CPU" : "wall time",
                     total->old > 0 ? 100 * change / total->old : 0, what);
}

/* NUMBER with two digits that count, rounded up. */
static double
rounded_up(double number)
{
    double step = 1;
    while (number / step >= 100)
        step *= 10;
    while (number / step < 10)
        step /= 10;
    return ceil(number / step) * step;
}

/* Print what to record for FACTOR times as many points, with which AIM percent
 * are seen: a longer time than PROFILE's, or a higher rate where it has the one
 * that was asked for. */
static void
print_advice(const struct listing *listing, const struct profile *profile,
             double aim, double factor)
{
    const struct profile_cost *cost = &profile->cost;
    double wanted = (double)quality_wanted_rate(profile);
    double reached = (double)rate_reached(&cost->rate, cost->taken);
    double rate = wanted > 0 ? rounded_up(wanted * factor) : 0;
    double seconds = rounded_up(number_seconds(profile->duration) * factor);
    fprintf(listing->stream, "         to see %.2g %%, record %.*f s", aim,
            seconds < 1 ? 2 : seconds < 10, seconds);
    if (listing->test->value == VALUE_CPU && rate > 0 && rate <= RATE_MOST &&
        reached >= REACHED * wanted)
        fprintf(listing->stream, ", or -F %.0f", rate);
    fputc('\n', listing->stream);
}

/* Print how large a change of the whole would have been found. Unless that is
 * small enough, print what would show a smaller one. The number of points grows
 * with the square, so the aim is at least a quarter. */
static void
print_seen(const struct listing *listing, const struct profile *old,
           const struct profile *new)
{
    const struct diff *diff = listing->diff;
    const struct profile *longer = old->duration > new->duration ? old : new;
    if (diff->total.old <= 0 || diff->seen <= 0)
        return;
    double seen = 100 * diff->seen / diff->total.old;
    double aim = fmax(listing->test->least, seen / 4);
    fprintf(listing->stream,
            "nothing  a %s must change by %.*f %% of all %s time to be seen\n",
            listing->test->by == MEASURE_STACK ? "stack" : "function",
            seen < 10, seen, time_word(listing));
    if (seen > aim && longer->duration > 0)
        print_advice(listing, longer, aim, seen * seen / aim / aim);
}

static void
print_head(const struct listing *listing, const struct profile *old,
           const struct profile *new)
{
    const struct diff *diff = listing->diff;
    uint32_t changed = 0;
    for (uint32_t i = 0; i < diff->count; i++)
        changed += diff->rows[i].is_significant;
    print_total(listing);
    print_side(listing, "old", old, diff->old_points);
    print_side(listing, "new", new, diff->new_points);
    if (!listing->test->absolute)
        fprintf(listing->stream,
                "scale    new times x %.4f, so both have the same total\n",
                diff->factor);
    fprintf(listing->stream,
            "test     %u %s, %u changed by more than noise\n"
            "         (%g %% false alarms) and %g %% of all %s time\n",
            diff->tested,
            listing->test->by == MEASURE_STACK ? "stacks" : "functions",
            changed, 100 * listing->test->level, listing->test->least,
            time_word(listing));
    if (changed == 0)
        print_seen(listing, old, new);
}

static bool
is_in_section(const struct diff_row *row, enum section section)
{
    if (section == REST)
        return !row->is_significant;
    return row->is_significant && (row->change > 0) == (section == SLOWER);
}

static void
print_row(struct columns *columns, const struct listing *listing,
          const struct diff_row *row)
{
    const struct paint *paint = listing->paint;
    const char *colour = !row->is_significant ? ""
                         : row->change > 0    ? paint->hot
                                              : paint->warm;
    columns_print(columns, "", "%.3f", row->old / 1e9);
    columns_print(columns, "", "%.3f", row->new_scaled / 1e9);
    if (row->old > 0)
        columns_print(columns, colour, "%+9.3f %+7.1f", row->change / 1e9,
                      100 * row->change / row->old);
    else
        columns_print(columns, colour, "%+9.3f     new", row->change / 1e9);
    columns_print(columns, "", "%.3f", row->error / 1e9);
    unsigned width = columns_last(columns);
    diff_text_name(listing->stream, listing->diff, row, listing->test->by,
                   width);
    columns_end_row(columns);
}

/* An empty section is not printed. */
static void
print_section(const struct listing *listing, enum section section)
{
    static const char *const titles[] = {
        [SLOWER] = "slower",
        [FASTER] = "faster",
        [REST] = "not significant",
    };
    const struct column all[] = {
        {"old s", 9, 0},
        {"new s", 9, 1},
        {"change  of old", 17, 1},
        {"±", 7, 1},
        {listing->test->by == MEASURE_STACK ? "stack" : "function", 0, 2},
        {NULL, 0, 0},
    };
    struct columns columns = {
        .stream = listing->stream,
        .all = all,
        .paint = listing->paint,
        .limit = listing->options->columns,
        .has_error = listing->options->has_error,
        .least = NAME_LEAST,
    };
    const struct diff *diff = listing->diff;
    uint32_t count = 0;
    columns_fit(&columns, DISPENSABLE);
    for (uint32_t i = 0; i < diff->count; i++) {
        if (!is_in_section(&diff->rows[i], section))
            continue;
        if (count++ == 0) {
            fputc('\n', listing->stream);
            columns_titles(&columns, titles[section]);
        }
        if (listing->options->rows == 0 || count <= listing->options->rows)
            print_row(&columns, listing, &diff->rows[i]);
    }
    if (listing->options->rows > 0 && count > listing->options->rows)
        fprintf(listing->stream, "(%u more; -n 0 shows all)\n",
                count - listing->options->rows);
}

void
diff_text_write(FILE *stream, const struct diff *diff,
                const struct profile *old, const struct profile *new,
                const struct diff_options *test, bool all,
                const struct text_report_options *options)
{
    const struct listing listing = {
        .stream = stream,
        .diff = diff,
        .test = test,
        .paint = options->paint != NULL ? options->paint : &paint_none,
        .options = options,
    };
    print_head(&listing, old, new);
    print_section(&listing, SLOWER);
    print_section(&listing, FASTER);
    if (all)
        print_section(&listing, REST);
}
