/* SPDX-License-Identifier: MIT */
/*
 * payload.c -- see payload.h. Pyroscope and Parca take pprof files within JSON,
 * as series:
 *
 *    {"series":[{"labels":[{"name":"__name__","value":"process_cpu"}, ...],
 *                "samples":[{"ID":"3f2a...","rawProfile":"H4sI..."}]}]}
 *    {"series":[{"labels":{"labels":[...]},
 *                "samples":[{"raw_profile":"H4sI..."}]}],"normalized":false}
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/path.h"
#include "util/gzip.h"
#include "util/json.h"
#include "write/output_file.h"
#include "write/pprof.h"
#include "payload.h"

const struct payload_row payload_rows[PAYLOAD_COUNT] = {
#define PAYLOAD(id, letter, option, path, type, encoding) \
    [PAYLOAD_##id] = {letter, option, path, type, encoding},
    PAYLOAD_TABLE(PAYLOAD)
#undef PAYLOAD
};

/* Of a pprof file. Pyroscope refuses one with more than 16,000 samples, or with
 * more than 4 MiB before it is compressed. */
enum { SAMPLES_MOST = 15000, PLAIN_MOST = 4000000 };

/* A body that is being made. */
struct body {
    enum payload_kind kind;
    struct profile *profile;
    const struct payload_facts *facts;
    struct json json;
};

/* Write SIZE BYTES as a string of base64. */
static void
write_base64(FILE *stream, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        unsigned word = (unsigned)bytes[i] << 16;
        word |= i + 1 < size ? (unsigned)bytes[i + 1] << 8 : 0;
        word |= i + 2 < size ? bytes[i + 2] : 0;
        fputc(digits[word >> 18], stream);
        fputc(digits[word >> 12 & 63], stream);
        fputc(i + 1 < size ? digits[word >> 6 & 63] : '=', stream);
        fputc(i + 2 < size ? digits[word & 63] : '=', stream);
    }
}

/* BYTES of base64 as text, for the caller to free; NULL if memory is short. */
static char *
base64(const char *bytes, size_t size)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL)
        return NULL;
    write_base64(stream, (const unsigned char *)bytes, size);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

/* The size of what gzip compressed to SIZE BYTES, which stands at their end
 * (RFC 1952, section 2.3.1). */
static uint32_t
plain_size(const char *bytes, size_t size)
{
    uint32_t plain = 0;
    for (unsigned i = 1; i <= 4 && i <= size; i++)
        plain = plain << 8 | (uint8_t)bytes[size - i];
    return plain;
}

/* COUNT SAMPLES of VALUE as base64 of a pprof file; NULL if memory is short.
 * *PLAIN: its bytes before it was compressed. */
static char *
raw_profile(const struct body *body, enum value value,
            const struct profile_sample *samples, uint32_t count,
            uint32_t *plain)
{
    char *bytes = NULL, *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&bytes, &size);
    if (stream == NULL)
        return NULL;
    int status =
        pprof_write_series(stream, body->profile, value, samples, count);
    if (fclose(stream) == 0 && status == 0)
        text = base64(bytes, size);
    if (text != NULL)
        *plain = plain_size(bytes, size);
    free(bytes);
    return text;
}

static void
write_label(struct json *json, const char *name, const char *value)
{
    json_open(json, '{');
    json_name_string(json, "name", name);
    json_name_string(json, "value", value);
    json_close(json, '}');
}

/* Write the labels of the series NAME. They are few: each set of labels is a
 * series of its own in the server. */
static void
write_labels(struct body *body, const char *name)
{
    const struct profile_process *process = &body->profile->processes[0];
    const char *service = body->facts->resource.service;
    bool is_parca = body->kind == PAYLOAD_PARCA;
    struct json *json = &body->json;
    if (service == NULL)
        service = path_name(process->exe);
    json_open(json, '[');
    write_label(json, "__name__", name);
    write_label(json, is_parca ? "job" : "service_name", service);
    if (process->host[0] != '\0')
        write_label(json, is_parca ? "node" : "hostname", process->host);
    for (const char *const *at = body->facts->labels; *at != NULL; at++) {
        char pair[512];
        snprintf(pair, sizeof(pair), "%s", *at);
        char *value = strchr(pair, '=');
        if (value == NULL)
            continue;
        *value++ = '\0';
        write_label(json, pair, value);
    }
    json_close(json, ']');
}

/* A name that no other sample of any series has, as RFC 4122 forms it. */
static void
make_uuid(char text[37])
{
    uint8_t id[16] = {0};
    (void)getrandom(id, sizeof(id), 0);
    id[6] = (uint8_t)((id[6] & 15) | 64);
    id[8] = (uint8_t)((id[8] & 63) | 128);
    for (unsigned i = 0, at = 0; i < sizeof(id); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text[at++] = '-';
        snprintf(text + at, 3, "%02x", id[i]);
        at += 2;
    }
}

/* Write an element of "samples" with a pprof file. */
static void
write_sample(struct body *body, const char *text)
{
    struct json *json = &body->json;
    char id[37];
    json_open(json, '{');
    if (body->kind == PAYLOAD_PYROSCOPE) {
        make_uuid(id);
        json_name_string(json, "ID", id);
        json_name_string(json, "rawProfile", text);
    } else {
        json_name_string(json, "raw_profile", text);
    }
    json_close(json, '}');
}

/* Write COUNT SAMPLES of VALUE as one profile, or as halves if that is too
 * large. Returns 0, or -1 if memory is short. */
static int
write_part(struct body *body, enum value value,
           const struct profile_sample *samples, uint32_t count)
{
    uint32_t plain = 0, half = count / 2;
    char *text = raw_profile(body, value, samples, count, &plain);
    if (text == NULL)
        return -1;
    bool fits = plain <= PLAIN_MOST || half == 0;
    if (fits)
        write_sample(body, text);
    free(text);
    if (fits)
        return 0;
    int status = write_part(body, value, samples, half);
    return status == 0 ? write_part(body, value, samples + half, count - half)
                       : status;
}

/* Write the series of VALUE. Returns 0, or -1 if memory is short. */
static int
write_series(struct body *body, enum value value, const char *name)
{
    struct json *json = &body->json;
    uint32_t count;
    struct profile_sample *samples = pprof_merge(body->profile, value, &count);
    int status = samples != NULL ? 0 : -1;
    if (samples != NULL && count > 0) {
        json_open(json, '{');
        json_name(json, "labels");
        if (body->kind == PAYLOAD_PARCA) {
            json_open(json, '{');
            json_name(json, "labels");
        }
        write_labels(body, name);
        if (body->kind == PAYLOAD_PARCA)
            json_close(json, '}');
        json_name_open(json, "samples", '[');
        for (uint32_t i = 0; i < count && status == 0; i += SAMPLES_MOST) {
            uint32_t part = count - i < SAMPLES_MOST ? count - i : SAMPLES_MOST;
            status = write_part(body, value, samples + i, part);
        }
        json_close(json, ']');
        json_close(json, '}');
    }
    free(samples);
    return status;
}

static int
write_all_series(struct body *body, FILE *stream)
{
    struct json *json = &body->json;
    json_begin(json, stream);
    json_open(json, '{');
    json_name_open(json, "series", '[');
    int status = write_series(body, VALUE_CPU, "process_cpu");
    if (status == 0)
        status = write_series(body, VALUE_WALL, "wall");
    json_close(json, ']');
    if (body->kind == PAYLOAD_PARCA)
        json_name_bool(json, "normalized", false);
    json_close(json, '}');
    return json_end(json) != 0 ? -1 : status;
}

/* OpenTelemetry's bytes, compressed. */
static int
write_otlp(const struct body *body, FILE *stream)
{
    char *bytes = NULL;
    size_t size;
    FILE *plain = open_memstream(&bytes, &size);
    if (plain == NULL)
        return -1;
    int status = otlp_write_as(plain, body->profile, &body->facts->resource);
    if (fclose(plain) != 0)
        status = -1;
    struct gzip *gzip = status == 0 ? gzip_new(stream, size) : NULL;
    if (gzip != NULL) {
        gzip_add(gzip, bytes, size);
        status = gzip_end(gzip);
    }
    free(bytes);
    return gzip != NULL ? status : -1;
}

char *
payload_make(enum payload_kind kind, struct profile *profile,
             const struct payload_facts *facts, size_t *size)
{
    struct body body = {.kind = kind, .profile = profile, .facts = facts};
    char *bytes = NULL;
    int status;
    FILE *stream = open_memstream(&bytes, size);
    if (stream == NULL)
        return NULL;
    if (kind == PAYLOAD_OTLP)
        status = write_otlp(&body, stream);
    else if (kind == PAYLOAD_PPROF)
        status = pprof_write(stream, profile);
    else
        status = write_all_series(&body, stream);
    if (fclose(stream) == 0 && status == 0)
        return bytes;
    free(bytes);
    errno = ENOMEM;
    return NULL;
}
