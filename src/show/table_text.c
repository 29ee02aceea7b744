/* SPDX-License-Identifier: MIT */
/*
 * table_text.c -- prints a table. The value by which it is sorted comes first,
 * with percentages. The other value is left out if the terminal is too narrow:
 * names are cut last. For one profile, by functions and by threads:
 *
 *    cpu flat      %    ±   cpu cum      %  wall flat   wall cum  function
 *       0.250   50.0  4.4     0.500  100.0      0.300      0.600  work (app)
 *
 *    cpu time      %    ±  wall time      %  thread
 *       0.250   50.0  4.4      0.010   66.7  worker (4712)
 *
 * Idle threads that are folded (model/idle.h) are the last row, below the line
 * that counts what is left out:
 *
 *       2.000   40.0  0.1     0.000    0.0  [2 idle threads; --idle shows them]
 *
 * The true percentage of CPU time is in 50.0 +- 4.4 with a probability of 95 %
 * (view/confidence.h). A row with few samples is dim.
 */
#include <string.h>

#include "base/path.h"
#include "view/confidence.h"
#include "columns.h"
#include "truncate.h"
#include "text_report.h"

/* Bits of the columns with the other value, of functions and of groups; least
 * width of a name. */
enum { SECOND = 0x60, GROUP_SECOND = 0x18, NAME_LEAST = 8 };

/* Bits of the columns that a narrow terminal may lack: all but the first. */
enum { DISPENSABLE = 0x7e, GROUP_DISPENSABLE = 0x1e };

/* Bytes for "file.c:12": file names have up to 255 bytes. */
enum { PLACE_SIZE = 300 };

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

/* Write "file.c:12" or "(4712)" to TEXT, or "" if ROW has neither. Directories
 * are left out: they would leave no room for the function. */
static const char *
place_of(enum table_by by, const struct table_row *row, char *text, size_t size)
{
    text[0] = '\0';
    if (by == TABLE_LINE && row->file[0] != '\0')
        snprintf(text, size, "%s:%u", path_name(row->file), row->line);
    else if (row->id != 0)
        snprintf(text, size, "(%u)", row->id);
    return text;
}

/* The columns of the name and the place of ROW. */
static unsigned
width_of(enum table_by by, const struct table_row *row)
{
    char place[PLACE_SIZE];
    unsigned width = truncate_width(place_of(by, row, place, sizeof(place)));
    width += truncate_width(row->function) + (width > 0);
    return row->module[0] == '\0' ? width
                                  : width + truncate_width(row->module) + 3;
}

/* Make room for the names of the first COUNT rows of TABLE. The columns of the
 * other value, SECOND, are left out if a name is cut with them and fits without
 * them. */
static void
hide_second(struct columns *columns, uint32_t second, enum table_by by,
            const struct table *table, uint32_t count)
{
    unsigned all = columns_taken(columns);
    columns->hidden = second;
    unsigned few = columns_taken(columns);
    bool has_second = columns->limit >= all + NAME_LEAST;
    for (uint32_t i = 0; i < count && has_second; i++) {
        unsigned width = width_of(by, &table->rows[i]);
        has_second =
            all + width <= columns->limit || few + width > columns->limit;
    }
    if (has_second)
        columns->hidden = 0;
}

/* Print "work file.c:12" or "worker (4712)". */
static void
print_name(struct columns *columns, const struct table_row *row,
           enum table_by by)
{
    char place[PLACE_SIZE];
    unsigned width = columns_last(columns);
    truncate_line(columns->stream, row->function,
                  place_of(by, row, place, sizeof(place)), row->module, width);
    columns_end_row(columns);
}

/* Print the sum of a row, with its share of WHOLE and the error of that. */
static void
print_first(struct columns *columns, const struct table_row *row,
            enum value value, const struct confidence *whole)
{
    const struct confidence flat = {(double)row->flat[value],
                                    row->flat_squares[value]};
    const struct confidence all = {(double)row->cumulative[value],
                                   row->cumulative_squares[value]};
    if (confidence_is_low(&all))
        columns_faint(columns);
    columns_time(columns, row->flat[value], (uint64_t)whole->value);
    columns_percent(columns, confidence_interval(&flat, whole));
}

static void
print_row(struct columns *columns, const struct profile *profile,
          const struct table_row *row, const struct confidence *whole,
          const struct text_report_options *options)
{
    enum value first = options->value;
    enum value second = first == VALUE_CPU ? VALUE_WALL : VALUE_CPU;
    print_first(columns, row, first, whole);
    if (options->by > TABLE_MODULE) {
        columns_time(columns, row->flat[second], profile->totals[second]);
    } else {
        columns_time(columns, row->cumulative[first], profile->totals[first]);
        columns_seconds(columns, row->flat[second]);
        columns_seconds(columns, row->cumulative[second]);
    }
    print_name(columns, row, options->by);
}

void
table_text_write(FILE *stream, const struct profile *profile,
                 const struct table *table,
                 const struct text_report_options *options)
{
    bool by_cpu = options->value == VALUE_CPU;
    bool is_group = options->by > TABLE_MODULE;
    const struct column functions[] = {
        {by_cpu ? "cpu flat" : "wall flat", 9, 0},
        {"%", 5, 2},
        {"±", 4, 1},
        {by_cpu ? "cpu cum" : "wall cum", 9, 1},
        {"%", 5, 2},
        {by_cpu ? "wall flat" : "cpu flat", 9, 2},
        {by_cpu ? "wall cum" : "cpu cum", 9, 2},
        {names[options->by], 0, 2},
        {NULL, 0, 0},
    };
    const struct column groups[] = {
        {by_cpu ? "cpu time" : "wall time", 9, 0},
        {"%", 5, 2},
        {"±", 4, 1},
        {by_cpu ? "wall time" : "cpu time", 9, 2},
        {"%", 5, 2},
        {names[options->by], 0, 2},
        {NULL, 0, 0},
    };
    struct columns columns = {
        .stream = stream,
        .all = is_group ? groups : functions,
        .paint = options->paint,
        .limit = options->columns,
        .has_error = options->has_error,
        .least = NAME_LEAST,
    };
    const struct confidence whole = confidence_of(profile, options->value);
    uint32_t rows = options->rows;
    /* The row of idle threads is not one of those that are counted. */
    bool has_idle = table->count > 0 && table->rows[table->count - 1].is_last;
    if (rows == 0 || rows > table->count - has_idle)
        rows = table->count - has_idle;
    if (options->columns > 0)
        hide_second(&columns, is_group ? GROUP_SECOND : SECOND, options->by,
                    table, rows);
    columns_fit(&columns, is_group ? GROUP_DISPENSABLE : DISPENSABLE);
    columns_titles(&columns, NULL);
    for (uint32_t i = 0; i < rows; i++)
        print_row(&columns, profile, &table->rows[i], &whole, options);
    if (rows + has_idle < table->count)
        fprintf(stream, "(%u more %s; -n 0 shows all)\n",
                table->count - rows - has_idle, plurals[options->by]);
    if (has_idle)
        print_row(&columns, profile, &table->rows[table->count - 1], &whole,
                  options);
}
