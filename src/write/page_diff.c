/* SPDX-License-Identifier: MIT */
/*
 * page_diff.c -- makes three comparisons: of the functions' own times, of their
 * totals, and of their sample points. Each comparison numbers the functions
 * anew, so the rows are joined by the names of function and module.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/intern.h"
#include "util/json.h"
#include "page_stream.h"
#include "page_diff.h"

enum part { PART_SELF, PART_TOTAL, PART_COUNT, PARTS };

/* A function in all comparisons. A part is all zero if it has no row. */
struct joined {
    const char *name, *module;
    struct diff_row parts[PARTS];
};

struct join {
    struct diff diffs[PARTS];
    struct intern *keys;
    struct joined *rows; /* by key */
    uint32_t count;
};

/* The key of a function: its name, a NUL, and the name of its module without
 * version (view/diff.h). */
static uint32_t
key_of(struct join *join, const struct measure_names *names, uint32_t function)
{
    const char *key = intern_bytes(names->functions, function);
    size_t name = strlen(key) + 1;
    return intern_put(join->keys, key, name + strlen(key + name));
}

/* Add the rows of PART. Returns 0, or -1 if memory is short. */
static int
add_part(struct join *join, enum part part)
{
    const struct diff *diff = &join->diffs[part];
    for (uint32_t i = 0; i < diff->count; i++) {
        uint32_t number = diff->rows[i].number;
        uint32_t key = key_of(join, &diff->names, number);
        if (key == INTERN_NONE || !ARRAY_GROW(join->rows, join->count))
            return -1;
        if (key == join->count)
            join->rows[join->count++] = (struct joined){
                .name = measure_function(&diff->names, number),
                .module = measure_module(&diff->names, number),
            };
        join->rows[key].parts[part] = diff->rows[i];
    }
    return 0;
}

/* The result of ROW in a word. "noise": the samples do not show a change.
 * "same": the change is too small to matter. */
static const char *
verdict(const struct diff_row *row, const struct diff_options *test)
{
    if (!row->is_significant)
        return row->chance > test->level ? "noise" : "same";
    if (row->old <= 0)
        return "new";
    if (row->new <= 0)
        return "gone";
    return row->change > 0 ? "slower" : "faster";
}

/* SUM as a whole number. Sums of a damaged profile may be too large. */
static uint64_t
whole(double sum)
{
    return sum < 0x1p63 ? (uint64_t)sum : INT64_MAX;
}

static void
add_row(struct json *json, const struct joined *row,
        const struct diff_options *test)
{
    const struct diff_row *self = &row->parts[PART_SELF];
    const struct diff_row *total = &row->parts[PART_TOTAL];
    const struct diff_row *count = &row->parts[PART_COUNT];
    json_open(json, '{');
    json_name_string(json, "name", row->name);
    json_name_string(json, "module", row->module);
    json_name_number(json, "oldSelf", whole(self->old));
    json_name_number(json, "newSelf", whole(self->new));
    json_name_real(json, "change", self->change);
    json_name_real(json, "error", self->error);
    json_name_real(json, "p", self->chance);
    json_name_string(json, "verdict", verdict(self, test));
    json_name_number(json, "oldTotal", whole(total->old));
    json_name_number(json, "newTotal", whole(total->new));
    json_name_real(json, "changeTotal", total->change);
    json_name_real(json, "errorTotal", total->error);
    json_name_real(json, "pTotal", total->chance);
    json_name_string(json, "verdictTotal", verdict(total, test));
    json_name_number(json, "oldCount", whole(count->old));
    json_name_number(json, "newCount", whole(count->new));
    json_close(json, '}');
}

static void
add_head(struct json *json, const struct diff *diff,
         const struct diff_options *test)
{
    json_name_string(json, "value", test->value == VALUE_CPU ? "cpu" : "wall");
    json_name_bool(json, "absolute", test->absolute);
    json_name_real(json, "level", test->level);
    json_name_real(json, "leastPercent", test->least);
    json_name_real(json, "factor", diff->factor);
    json_name_number(json, "tested", diff->tested);
    json_name_number(json, "oldNs", whole(diff->total.old));
    json_name_number(json, "newNs", whole(diff->total.new));
    json_name_real(json, "oldPoints", diff->old_points);
    json_name_real(json, "newPoints", diff->new_points);
}

/* If no change is found, add how large a change would have been. */
static void
add_seen(struct json *json, const struct diff *diff)
{
    char text[128];
    for (uint32_t i = 0; i < diff->count; i++)
        if (diff->rows[i].is_significant)
            return;
    snprintf(text, sizeof(text),
             "no change is more than noise; a function must change by %.1f %% "
             "of all time to be seen",
             100 * diff->seen / diff->total.old);
    if (diff->total.old > 0 && diff->seen > 0)
        json_string(json, text);
}

/* Add reasons why the rows may mislead a reader. */
static void
add_notes(struct json *json, const struct diff *diff)
{
    json_name_open(json, "notes", '[');
    if (diff_find_nameless(diff) != NULL)
        json_string(json, "functions cannot be compared: a module has names in "
                          "one of the profiles only");
    if (diff->old_points < 5 || diff->new_points < 5)
        json_string(json, "a profile has too few samples to compare");
    add_seen(json, diff);
    json_close(json, ']');
}

static void
write_json(FILE *stream, const struct join *join,
           const struct diff_options *test)
{
    struct json json;
    json_begin(&json, stream);
    json_open(&json, '{');
    add_head(&json, &join->diffs[PART_SELF], test);
    json_name_open(&json, "rows", '[');
    for (uint32_t i = 0; i < join->count; i++)
        add_row(&json, &join->rows[i], test);
    json_close(&json, ']');
    add_notes(&json, &join->diffs[PART_SELF]);
    json_close(&json, '}');
    (void)json_end(&json);
}

/* Make and join the comparisons. Returns 0, or -1 if memory is short. */
static int
make_rows(struct join *join, struct profile *old, struct profile *new,
          const struct diff_options *test)
{
    join->keys = intern_new();
    if (join->keys == NULL)
        return -1;
    for (enum part part = PART_SELF; part < PARTS; part++) {
        struct diff_options options = *test;
        options.by = part == PART_TOTAL ? MEASURE_CUMULATIVE : MEASURE_FUNCTION;
        if (part == PART_COUNT)
            options.value = VALUE_SAMPLES;
        if (diff_build(&join->diffs[part], old, new, &options) != 0 ||
            add_part(join, part) != 0)
            return -1;
    }
    return 0;
}

static int
write_rows(FILE *stream, struct profile *old, struct profile *new,
           const struct diff_options *test)
{
    struct join join = {.count = 0};
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    int status = memory != NULL ? make_rows(&join, old, new, test) : -1;
    if (status == 0)
        write_json(memory, &join, test);
    if (memory != NULL && fclose(memory) != 0)
        status = -1;
    if (status == 0)
        status = page_stream_element(stream, "sprof-diff", text, size);
    else
        errno = ENOMEM;
    int error = errno;
    for (enum part part = PART_SELF; part < PARTS; part++)
        diff_release(&join.diffs[part]);
    intern_free(join.keys);
    free(join.rows);
    free(text);
    errno = error;
    return status;
}

static int
write_data(FILE *stream, const struct output_content *content)
{
    const struct page_diff *page = (const struct page_diff *)content;
    if (page_side(stream, "sprof-head", page->new) != 0 ||
        page_side(stream, "sprof-head-old", page->old) != 0)
        return -1;
    return write_rows(stream, page->old, page->new, page->test);
}

int
page_diff_make(FILE *stream, const struct output_content *content)
{
    return page_wrap(stream, write_data, content);
}
