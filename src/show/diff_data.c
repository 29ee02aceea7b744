/* SPDX-License-Identifier: MIT */
/*
 * diff_data.c -- prints
 *
 *   {"report": "diff", "by": "function", "cumulative": false, "value": "cpu",
 *   "absolute": false,
 *   "level": 0.01, "least_percent": 1, "factor": 0.8, "tested": 31,
 *   "fails": false, "total": {"old_ns": ..., "new_ns": ...},
 *   "old": {(head_json.h), "points": 2003},
 *   "new": {..., "points": 2498},
 *   "rows": [
 *   {"function": "work", "module": "app", "old_ns": 500000000, ...}
 *   ],
 *   "rows_left_out": 0}
 *
 * or the rows alone as CSV. A stack is one text, the root first, with ';'
 * between functions, as in folded stacks.
 */
#include <stdlib.h>

#include "util/intern.h"
#include "head_json.h"
#include "diff_data.h"

#define NUMBERS                                                   \
    "old_ns", "new_ns", "new_scaled_ns", "change_ns", "error_ns", \
        "false_alarm_chance", "significant", "fails", NULL

static const char *const function_keys[] = {"function", "module", NUMBERS};
static const char *const stack_keys[] = {"stack", NUMBERS};

static const char *
truth_word(bool value)
{
    return value ? "true" : "false";
}

static void
write_head(FILE *stream, const struct diff *diff, const struct profile *old,
           const struct profile *new, const struct diff_options *test)
{
    static const char *const words[] = {
        [MEASURE_FUNCTION] = "function",
        [MEASURE_CUMULATIVE] = "function",
        [MEASURE_STACK] = "stack",
    };
    fprintf(stream,
            "{\"report\": \"diff\", \"by\": \"%s\", \"cumulative\": %s, "
            "\"value\": \"%s\", \"absolute\": %s,\n",
            words[test->by], truth_word(test->by == MEASURE_CUMULATIVE),
            test->value == VALUE_CPU ? "cpu" : "wall",
            truth_word(test->absolute));
    fprintf(stream,
            "\"level\": %.17g, \"least_percent\": %.17g, \"factor\": %.17g, "
            "\"tested\": %u, \"fails\": %s,\n",
            test->level, test->least, diff->factor, diff->tested,
            truth_word(diff_fails(diff)));
    fprintf(stream, "\"total\": {\"old_ns\": %.0f, \"new_ns\": %.0f},\n",
            diff->total.old, diff->total.new);
    fputs("\"old\": {", stream);
    head_json_write(stream, old);
    fprintf(stream, "\"points\": %.17g},\n\"new\": {", diff->old_points);
    head_json_write(stream, new);
    fprintf(stream, "\"points\": %.17g},\n", diff->new_points);
}

/* Functions are collected from the leaf up and written from the root down. */
static void
write_stack(struct data *data, const struct diff *diff, uint32_t stack)
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
    data_text(data, text != NULL ? text : "");
    free(text);
    free(functions);
}

/* SUM as a whole number; the sums of a damaged profile may be too large for
 * any. */
static uint64_t
whole_number(double sum)
{
    return sum < 0x1p64 ? (uint64_t)sum : UINT64_MAX;
}

static void
write_row(struct data *data, const struct diff *diff,
          const struct diff_row *row, enum measure_by by)
{
    if (by == MEASURE_STACK) {
        write_stack(data, diff, row->number);
    } else {
        data_text(data, measure_function(&diff->names, row->number));
        data_text(data, measure_module(&diff->names, row->number));
    }
    data_number(data, whole_number(row->old));
    data_number(data, whole_number(row->new));
    data_real(data, row->new_scaled);
    data_real(data, row->change);
    data_real(data, row->error);
    data_real(data, row->chance);
    data_truth(data, row->is_significant);
    data_truth(data, row->fails);
}

void
diff_data_write(FILE *stream, enum data_format format, const struct diff *diff,
                const struct profile *old, const struct profile *new,
                const struct diff_options *test, bool all, uint32_t rows)
{
    uint32_t left_out = 0, written = 0;
    struct data data;
    if (format == DATA_JSON)
        write_head(stream, diff, old, new, test);
    data_begin(&data, stream, format,
               test->by == MEASURE_STACK ? stack_keys : function_keys);
    for (uint32_t i = 0; i < diff->count; i++) {
        const struct diff_row *row = &diff->rows[i];
        if ((!all && !row->is_significant && !row->fails) ||
            (rows > 0 && written >= rows)) {
            left_out++;
            continue;
        }
        write_row(&data, diff, row, test->by);
        written++;
    }
    data_end(&data);
    if (format == DATA_JSON)
        fprintf(stream, ",\n\"rows_left_out\": %u}\n", left_out);
}
