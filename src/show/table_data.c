/* SPDX-License-Identifier: MIT */
/*
 * table_data.c -- prints, for a table by functions,
 *
 *   {"report": "function", "sorted_by": "cpu",
 *   (the members of head_json.h)
 *   "rows": [
 *   {"function": "work", "module": "app", "cpu_flat_ns": 5000000, ...}
 *   ],
 *   "rows_left_out": 0}
 *
 * Rows of a tree are not nested in each other: stacks are easily deeper than
 * parsers of JSON allow.
 */
#include "view/branches.h"
#include "view/tree.h"
#include "head_json.h"
#include "table_data.h"

#define SUMS                                                    \
    "cpu_flat_ns", "cpu_cum_ns", "wall_flat_ns", "wall_cum_ns", \
        "samples_flat", "samples_cum", NULL
#define TIMES "cpu_ns", "wall_ns", "samples", NULL

static const char *const words[] = {
    [TABLE_FUNCTION] = "function", [TABLE_LINE] = "line",
    [TABLE_MODULE] = "module",     [TABLE_THREAD] = "thread",
    [TABLE_STATE] = "state",       [TABLE_PROCESS] = "process",
    [TABLE_EXE] = "exe",           [TABLE_COMMAND] = "command",
    [TABLE_LABEL] = "label",
};

/* The columns of each kind of table. */
static const char *const function_keys[] = {"function", "module", SUMS};
static const char *const line_keys[] = {"function", "module", "file", "line",
                                        SUMS};
static const char *const module_keys[] = {"module", SUMS};
static const char *const thread_keys[] = {"thread", "tid", TIMES};
static const char *const state_keys[] = {"state", TIMES};
static const char *const process_keys[] = {"process", "pid", TIMES};
static const char *const exe_keys[] = {"exe", TIMES};
static const char *const command_keys[] = {"command", TIMES};
static const char *const label_keys[] = {"value", TIMES};
static const char *const tree_keys[] = {"id", "parent", "function", "module",
                                        SUMS};

static const char *const *const keys[] = {
    [TABLE_FUNCTION] = function_keys, [TABLE_LINE] = line_keys,
    [TABLE_MODULE] = module_keys,     [TABLE_THREAD] = thread_keys,
    [TABLE_STATE] = state_keys,       [TABLE_PROCESS] = process_keys,
    [TABLE_EXE] = exe_keys,           [TABLE_COMMAND] = command_keys,
    [TABLE_LABEL] = label_keys,
};

static void
begin_report(struct data *data, FILE *stream, enum data_format format,
             const struct profile *profile, const char *word, enum value value,
             const char *const *columns)
{
    if (format == DATA_JSON) {
        fprintf(stream, "{\"report\": \"%s\", \"sorted_by\": \"%s\",\n", word,
                value == VALUE_CPU ? "cpu" : "wall");
        head_json_write(stream, profile);
    }
    data_begin(data, stream, format, columns);
}

static void
end_report(struct data *data, uint32_t left_out)
{
    data_end(data);
    if (data->format == DATA_JSON)
        fprintf(data->stream, ",\n\"rows_left_out\": %u}\n", left_out);
}

static void
write_sums(struct data *data, const uint64_t *flat, const uint64_t *cumulative)
{
    static const enum value order[] = {VALUE_CPU, VALUE_WALL, VALUE_SAMPLES};
    for (unsigned i = 0; i < VALUE_COUNT; i++) {
        data_number(data, flat[order[i]]);
        data_number(data, cumulative[order[i]]);
    }
}

static void
write_row(struct data *data, const struct table_row *row, enum table_by by)
{
    data_text(data, row->function);
    if (by == TABLE_FUNCTION || by == TABLE_LINE)
        data_text(data, row->module);
    if (by == TABLE_LINE) {
        data_text(data, row->file);
        data_number(data, row->line);
    }
    if (by <= TABLE_MODULE) {
        write_sums(data, row->flat, row->cumulative);
        return;
    }
    if (by == TABLE_THREAD || by == TABLE_PROCESS)
        data_number(data, row->id);
    data_number(data, row->flat[VALUE_CPU]);
    data_number(data, row->flat[VALUE_WALL]);
    data_number(data, row->flat[VALUE_SAMPLES]);
}

void
table_data_write(FILE *stream, enum data_format format,
                 const struct profile *profile, const struct table *table,
                 enum table_by by, enum value value, uint32_t rows)
{
    struct data data;
    if (rows == 0 || rows > table->count)
        rows = table->count;
    begin_report(&data, stream, format, profile, words[by], value, keys[by]);
    for (uint32_t i = 0; i < rows; i++)
        write_row(&data, &table->rows[i], by);
    end_report(&data, table->count - rows);
}

void
table_data_write_tree(FILE *stream, enum data_format format,
                      const struct profile *profile, const struct tree *tree,
                      const struct branches *branches, const char *word,
                      enum value value, uint32_t rows)
{
    uint32_t end_row = branches->count;
    struct data data;
    if (rows > 0 && rows < end_row)
        end_row = rows + 1;
    begin_report(&data, stream, format, profile, word, value, tree_keys);
    for (uint32_t i = 1; i < end_row; i++) {
        const struct branch *branch = &branches->all[i];
        struct tree_label label =
            tree_label(tree, tree->nodes[branch->node].name);
        data_number(&data, i);
        data_number(&data, branch->parent);
        data_text(&data, label.function);
        data_text(&data, label.module);
        write_sums(&data, branch->own, branch->total);
    }
    end_report(&data, tree->node_count - end_row);
}
