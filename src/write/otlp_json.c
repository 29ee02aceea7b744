/* SPDX-License-Identifier: MIT */
/*
 * otlp_json.c -- protobuf's mapping to JSON, with OpenTelemetry's exception.
 * The descriptors of the messages have all that is needed:
 *
 *    repeated Sample samples = 2     "samples":[{...},{...}]
 *    int32 stack_index = 1           "stackIndex":7
 *    int64, uint64, fixed64          "timeUnixNano":"1764000000000000000"
 *    bytes profile_id = 7            "profileId":"3f2a...": hexadecimal, where
 *                                    protobuf has base64
 *
 * A field that has its default is left out, but not within an array.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "util/json.h"
#include "otlp_json.h"

/* NAME_MOST: bytes of a field's name. */
enum { NAME_MOST = 64 };

static void write_message(struct json *json, const ProtobufCMessage *message);

/* Write the name of FIELD: stack_index becomes stackIndex. */
static void
write_name(struct json *json, const ProtobufCFieldDescriptor *field)
{
    char name[NAME_MOST];
    size_t length = 0;
    for (const char *at = field->name; *at != '\0' && length < NAME_MOST - 1;
         at++)
        if (*at == '_' && at[1] != '\0')
            name[length++] = (char)toupper((unsigned char)*++at);
        else
            name[length++] = *at;
    name[length] = '\0';
    json_name(json, name);
}

static void
write_bytes(struct json *json, const ProtobufCBinaryData *data)
{
    char text[2 * 64 + 1] = "";
    size_t size = data->len < 64 ? data->len : 64;
    for (size_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", data->data[i]);
    json_string(json, text);
}

/* The bytes of a value of FIELD. */
static size_t
size_of(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
        return sizeof(int32_t);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return sizeof(int64_t);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    default:
        return sizeof(void *);
    }
}

/* Write the value of FIELD at AT. JSON's numbers are too small for 64 bits, so
 * these are strings. */
static void
write_value(struct json *json, const ProtobufCFieldDescriptor *field,
            const void *at)
{
    char text[32];
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
        snprintf(text, sizeof(text), "%" PRId32, *(const int32_t *)at);
        json_raw(json, text);
        break;
    case PROTOBUF_C_TYPE_INT64:
        snprintf(text, sizeof(text), "%" PRId64, *(const int64_t *)at);
        json_string(json, text);
        break;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        snprintf(text, sizeof(text), "%" PRIu64, *(const uint64_t *)at);
        json_string(json, text);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        write_bytes(json, at);
        break;
    case PROTOBUF_C_TYPE_STRING:
        json_string(json, *(char *const *)at);
        break;
    default:
        write_message(json, *(ProtobufCMessage *const *)at);
    }
}

/* Whether the value of FIELD at AT is its default. */
static bool
is_default(const ProtobufCFieldDescriptor *field, const void *at)
{
    static const char zeros[sizeof(ProtobufCBinaryData)];
    if (field->type == PROTOBUF_C_TYPE_STRING)
        return **(char *const *)at == '\0';
    return memcmp(at, zeros, size_of(field)) == 0;
}

/* The elements of a repeated FIELD whose array is at AT. */
static void
write_array(struct json *json, const ProtobufCFieldDescriptor *field,
            const void *at, size_t count)
{
    const char *elements = *(const char *const *)at;
    if (count == 0)
        return;
    write_name(json, field);
    json_open(json, '[');
    for (size_t i = 0; i < count; i++)
        write_value(json, field, elements + i * size_of(field));
    json_close(json, ']');
}

static void
write_field(struct json *json, const ProtobufCFieldDescriptor *field,
            const char *message)
{
    const void *at = message + field->offset;
    const char *quantifier = message + field->quantifier_offset;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        write_array(json, field, at, *(const size_t *)(const void *)quantifier);
        return;
    }
    /* A oneof says which of its fields is set, even to a default. */
    bool is_choice = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
    if (is_choice ? *(const uint32_t *)(const void *)quantifier != field->id
                  : is_default(field, at))
        return;
    write_name(json, field);
    write_value(json, field, at);
}

/* Messages are nested as deep as otlp.proto nests them. */
static void
write_message(struct json *json, const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    json_open(json, '{');
    for (unsigned i = 0; i < type->n_fields; i++)
        write_field(json, &type->fields[i], (const char *)message);
    json_close(json, '}');
}

int
otlp_json_write(FILE *stream, const ProtobufCMessage *message)
{
    struct json json;
    json_begin(&json, stream);
    write_message(&json, message);
    return json_end(&json);
}
