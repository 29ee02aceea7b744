/* SPDX-License-Identifier: MIT */
/*
 * pprof_sample.c -- decodes the samples of a pprof file one by one, and checks
 * everything that they refer to. The value types say what the values are. The
 * first type that is a count is samples. The first that is a time is CPU time,
 * unless it is called wall, real or delay.
 */
#include <stdio.h>
#include <string.h>

#include "util/array.h"
#include "util/intern.h"
#include "pprof_sample.h"

enum { TYPES_MOST = 64 };

/* The result is 0 for words that are no time, such as "count" and "bytes". */
uint64_t
pprof_sample_unit(const char *unit)
{
    static const struct {
        const char *name;
        uint64_t scale;
    } units[] = {
        {"nanoseconds", 1},        {"ns", 1},
        {"microseconds", 1000},    {"us", 1000},
        {"milliseconds", 1000000}, {"ms", 1000000},
        {"seconds", 1000000000},   {"s", 1000000000},
    };
    for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].scale;
    return 0;
}

/* A ValueType of pprof.proto has its type in field 1 and its unit in field 2,
 * both as numbers of texts. */
int
pprof_sample_read_type(struct pprof_tables *tables, struct wire message,
                       const char **type, const char **unit)
{
    uint64_t numbers[3];
    if (pprof_tables_numbers(tables, message, numbers, 3) != 0)
        return -1;
    *type = pprof_tables_text(tables, numbers[1]);
    *unit = pprof_tables_text(tables, numbers[2]);
    return *type == NULL || *unit == NULL ? -1 : 0;
}

/* Go's profiles of blocking call it "delay". */
static bool
is_wall(const char *type)
{
    return strcmp(type, "wall") == 0 || strcmp(type, "real") == 0 ||
           strcmp(type, "delay") == 0;
}

/* The first type of each kind counts; a scale of 0 says that there was none
 * yet. Types without a place in the model are counted, too, because a sample's
 * values stand in the order of all types. */
int
pprof_sample_add_type(struct pprof_tables *tables, struct wire message)
{
    struct pprof_sample *sample = (struct pprof_sample *)tables;
    const char *type;
    const char *unit;
    if (pprof_sample_read_type(tables, message, &type, &unit) != 0)
        return -1;
    if (sample->type_count == TYPES_MOST)
        return pprof_tables_refuse(tables, "it has too many types of values");
    uint64_t scale = pprof_sample_unit(unit);
    enum value value = is_wall(type) ? VALUE_WALL : VALUE_CPU;
    if (scale == 0 && strcmp(unit, "count") == 0) {
        value = VALUE_SAMPLES;
        scale = 1;
    }
    if (scale != 0 && sample->scale[value] == 0) {
        if (value == VALUE_SAMPLES)
            sample->counts_samples = strstr(type, "sample") != NULL;
        sample->scale[value] = scale;
        sample->type_of[value] = sample->type_count;
    }
    sample->type_count++;
    return 0;
}

/* Collect the locations of a sample, as indexes. */
static int
collect_stack(struct pprof_sample *sample, struct wire message)
{
    enum { LOCATION = 1 };
    uint64_t id;
    sample->depth = 0;
    struct wire_field field;
    while (wire_next(&message, &field)) {
        if (field.number != LOCATION)
            continue;
        while (wire_number(&field, &id)) {
            uint32_t *stack =
                sample->depth < sample->room
                    ? sample->stack
                    : array_room(sample->stack, sample->depth, sizeof(*stack));
            if (stack == NULL)
                return -1;
            sample->stack = stack;
            stack[sample->depth] =
                intern_find(&sample->tables.location_ids, &id, sizeof(id));
            if (stack[sample->depth++] == INTERN_NONE)
                return pprof_tables_refuse(
                    &sample->tables, "it refers to a location that it lacks");
            if (sample->depth > sample->room)
                sample->room = sample->depth;
        }
        if (field.bytes.is_damaged)
            return pprof_tables_refuse(&sample->tables, "it is damaged");
    }
    return message.is_damaged
               ? pprof_tables_refuse(&sample->tables, "it is damaged")
               : 0;
}

/* Read the values of a sample, in our units. */
static int
read_values(struct pprof_sample *sample, struct wire message)
{
    enum { VALUE = 2 };
    unsigned count = 0;
    struct wire_field field;
    uint64_t numbers[TYPES_MOST], number;
    while (wire_next(&message, &field)) {
        if (field.number != VALUE)
            continue;
        while (wire_number(&field, &number)) {
            if (number > INT64_MAX)
                return pprof_tables_refuse(
                    &sample->tables,
                    "it has negative values: it is a difference of profiles");
            if (count < TYPES_MOST)
                numbers[count] = number;
            count++;
        }
    }
    if (count != sample->type_count)
        return pprof_tables_refuse(
            &sample->tables,
            "a sample has not as many values as there are types");
    for (unsigned i = 0; i < VALUE_COUNT; i++) {
        uint64_t scale = sample->scale[i];
        sample->values[i] = scale == 0 ? 0 : numbers[sample->type_of[i]];
        if (scale > 1)
            sample->values[i] = sample->values[i] < INT64_MAX / scale
                                    ? sample->values[i] * scale
                                    : INT64_MAX;
    }
    return 0;
}

/* Keep a label that the program set: TEXT, or *NUMBER with UNIT. */
static int
keep_label(struct pprof_sample *sample, const char *key, const char *text,
           const uint64_t *number, const char *unit)
{
    struct profile *profile = sample->tables.profile;
    struct pprof_labels *labels = &sample->labels;
    struct label_pair *pair = &labels->others[labels->other_count];
    char digits[24];
    if (labels->other_count == LABEL_SETS_DEPTH || key[0] == '\0')
        return 0;
    if (number != NULL) {
        snprintf(digits, sizeof(digits), "%lld", (long long)*number);
        text = digits;
    }
    *pair = (struct label_pair){profile_string(profile, key),
                                profile_string(profile, text),
                                number != NULL ? profile_string(profile, unit)
                                               : NULL};
    if (pair->key == NULL || pair->value == NULL ||
        (number != NULL && pair->unit == NULL))
        return -1;
    labels->other_count++;
    return 0;
}

/* Take one label: a text if STRING is set, else a number. */
static int
take_label(struct pprof_sample *sample, struct wire message)
{
    enum { KEY = 1, STRING, NUMBER, UNIT, COUNT };
    struct pprof_labels *labels = &sample->labels;
    struct {
        const char *key, **text;
    } const places[] = {
        {"thread", &labels->thread},
        {"process", &labels->process},
        {"state", &labels->state},
        {"waits_on", &labels->waits_on},
    };
    uint64_t numbers[COUNT];
    if (pprof_tables_numbers(&sample->tables, message, numbers, COUNT) != 0)
        return -1;
    const char *key = pprof_tables_text(&sample->tables, numbers[KEY]);
    const char *text = pprof_tables_text(&sample->tables, numbers[STRING]);
    const char *unit = pprof_tables_text(&sample->tables, numbers[UNIT]);
    if (key == NULL || text == NULL || unit == NULL)
        return -1;
    if (strcmp(key, "tid") == 0)
        labels->tid = numbers[NUMBER];
    for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (strcmp(key, places[i].key) == 0)
            *places[i].text = text;
    if (label_sets_is_reserved(key))
        return 0;
    return keep_label(sample, key, text,
                      numbers[STRING] == 0 ? &numbers[NUMBER] : NULL, unit);
}

static int
read_labels(struct pprof_sample *sample, struct wire message)
{
    enum { LABEL = 3 };
    sample->labels.thread = sample->labels.process = NULL;
    sample->labels.state = sample->labels.waits_on = NULL;
    sample->labels.tid = sample->labels.other_count = 0;
    struct wire_field field;
    while (wire_next(&message, &field))
        if (field.number == LABEL && field.type == WIRE_BYTES &&
            take_label(sample, field.bytes) != 0)
            return -1;
    return 0;
}

/* In a profile without a type for samples, each row is one sample. */
int
pprof_sample_decode(struct pprof_sample *sample, struct wire message)
{
    if (collect_stack(sample, message) != 0 ||
        read_values(sample, message) != 0 || read_labels(sample, message) != 0)
        return -1;
    if (sample->scale[VALUE_SAMPLES] == 0)
        sample->values[VALUE_SAMPLES] = 1;
    return 0;
}
