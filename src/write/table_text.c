/* SPDX-License-Identifier: MIT */
/*
 * table_text.c -- prints a table. What it is sorted by comes first, with
 * percentages; where the terminal is too narrow for names beside all columns,
 * the other value goes first. For the same profile, by functions and by threads
 *
 *    cpu flat      %   cpu cum      %  wall flat   wall cum  function
 *       0.005  100.0     0.005  100.0      0.005      0.005  work (app)
 *
 *    cpu time      %  wall time      %  thread
 *       0.005  100.0      0.010   66.7  worker (4712)
 */
#include "table_text.h"

#include <string.h>

#include "fit.h"
#include "phrase.h"

/* What is in front of the names, with and without the other value; and what
 * names need at least. */
enum { ALL_COLUMNS = 57, FEW_COLUMNS = 35, GROUP_COLUMNS = 36 };
enum { NAME_LEAST = 22, NAME_NEVER_LESS = 8 };

/* How the table is laid out. */
struct layout {
    FILE *stream;
    const struct paint *paint;
    enum value first, second;
    uint64_t whole, second_whole;
    enum table_by by;
    unsigned name; /* columns for names, 0: any number */
    bool has_second;
};

static const char *const names[] = {
    [TABLE_FUNCTION] = "function", [TABLE_LINE] = "line",
    [TABLE_MODULE] = "module",     [TABLE_THREAD] = "thread",
    [TABLE_STATE] = "state",       [TABLE_PROCESS] = "process",
    [TABLE_LABEL] = "value",
};

static const char *const plurals[] = {
    [TABLE_FUNCTION] = "functions", [TABLE_LINE] = "lines",
    [TABLE_MODULE] = "modules",     [TABLE_THREAD] = "threads",
    [TABLE_STATE] = "states",       [TABLE_PROCESS] = "processes",
    [TABLE_LABEL] = "values",
};

static struct layout
lay_out(FILE *stream, const struct profile *profile,
        const struct text_report_options *options)
{
    bool by_cpu = options->value == VALUE_CPU;
    struct layout layout = {
        .stream = stream,
        .paint = options->paint != NULL ? options->paint : &paint_none,
        .first = options->value,
        .second = by_cpu ? VALUE_WALL : VALUE_CPU,
        .by = options->by,
        .has_second = true,
    };
    unsigned taken = options->by > TABLE_MODULE ? GROUP_COLUMNS : ALL_COLUMNS;

    layout.whole = profile->totals[layout.first];
    layout.second_whole = profile->totals[layout.second];
    if (options->columns == 0)
        return layout;
    if (taken == ALL_COLUMNS && options->columns < ALL_COLUMNS + NAME_LEAST) {
        layout.has_second = false;
        taken = FEW_COLUMNS;
    }
    layout.name = options->columns > taken + NAME_NEVER_LESS
                      ? options->columns - taken
                      : NAME_NEVER_LESS;
    return layout;
}

static void
print_title(const struct layout *layout)
{
    bool by_cpu = layout->first == VALUE_CPU;

    fputs(layout->paint->title, layout->stream);
    if (layout->by > TABLE_MODULE)
        fputs(by_cpu ? " cpu time      %  wall time      %"
                     : "wall time      %   cpu time      %",
              layout->stream);
    else
        fputs(by_cpu ? " cpu flat      %   cpu cum      %"
                     : "wall flat      %  wall cum      %",
              layout->stream);
    if (layout->by <= TABLE_MODULE && layout->has_second)
        fputs(by_cpu ? "  wall flat   wall cum" : "   cpu flat    cpu cum",
              layout->stream);
    fprintf(layout->stream, "  %s%s\n", names[layout->by], layout->paint->end);
}

/* A time and its share of WHOLE. */
static void
print_share(const struct layout *layout, uint64_t value, uint64_t whole)
{
    double percent = phrase_percent(value, whole);
    const char *colour = paint_share(layout->paint, percent);

    fprintf(layout->stream, "%9.3f  %s%5.1f%s", phrase_seconds(value), colour,
            percent, colour[0] != '\0' ? layout->paint->end : "");
}

/* "work file.c:12", "worker (4712)". Directories are left out: they would
 * leave no room for the function. */
static void
print_name(const struct layout *layout, const struct table_row *row)
{
    const char *slash = strrchr(row->file, '/');
    char text[1024];

    text[0] = '\0';
    if (layout->by == TABLE_LINE && row->file[0] != '\0')
        snprintf(text, sizeof text, "%.800s %s:%u", row->function,
                 slash != NULL ? slash + 1 : row->file, row->line);
    else if (row->id != 0)
        snprintf(text, sizeof text, "%s (%u)", row->function, row->id);
    fit_print_function(layout->stream, text[0] != '\0' ? text : row->function,
                       row->module, layout->name);
    fputc('\n', layout->stream);
}

static void
print_row(const struct layout *layout, const struct table_row *row)
{
    FILE *stream = layout->stream;

    print_share(layout, row->flat[layout->first], layout->whole);
    fputc(' ', stream);
    if (layout->by > TABLE_MODULE) {
        fputc(' ', stream);
        print_share(layout, row->flat[layout->second], layout->second_whole);
    } else {
        print_share(layout, row->cumulative[layout->first], layout->whole);
    }
    if (layout->by <= TABLE_MODULE && layout->has_second)
        fprintf(stream, "  %9.3f  %9.3f",
                phrase_seconds(row->flat[layout->second]),
                phrase_seconds(row->cumulative[layout->second]));
    fputs("  ", stream);
    print_name(layout, row);
}

void
table_text_write(FILE *stream, const struct profile *profile,
                 const struct table *table,
                 const struct text_report_options *options)
{
    struct layout layout = lay_out(stream, profile, options);
    uint32_t rows = options->rows;

    if (rows == 0 || rows > table->count)
        rows = table->count;
    print_title(&layout);
    for (uint32_t i = 0; i < rows; i++)
        print_row(&layout, &table->rows[i]);
    if (rows < table->count)
        fprintf(stream, "(%u more %s; -n 0 shows all)\n", table->count - rows,
                plurals[options->by]);
}
