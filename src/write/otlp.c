/* SPDX-License-Identifier: MIT */
/*
 * otlp.c -- OpenTelemetry's profiles (otlp.proto), as protobuf or as JSON:
 *
 *    resource_profiles       one for each process
 *      resource              service.name, host.name, process.pid, ...
 *      scope_profiles        libsprof and its version
 *        profiles            samples/count, cpu and wall in nanoseconds
 *          samples           those that have some of it
 *    dictionary              what all of them refer to (otlp_tables.c)
 *
 * A profile of OpenTelemetry has one type of values. Period 1 of a type of time
 * would mean that a value counts nanoseconds; so the period is the real one,
 * and values are what their type says.
 *
 * The id of a profile is made from its contents. So it stays the same when the
 * same profile is written again, and a receiver recognises a repetition.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "model/label_sets.h"
#include "model/sample_state.h"
#include "util/array.h"
#include "otlp_json.h"
#include "otlp_tables.h"
#include "output_file.h"
#include "otlp.h"

/* ATTRIBUTES_MOST: of a sample: ours and those of the program.
 * RESOURCE_MOST: of a resource. ID_BYTES: of a profile's id. */
enum {
    ATTRIBUTES_MOST = 4 + LABEL_SETS_DEPTH,
    RESOURCE_MOST = 128,
    ID_BYTES = 16
};

/* The types of values, in the order in which they are written. */
static const struct type {
    enum value value;
    const char *type, *unit;
} types[] = {
    {VALUE_CPU, "cpu", "nanoseconds"},
    {VALUE_WALL, "wall", "nanoseconds"},
    {VALUE_SAMPLES, "samples", "count"},
};

enum { TYPES = sizeof(types) / sizeof(types[0]) };

/* A message of this type with its defaults. */
#define NEW(otlp, type, init)                                          \
    ({                                                                 \
        type *new_ = otlp_tables_space(&(otlp)->tables, sizeof(type)); \
        *new_ = (type)init;                                            \
        new_;                                                          \
    })

/* The profile that is being written. */
struct otlp {
    struct profile *profile;
    struct otlp_resource resource;
    struct otlp_tables tables;
    Otlp__ProfilesData data;
    Otlp__Sample **by_sample; /* what the types of a sample have in common */
};

/* Add an attribute to the resource TO, unless it has one with that key. */
static void
add_fact(struct otlp *otlp, Otlp__Resource *to, const char *key,
         const char *text, int64_t number)
{
    if (to->n_attributes >= RESOURCE_MOST || (text != NULL && text[0] == '\0'))
        return;
    for (size_t i = 0; i < to->n_attributes; i++)
        if (strcmp(to->attributes[i]->key, key) == 0)
            return;
    Otlp__KeyValue *pair = NEW(otlp, Otlp__KeyValue, OTLP__KEY_VALUE__INIT);
    pair->key = otlp_tables_string(&otlp->tables, key);
    pair->value = otlp_tables_value(&otlp->tables, text, number);
    to->attributes[to->n_attributes++] = pair;
}

/* Decode %41 to A, in place. */
static void
decode_percent(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0'; at++) {
        char digits[3] = {0};
        if (at[0] == '%' && at[1] != '\0' && at[2] != '\0') {
            memcpy(digits, at + 1, 2);
            char *end;
            long code = strtol(digits, &end, 16);
            if (end == digits + 2 && code > 0) {
                *to++ = (char)code;
                at += 2;
                continue;
            }
        }
        *to++ = *at;
    }
    *to = '\0';
}

/* Add the attributes that the user set. */
static void
add_given(struct otlp *otlp, Otlp__Resource *to, const char *attributes)
{
    char *copy = strdup(attributes), *next = copy;
    if (copy == NULL)
        otlp->tables.failed = true;
    for (char *pair; (pair = strsep(&next, ",")) != NULL;) {
        char *value = strchr(pair, '=');
        if (value == NULL)
            continue;
        *value++ = '\0';
        pair += strspn(pair, " ");
        decode_percent(pair);
        decode_percent(value);
        if (pair[0] != '\0')
            add_fact(otlp, to, pair, value, 0);
    }
    free(copy);
}

/* The user's attributes come first, so they count. */
static Otlp__Resource *
resource_of(struct otlp *otlp, const struct profile_process *process)
{
    Otlp__Resource *to = NEW(otlp, Otlp__Resource, OTLP__RESOURCE__INIT);
    to->attributes = otlp_tables_space(&otlp->tables,
                                       RESOURCE_MOST * sizeof(*to->attributes));
    if (to->attributes == NULL)
        return to;
    if (otlp->resource.service != NULL)
        add_fact(otlp, to, "service.name", otlp->resource.service, 0);
    if (otlp->resource.attributes != NULL)
        add_given(otlp, to, otlp->resource.attributes);
    add_fact(otlp, to, "service.name", path_name(process->exe), 0);
    add_fact(otlp, to, "host.name", process->host, 0);
    if (otlp->resource.container != NULL)
        add_fact(otlp, to, "container.id", otlp->resource.container, 0);
    add_fact(otlp, to, "process.pid", NULL, process->pid);
    if (process->ppid != 0)
        add_fact(otlp, to, "process.parent_pid", NULL, process->ppid);
    add_fact(otlp, to, "process.executable.name", path_name(process->exe), 0);
    add_fact(otlp, to, "process.executable.path", process->exe, 0);
    add_fact(otlp, to, "process.command_line", process->command, 0);
    return to;
}

/* Whether the labels of SAMPLE name a span: then LINK is its index. */
static bool
has_link(struct otlp *otlp, const struct profile_sample *sample, int32_t *link)
{
    const struct profile *profile = otlp->profile;
    const char *trace = label_sets_value(profile, sample->labels, "trace_id");
    const char *span = label_sets_value(profile, sample->labels, "span_id");
    *link = trace != NULL && span != NULL
                ? otlp_tables_link(&otlp->tables, trace, span)
                : 0;
    return *link != 0;
}

/* Add the labels that the program set. A number keeps its unit. */
static void
add_labels(struct otlp *otlp, Otlp__Sample *to, uint32_t set, bool is_linked)
{
    struct label_pair pairs[LABEL_SETS_DEPTH];
    unsigned count = label_sets_get(otlp->profile, set, pairs);
    for (unsigned i = 0; i < count; i++) {
        const struct label_pair *pair = &pairs[i];
        bool is_number = pair->unit != NULL;
        if (is_linked && (strcmp(pair->key, "trace_id") == 0 ||
                          strcmp(pair->key, "span_id") == 0))
            continue;
        to->attribute_indices[to->n_attribute_indices++] =
            otlp_tables_attribute(&otlp->tables, pair->key,
                                  is_number ? NULL : pair->value,
                                  is_number ? strtoll(pair->value, NULL, 10)
                                            : 0,
                                  is_number ? pair->unit : "");
    }
}

/* Give TO the attributes of SAMPLE. TO has room for all. */
static void
add_attributes(struct otlp *otlp, Otlp__Sample *to,
               const struct profile_sample *sample)
{
    struct profile *profile = otlp->profile;
    struct otlp_tables *tables = &otlp->tables;
    const struct profile_thread *thread = &profile->threads[sample->thread];
    int32_t *list = to->attribute_indices;
    size_t count = 0;
    if (thread->name[0] != '\0')
        list[count++] =
            otlp_tables_attribute(tables, "thread.name", thread->name, 0, "");
    list[count++] =
        otlp_tables_attribute(tables, "thread.id", NULL, thread->tid, "");
    list[count++] =
        otlp_tables_attribute(tables, "state",
                              sample_state_name(profile, sample), 0, "");
    if (sample->waits_on[0] != '\0')
        list[count++] =
            otlp_tables_attribute(tables, "waits_on", sample->waits_on, 0, "");
    to->n_attribute_indices = count;
    add_labels(otlp, to, sample->labels,
               has_link(otlp, sample, &to->link_index));
}

/* Make what the types of a sample have in common: all but the value. */
static void
add_common(struct otlp *otlp, uint32_t number)
{
    const struct profile_sample *sample = &otlp->profile->samples[number];
    int32_t list[ATTRIBUTES_MOST];
    Otlp__Sample *to = NEW(otlp, Otlp__Sample, OTLP__SAMPLE__INIT);
    to->stack_index = otlp_tables_stack(&otlp->tables, sample->node);
    to->attribute_indices = list;
    add_attributes(otlp, to, sample);
    size_t size = to->n_attribute_indices * sizeof(*list);
    to->attribute_indices = otlp_tables_space(&otlp->tables, size);
    if (to->attribute_indices != NULL)
        memcpy(to->attribute_indices, list, size);
    otlp->by_sample[number] = to;
}

/* Add SAMPLE with VALUE to TO. */
static void
add_sample(struct otlp *otlp, Otlp__Profile *to, const Otlp__Sample *common,
           uint64_t value)
{
    Otlp__Sample *sample = otlp_tables_space(&otlp->tables, sizeof(*sample));
    *sample = *common;
    sample->n_values = 1;
    sample->values = otlp_tables_space(&otlp->tables, sizeof(*sample->values));
    sample->values[0] = (int64_t)value;
    if (ARRAY_GROW(to->samples, to->n_samples))
        to->samples[to->n_samples++] = sample;
    else
        otlp->tables.failed = true;
}

/* Mix SIZE BYTES into HASH (FNV-1a). */
static uint64_t
mix(uint64_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
    return hash;
}

/* The id of the profile TO of TYPE and PROCESS. Different profiles differ in
 * the process, the time or the values. */
static void
set_id(struct otlp *otlp, Otlp__Profile *to, const struct type *type,
       const struct profile_process *process)
{
    const uint64_t facts[] = {
        process->pid,
        process->start,
        to->time_unix_nano,
        to->duration_nano,
        type->value,
        to->n_samples,
        otlp->profile->totals[VALUE_SAMPLES],
        otlp->profile->totals[VALUE_CPU],
        otlp->profile->totals[VALUE_WALL],
    };
    uint64_t id[ID_BYTES / sizeof(uint64_t)] = {0xcbf29ce484222325u,
                                                0x84222325cbf29ce4u};
    for (unsigned i = 0; i < ID_BYTES / sizeof(uint64_t); i++) {
        id[i] = mix(id[i], facts, sizeof(facts));
        id[i] = mix(id[i], process->host, strlen(process->host));
        id[i] = mix(id[i], process->exe, strlen(process->exe));
    }
    to->profile_id.len = ID_BYTES;
    to->profile_id.data = otlp_tables_space(&otlp->tables, ID_BYTES);
    memcpy(to->profile_id.data, id, ID_BYTES);
}

static Otlp__ValueType *
value_type(struct otlp *otlp, const char *type, const char *unit)
{
    Otlp__ValueType *to = NEW(otlp, Otlp__ValueType, OTLP__VALUE_TYPE__INIT);
    to->type_strindex = otlp_tables_text(&otlp->tables, type);
    to->unit_strindex = otlp_tables_text(&otlp->tables, unit);
    return to;
}

/* The profile of TYPE of process NUMBER. Samples are due by CPU time while a
 * thread runs, and by wall time while it waits. */
static Otlp__Profile *
profile_of(struct otlp *otlp, uint32_t number, const struct type *type)
{
    const struct profile *profile = otlp->profile;
    const struct profile_process *process = &profile->processes[number];
    Otlp__Profile *to = NEW(otlp, Otlp__Profile, OTLP__PROFILE__INIT);
    to->sample_type = value_type(otlp, type->type, type->unit);
    to->period_type =
        value_type(otlp, type->value == VALUE_CPU ? "cpu" : "wall",
                   "nanoseconds");
    to->period = (int64_t)process->period;
    to->time_unix_nano = profile->start;
    to->duration_nano = profile->duration;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        uint64_t value = sample->values[type->value];
        if (value > 0 && profile->threads[sample->thread].process == number)
            add_sample(otlp, to, otlp->by_sample[i], value);
    }
    set_id(otlp, to, type, process);
    return to;
}

/* All profiles of process NUMBER. */
static Otlp__ResourceProfiles *
process_of(struct otlp *otlp, uint32_t number)
{
    const struct profile_process *process = &otlp->profile->processes[number];
    Otlp__ResourceProfiles *to =
        NEW(otlp, Otlp__ResourceProfiles, OTLP__RESOURCE_PROFILES__INIT);
    Otlp__ScopeProfiles *scope =
        NEW(otlp, Otlp__ScopeProfiles, OTLP__SCOPE_PROFILES__INIT);
    to->resource = resource_of(otlp, process);
    to->scope_profiles =
        otlp_tables_space(&otlp->tables, sizeof(*to->scope_profiles));
    to->scope_profiles[0] = scope;
    to->n_scope_profiles = 1;
    scope->scope = NEW(otlp, Otlp__Scope, OTLP__SCOPE__INIT);
    scope->scope->name = "libsprof";
    scope->scope->version = otlp_tables_string(&otlp->tables, process->version);
    scope->profiles =
        otlp_tables_space(&otlp->tables, TYPES * sizeof(*scope->profiles));
    for (unsigned i = 0; i < TYPES; i++)
        scope->profiles[scope->n_profiles++] =
            profile_of(otlp, number, &types[i]);
    return to;
}

/* Build all of it. Returns 0, or -1 if memory is short. */
static int
build(struct otlp *otlp)
{
    struct profile *profile = otlp->profile;
    otlp->data = (Otlp__ProfilesData)OTLP__PROFILES_DATA__INIT;
    otlp_tables_begin(&otlp->tables, profile);
    if (otlp->tables.failed ||
        !ARRAY_NEW(otlp->by_sample, profile->sample_count) ||
        !ARRAY_NEW(otlp->data.resource_profiles, profile->process_count))
        return -1;
    for (uint32_t i = 0; i < profile->sample_count; i++)
        add_common(otlp, i);
    for (uint32_t i = 0; i < profile->process_count && !otlp->tables.failed;
         i++)
        otlp->data.resource_profiles[otlp->data.n_resource_profiles++] =
            process_of(otlp, i);
    otlp->data.dictionary = &otlp->tables.dictionary;
    return otlp_tables_end(&otlp->tables);
}

static void
release(struct otlp *otlp)
{
    for (size_t i = 0; i < otlp->data.n_resource_profiles; i++) {
        const Otlp__ScopeProfiles *scope =
            otlp->data.resource_profiles[i]->scope_profiles[0];
        for (size_t j = 0; j < scope->n_profiles; j++)
            free(scope->profiles[j]->samples);
    }
    free(otlp->data.resource_profiles);
    free(otlp->by_sample);
    otlp_tables_release(&otlp->tables);
}

/* A stream that protobuf-c appends to. */
struct sink {
    ProtobufCBuffer base;
    FILE *stream;
};

static void
append(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes)
{
    struct sink *sink = (struct sink *)buffer;
    fwrite(bytes, 1, size, sink->stream);
}

static int
write_protobuf(FILE *stream, const ProtobufCMessage *message)
{
    struct sink sink = {{append}, stream};
    protobuf_c_message_pack_to_buffer(message, &sink.base);
    return ferror(stream) != 0 ? -1 : 0;
}

/* Build the messages and have WRITE write them. */
static int
write_by(FILE *stream, struct profile *profile,
         const struct otlp_resource *resource,
         int (*write)(FILE *, const ProtobufCMessage *))
{
    struct otlp otlp = {.profile = profile, .resource = *resource};
    int status = build(&otlp), error = ENOMEM;
    if (status == 0) {
        errno = EIO;
        status = write(stream, &otlp.data.base);
        error = errno;
    }
    release(&otlp);
    errno = error;
    return status;
}

int
otlp_write_as(FILE *stream, struct profile *profile,
              const struct otlp_resource *resource)
{
    return write_by(stream, profile, resource, write_protobuf);
}

/* The variables that OpenTelemetry's programs take them from. */
static struct otlp_resource
resource_of_environment(void)
{
    return (struct otlp_resource){.service = getenv("OTEL_SERVICE_NAME"),
                                  .attributes =
                                      getenv("OTEL_RESOURCE_ATTRIBUTES")};
}

int
otlp_write(FILE *stream, struct profile *profile)
{
    const struct otlp_resource resource = resource_of_environment();
    return write_by(stream, profile, &resource, write_protobuf);
}

int
otlp_write_json(FILE *stream, struct profile *profile)
{
    const struct otlp_resource resource = resource_of_environment();
    return write_by(stream, profile, &resource, otlp_json_write);
}
