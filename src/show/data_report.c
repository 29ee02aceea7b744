/* SPDX-License-Identifier: MIT */
/*
 * data_report.c -- prints, for a table by functions,
 *
 *   {"report": "function", "sorted_by": "cpu",
 *   (the head)
 *   "rows": [
 *   {"function": "work", "module": "app", "cpu_flat_ns": 5000000, ...}
 *   ],
 *   "rows_left_out": 0}
 *
 * and for a comparison
 *
 *   {"report": "diff", "by": "function", "cumulative": false, "value": "cpu",
 *   "absolute": false,
 *   "level": 0.01, "least_percent": 1, "factor": 0.8, "tested": 31,
 *   "fails": false,
 *   "total": {"old_ns": ..., "new_ns": ...},
 *   "old": {(the head) "points": 2003},
 *   "new": {..., "points": 2498},
 *   "rows": [
 *   {"function": "work", "module": "app", "old_ns": 500000000, ...}
 *   ],
 *   "rows_left_out": 0}
 *
 * Rows of a tree are not nested in each other: stacks are easily deeper than
 * parsers of JSON allow. A compared stack is one text, the root first, with ';'
 * between functions, as in folded stacks.
 */
#include <stdlib.h>

#include "model/idle.h"
#include "util/intern.h"
#include "view/tree.h"
#include "data_report.h"

#define SUMS                                                    \
    "cpu_flat_ns", "cpu_cum_ns", "wall_flat_ns", "wall_cum_ns", \
        "samples_flat", "samples_cum", NULL
#define TIMES "cpu_ns", "wall_ns", "samples", NULL
#define CHANGES                                                   \
    "old_ns", "new_ns", "new_scaled_ns", "change_ns", "error_ns", \
        "false_alarm_chance", "significant", "fails", NULL

/* The word and the columns of each kind of table. */
static const struct {
    const char *word, *keys[11];
} tables[] = {
    [TABLE_FUNCTION] = {"function", {"function", "module", SUMS}},
    [TABLE_LINE] = {"line", {"function", "module", "file", "line", SUMS}},
    [TABLE_MODULE] = {"module", {"module", SUMS}},
    [TABLE_THREAD] = {"thread",
                      {"thread", "tid", "cpu_ns", "wall_ns", "samples", "idle",
                       NULL}},
    [TABLE_STATE] = {"state", {"state", TIMES}},
    [TABLE_PROCESS] = {"process", {"process", "pid", TIMES}},
    [TABLE_EXE] = {"exe", {"exe", TIMES}},
    [TABLE_COMMAND] = {"command", {"command", TIMES}},
    [TABLE_LABEL] = {"label", {"value", TIMES}},
};
static const char *const tree_keys[] = {"id", "parent", "function", "module",
                                        SUMS};
static const char *const function_keys[] = {"function", "module", CHANGES};
static const char *const stack_keys[] = {"stack", CHANGES};

static void
add_processes(struct json *json, const struct profile *profile)
{
    json_name_open(json, "processes", '[');
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        json_line(json);
        json_open(json, '{');
        json_name_number(json, "pid", process->pid);
        json_name_string(json, "exe", process->exe);
        json_name_string(json, "command", process->command);
        json_name_string(json, "host", process->host);
        json_name_number(json, "start_ns", process->start);
        json_name_number(json, "duration_ns", process->duration);
        json_name_bool(json, "ended", process->ended);
        json_close(json, '}');
    }
    json_line(json);
    json_close(json, ']');
}

/* Times are in nanoseconds, as in all data for programs. */
static void
add_values(struct json *json, const uint64_t *values)
{
    json_name_number(json, "cpu_ns", values[VALUE_CPU]);
    json_name_number(json, "wall_ns", values[VALUE_WALL]);
    json_name_number(json, "samples", values[VALUE_SAMPLES]);
    json_close(json, '}');
}

static void
add_totals(struct json *json, const char *key, const uint64_t *totals)
{
    json_line(json);
    json_name_open(json, key, '{');
    add_values(json, totals);
}

/* The rows have idle threads, too: this says what part of all is theirs. */
static void
add_idle(struct json *json, const struct profile *profile)
{
    uint64_t sums[VALUE_COUNT];
    uint32_t count = idle_sum(profile, sums);
    json_line(json);
    json_name_open(json, "idle", '{');
    json_name_number(json, "threads", count);
    add_values(json, sums);
}

/* Add the counters that are not 0, from FIRST on. */
static void
add_causes(struct json *json, const char *key, const uint64_t *counters,
           unsigned first, unsigned count, const char *(*word)(unsigned))
{
    json_line(json);
    json_name_open(json, key, '{');
    for (unsigned i = first; i < count; i++)
        if (counters[i] != 0)
            json_name_number(json, word(i), counters[i]);
    json_close(json, '}');
}

/* Add the sample points that were due, those that were not asked for, and the
 * rate that was reached; null if they are unknown. */
static void
add_rate(struct json *json, const struct profile_cost *cost)
{
    bool is_known = rate_wanted(&cost->rate) != 0;
    json_line(json);
    if (!is_known) {
        json_name_raw(json, "due", "null");
        json_name_raw(json, "unasked", "null");
        json_name_raw(json, "reached_hz", "null");
        return;
    }
    uint64_t unasked[LIMIT_COUNT];
    json_name_number(json, "due",
                     rate_points(&cost->rate, cost->asked, unasked));
    json_name_number(json, "reached_hz",
                     rate_reached(&cost->rate, cost->taken));
    add_causes(json, "unasked", unasked, 0, LIMIT_COUNT, limit_word);
}

/* Add the epochs of one rate, where that is known. */
static void
add_epochs(struct json *json, const struct profile *profile)
{
    json_line(json);
    json_name_open(json, "epochs", '[');
    for (uint32_t i = 0; i < profile->epoch_count; i++) {
        const struct profile_epoch *epoch = &profile->epochs[i];
        json_line(json);
        json_open(json, '{');
        json_name_number(json, "pid", profile->processes[epoch->process].pid);
        json_name_number(json, "time_ns", epoch->time);
        json_name_number(json, "period_ns", epoch->period);
        json_name_number(json, "cpu_ns", epoch->cpu);
        json_name_number(json, "samples", epoch->taken);
        json_name_number(json, "interruption_ns", epoch->each);
        json_name_number(json, "allowed_ns_a_second", epoch->allowed);
        json_name_number(json, "spent_ns", epoch->spent);
        json_close(json, '}');
    }
    json_line(json);
    json_close(json, ']');
}

/* Add the head of a report about PROFILE. */
static void
add_head(struct json *json, const struct profile *profile)
{
    const struct profile_cost *cost = &profile->cost;
    add_processes(json, profile);
    json_line(json);
    json_name_number(json, "start_ns", profile->start);
    json_name_number(json, "duration_ns", profile->duration);
    json_line(json);
    json_name(json, "filter");
    if (profile->filter != NULL)
        json_string(json, profile->filter);
    else
        json_null(json);
    add_totals(json, "totals", profile->totals);
    add_totals(json, "unfiltered",
               profile->filter != NULL ? profile->whole : profile->totals);
    if (profile->knows_idle)
        add_idle(json, profile);
    json_line(json);
    json_name_number(json, "asked", cost->asked);
    json_name_number(json, "taken", cost->taken);
    add_rate(json, cost);
    add_epochs(json, profile);
    if (cost->unseen_cpu > 0) {
        json_line(json);
        json_name_number(json, "unseen_cpu_ns", cost->unseen_cpu);
        json_name_number(json, "tree_cpu_ns", cost->tree_cpu);
    }
    add_causes(json, "lost", cost->lost, 0, LOSS_COUNT, loss_word);
    add_causes(json, "cut", cost->cut, CUT_NONE + 1, CUT_COUNT, cut_word);
}

/* Begin a table or tree. JSON is used if the format is JSON. */
static void
begin_report(struct columns *columns, struct json *json, FILE *stream,
             const struct profile *profile, const char *word,
             const char *const *keys, const struct text_report_options *options)
{
    if (options->format == COLUMNS_JSON) {
        json_begin_spaced(json, stream);
        json_open(json, '{');
        json_name_string(json, "report", word);
        json_name_string(json, "sorted_by",
                         options->value == VALUE_CPU ? "cpu" : "wall");
        json_line(json);
        add_head(json, profile);
    }
    columns_begin_data(columns, stream,
                       options->format == COLUMNS_JSON ? json : NULL, keys);
}

/* End a report. A failure stays in the stream. */
static void
end_report(struct columns *columns, uint32_t left_out)
{
    struct json *json = columns->json;
    columns_end(columns);
    if (json == NULL)
        return;
    json_line(json);
    json_name_number(json, "rows_left_out", left_out);
    json_close(json, '}');
    (void)json_end(json);
}

/* Add the sums of a row, which may end with more. */
static void
add_sums(struct columns *columns, const uint64_t *flat,
         const uint64_t *cumulative)
{
    static const enum value order[] = {VALUE_CPU, VALUE_WALL, VALUE_SAMPLES};
    for (unsigned i = 0; i < VALUE_COUNT; i++) {
        columns_number(columns, flat[order[i]]);
        if (cumulative != NULL)
            columns_number(columns, cumulative[order[i]]);
    }
}

static void
add_table_row(struct columns *columns, const struct table_row *row,
              enum table_by by)
{
    columns_text(columns, row->function);
    if (by == TABLE_FUNCTION || by == TABLE_LINE)
        columns_text(columns, row->module);
    if (by == TABLE_LINE) {
        columns_text(columns, row->file);
        columns_number(columns, row->line);
    }
    if (by == TABLE_THREAD || by == TABLE_PROCESS)
        columns_number(columns, row->id);
    add_sums(columns, row->flat, by <= TABLE_MODULE ? row->cumulative : NULL);
    if (by == TABLE_THREAD)
        columns_bool(columns, row->is_idle);
    columns_end_row(columns);
}

void
data_report_table(FILE *stream, const struct profile *profile,
                  const struct table *table,
                  const struct text_report_options *options)
{
    uint32_t rows = options->rows;
    struct columns columns;
    struct json json;
    if (rows == 0 || rows > table->count)
        rows = table->count;
    begin_report(&columns, &json, stream, profile, tables[options->by].word,
                 tables[options->by].keys, options);
    for (uint32_t i = 0; i < rows; i++)
        add_table_row(&columns, &table->rows[i], options->by);
    end_report(&columns, table->count - rows);
}

void
data_report_tree(FILE *stream, const struct profile *profile,
                 const struct tree *tree, const struct branches *branches,
                 const char *word, const struct text_report_options *options)
{
    uint32_t end_row = branches->count;
    struct columns columns;
    struct json json;
    if (options->rows > 0 && options->rows < end_row)
        end_row = options->rows + 1;
    begin_report(&columns, &json, stream, profile, word, tree_keys, options);
    for (uint32_t i = 1; i < end_row; i++) {
        const struct branch *branch = &branches->all[i];
        struct tree_label label =
            tree_label(tree, tree->nodes[branch->node].name);
        columns_number(&columns, i);
        columns_number(&columns, branch->parent);
        columns_text(&columns, label.function);
        columns_text(&columns, label.module);
        add_sums(&columns, branch->own, branch->total);
        columns_end_row(&columns);
    }
    end_report(&columns, tree->node_count - end_row);
}

/* SUM as a whole number; the sums of a damaged profile may be too large for
 * any. */
static uint64_t
whole_number(double sum)
{
    return sum < 0x1p64 ? (uint64_t)sum : UINT64_MAX;
}

/* Add one of the two profiles of a comparison. */
static void
add_side(struct json *json, const char *name, const struct profile *profile,
         double points)
{
    json_line(json);
    json_name_open(json, name, '{');
    add_head(json, profile);
    json_line(json);
    json_name_real(json, "points", points);
    json_close(json, '}');
}

static void
add_diff_head(struct json *json, const struct diff *diff,
              const struct profile *old, const struct profile *new,
              const struct diff_options *test)
{
    json_open(json, '{');
    json_name_string(json, "report", "diff");
    json_name_string(json, "by",
                     test->by == MEASURE_STACK ? "stack" : "function");
    json_name_bool(json, "cumulative", test->by == MEASURE_CUMULATIVE);
    json_name_string(json, "value", test->value == VALUE_CPU ? "cpu" : "wall");
    json_name_bool(json, "absolute", test->absolute);
    json_line(json);
    json_name_real(json, "level", test->level);
    json_name_real(json, "least_percent", test->least);
    json_name_real(json, "factor", diff->factor);
    json_name_number(json, "tested", diff->tested);
    json_name_bool(json, "fails", diff_fails(diff));
    json_line(json);
    json_name_open(json, "total", '{');
    json_name_number(json, "old_ns", whole_number(diff->total.old));
    json_name_number(json, "new_ns", whole_number(diff->total.new));
    json_close(json, '}');
    add_side(json, "old", old, diff->old_points);
    add_side(json, "new", new, diff->new_points);
}

/* Functions are collected from the leaf up and written from the root down. */
static void
add_stack(struct columns *columns, const struct diff *diff, uint32_t stack)
{
    const struct measure_names *names = &diff->names;
    uint32_t depth = 0;
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    for (uint32_t i = stack; i != INTERN_NONE; i = measure_below(names, i))
        depth++;
    uint32_t *functions = malloc((depth + 1u) * sizeof(*functions));
    if (functions != NULL && memory != NULL) {
        for (uint32_t i = 0; i < depth; i++) {
            functions[i] = measure_leaf(names, stack);
            stack = measure_below(names, stack);
        }
        while (depth-- > 0)
            fprintf(memory, "%s%s", measure_function(names, functions[depth]),
                    depth > 0 ? ";" : "");
    }
    if (memory != NULL)
        fclose(memory);
    columns_text(columns, text != NULL ? text : "");
    free(text);
    free(functions);
}

static void
add_diff_row(struct columns *columns, const struct diff *diff,
             const struct diff_row *row, enum measure_by by)
{
    if (by == MEASURE_STACK) {
        add_stack(columns, diff, row->number);
    } else {
        columns_text(columns, measure_function(&diff->names, row->number));
        columns_text(columns, measure_module(&diff->names, row->number));
    }
    columns_number(columns, whole_number(row->old));
    columns_number(columns, whole_number(row->new));
    columns_real(columns, row->new_scaled);
    columns_real(columns, row->change);
    columns_real(columns, row->error);
    columns_real(columns, row->chance);
    columns_bool(columns, row->is_significant);
    columns_bool(columns, row->fails);
    columns_end_row(columns);
}

void
data_report_diff(FILE *stream, const struct diff *diff,
                 const struct profile *old, const struct profile *new,
                 const struct diff_options *test, bool all,
                 const struct text_report_options *options)
{
    bool is_json = options->format == COLUMNS_JSON;
    uint32_t left_out = 0, written = 0;
    struct columns columns;
    struct json json;
    if (is_json) {
        json_begin_spaced(&json, stream);
        add_diff_head(&json, diff, old, new, test);
    }
    columns_begin_data(&columns, stream, is_json ? &json : NULL,
                       test->by == MEASURE_STACK ? stack_keys : function_keys);
    for (uint32_t i = 0; i < diff->count; i++) {
        const struct diff_row *row = &diff->rows[i];
        if ((!all && !row->is_significant && !row->fails) ||
            (options->rows > 0 && written >= options->rows)) {
            left_out++;
            continue;
        }
        add_diff_row(&columns, diff, row, test->by);
        written++;
    }
    end_report(&columns, left_out);
}
