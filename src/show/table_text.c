/* SPDX-License-Identifier: MIT */
/*
 * table_text.c -- prints a table. The value by which it is sorted comes first,
 * with percentages. The other value is left out if the terminal is too narrow:
 * names are cut last. For one profile, by functions and by threads:
 *
 *    cpu flat      %   cpu cum      %  wall flat   wall cum  function
 *       0.005  100.0     0.005  100.0      0.005      0.005  work (app)
 *
 *    cpu time      %  wall time      %  thread
 *       0.005  100.0      0.010   66.7  worker (4712)
 */
#include <string.h>

#include "base/path.h"
#include "model/phrase.h"
#include "fit.h"
#include "table_text.h"

/* Columns in front of the names, with and without the other value, of functions
 * and of groups; least columns of a name. */
enum { ALL_COLUMNS = 57, FEW_COLUMNS = 35 };
enum { GROUP_COLUMNS = 36, GROUP_FEW_COLUMNS = 18 };
enum { NAME_NEVER_LESS = 8 };

/* Bytes for "file.c:12": file names have up to 255 bytes. */
enum { PLACE_SIZE = 300 };

/* How the table is laid out. */
struct layout {
    FILE *stream;
    const struct paint *paint;
    enum value first, second;
    uint64_t whole, second_whole;
    enum table_by by;
    unsigned name; /* columns for names; 0: any number */
    bool has_second;
};

static const char *const names[] = {
    [TABLE_FUNCTION] = "function", [TABLE_LINE] = "line",
    [TABLE_MODULE] = "module",     [TABLE_THREAD] = "thread",
    [TABLE_STATE] = "state",       [TABLE_PROCESS] = "process",
    [TABLE_EXE] = "executable",    [TABLE_COMMAND] = "command",
    [TABLE_LABEL] = "value",
};

static const char *const plurals[] = {
    [TABLE_FUNCTION] = "functions", [TABLE_LINE] = "lines",
    [TABLE_MODULE] = "modules",     [TABLE_THREAD] = "threads",
    [TABLE_STATE] = "states",       [TABLE_PROCESS] = "processes",
    [TABLE_EXE] = "executables",    [TABLE_COMMAND] = "commands",
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
    layout.whole = profile->totals[layout.first];
    layout.second_whole = profile->totals[layout.second];
    return layout;
}

/* Write "file.c:12" or "(4712)" to TEXT, or "" if ROW has neither. Directories
 * are left out: they would leave no room for the function. */
static const char *
place_of(const struct layout *layout, const struct table_row *row, char *text,
         size_t size)
{
    text[0] = '\0';
    if (layout->by == TABLE_LINE && row->file[0] != '\0')
        snprintf(text, size, "%s:%u", path_name(row->file), row->line);
    else if (row->id != 0)
        snprintf(text, size, "(%u)", row->id);
    return text;
}

static unsigned
width_of(const struct layout *layout, const struct table_row *row)
{
    char place[PLACE_SIZE];
    unsigned width = fit_width(place_of(layout, row, place, sizeof(place)));
    return fit_function_width(row->function, row->module) + width + (width > 0);
}

/* Make room for the names of the first COUNT rows of TABLE. The other value is
 * left out if a name is cut with it and fits without it. */
static void
fit_names(struct layout *layout, const struct table *table, uint32_t count,
          unsigned columns)
{
    bool is_group = layout->by > TABLE_MODULE;
    unsigned all = is_group ? GROUP_COLUMNS : ALL_COLUMNS;
    unsigned few = is_group ? GROUP_FEW_COLUMNS : FEW_COLUMNS;
    for (uint32_t i = 0; i < count && layout->has_second; i++) {
        unsigned width = width_of(layout, &table->rows[i]);
        layout->has_second = all + width <= columns || few + width > columns;
    }
    if (columns < all + NAME_NEVER_LESS)
        layout->has_second = false;
    if (!layout->has_second)
        all = few;
    layout->name =
        columns > all + NAME_NEVER_LESS ? columns - all : NAME_NEVER_LESS;
}

static void
print_title(const struct layout *layout)
{
    bool by_cpu = layout->first == VALUE_CPU;
    fputs(layout->paint->title, layout->stream);
    if (layout->by > TABLE_MODULE)
        fputs(by_cpu ? " cpu time      %" : "wall time      %", layout->stream);
    else
        fputs(by_cpu ? " cpu flat      %   cpu cum      %"
                     : "wall flat      %  wall cum      %",
              layout->stream);
    if (layout->by > TABLE_MODULE && layout->has_second)
        fputs(by_cpu ? "  wall time      %" : "   cpu time      %",
              layout->stream);
    if (layout->by <= TABLE_MODULE && layout->has_second)
        fputs(by_cpu ? "  wall flat   wall cum" : "   cpu flat    cpu cum",
              layout->stream);
    fprintf(layout->stream, "  %s%s\n", names[layout->by], layout->paint->end);
}

/* Print a time and its share of WHOLE. */
static void
print_share(const struct layout *layout, uint64_t value, uint64_t whole)
{
    double percent = phrase_percent(value, whole);
    const char *colour = paint_share(layout->paint, percent);
    fprintf(layout->stream, "%9.3f  %s%5.1f%s", phrase_seconds(value), colour,
            percent, colour[0] != '\0' ? layout->paint->end : "");
}

/* Print "work file.c:12" or "worker (4712)". */
static void
print_name(const struct layout *layout, const struct table_row *row)
{
    char place[PLACE_SIZE];
    fit_print_line(layout->stream, row->function,
                   place_of(layout, row, place, sizeof(place)), row->module,
                   layout->name);
    fputc('\n', layout->stream);
}

static void
print_row(const struct layout *layout, const struct table_row *row)
{
    FILE *stream = layout->stream;
    print_share(layout, row->flat[layout->first], layout->whole);
    if (layout->by > TABLE_MODULE && layout->has_second) {
        fputs("  ", stream);
        print_share(layout, row->flat[layout->second], layout->second_whole);
    }
    if (layout->by <= TABLE_MODULE) {
        fputc(' ', stream);
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
    if (options->columns > 0)
        fit_names(&layout, table, rows, options->columns);
    print_title(&layout);
    for (uint32_t i = 0; i < rows; i++)
        print_row(&layout, &table->rows[i]);
    if (rows < table->count)
        fprintf(stream, "(%u more %s; -n 0 shows all)\n", table->count - rows,
                plurals[options->by]);
}
