/* SPDX-License-Identifier: MIT */
/*
 * json.c -- writes JSON. Numbers are spelled here, because a profile has many
 * millions of them and printf takes ten times as long.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "clean.h"
#include "json.h"

/* HAS_VALUE: the next value needs a comma. A value and a closing bracket set
 * it; an opening bracket and a name clear it. So
 *
 *   json_open '{', json_name_number "a" 1, json_name_open "b" '[',
 *   json_number 2, json_number 3, json_close ']', json_close '}'
 *
 * make {"a":1,"b":[2,3]}. */
void
json_begin(struct json *json, FILE *stream)
{
    json->stream = stream;
    json->has_value = json->is_spaced = json->begins_line = false;
    json->failed = false;
    json->length = 0;
}

void
json_begin_spaced(struct json *json, FILE *stream)
{
    json_begin(json, stream);
    json->is_spaced = true;
}

void
json_line(struct json *json)
{
    json->begins_line = true;
}

static void
flush(struct json *json)
{
    if (fwrite(json->buffer, 1, json->length, json->stream) != json->length)
        json->failed = true;
    json->length = 0;
}

/* Add bytes to the buffer. More bytes than the buffer holds go past it. */
static void
add_bytes(struct json *json, const char *bytes, size_t length)
{
    if (length > sizeof(json->buffer) - json->length)
        flush(json);
    if (length > sizeof(json->buffer)) {
        if (fwrite(bytes, 1, length, json->stream) != length)
            json->failed = true;
        return;
    }
    memcpy(json->buffer + json->length, bytes, length);
    json->length += length;
}

static void
add_byte(struct json *json, char byte)
{
    add_bytes(json, &byte, 1);
}

/* Begin the line that json_line asked for. */
static void
begin_line(struct json *json)
{
    if (json->begins_line)
        add_byte(json, '\n');
    json->begins_line = false;
}

/* Begin a value. */
static void
begin_value(struct json *json)
{
    if (json->has_value) {
        bool has_blank = json->is_spaced && !json->begins_line;
        add_bytes(json, ", ", has_blank ? 2 : 1);
    }
    begin_line(json);
    json->has_value = true;
}

/* End a name. */
static void
end_name(struct json *json)
{
    add_bytes(json, ": ", json->is_spaced ? 2 : 1);
    json->has_value = false;
}

void
json_open(struct json *json, char bracket)
{
    begin_value(json);
    add_byte(json, bracket);
    json->has_value = false;
}

void
json_close(struct json *json, char bracket)
{
    begin_line(json);
    add_byte(json, bracket);
    json->has_value = true;
}

/* The names are our own and need no escapes. */
void
json_name(struct json *json, const char *name)
{
    begin_value(json);
    add_byte(json, '"');
    add_bytes(json, name, strlen(name));
    add_byte(json, '"');
    end_name(json);
}

/* Only these two clean characters need a backslash. Everything else that JSON
 * forbids is not clean and becomes '?'. */
void
json_string(struct json *json, const char *text)
{
    begin_value(json);
    add_byte(json, '"');
    while (*text != '\0') {
        size_t length = clean_length(text, "\"\\");
        add_bytes(json, text, length);
        text += length;
        if (*text == '\0')
            break;
        if (*text == '"' || *text == '\\') {
            add_byte(json, '\\');
            add_byte(json, *text);
        } else {
            add_byte(json, '?');
        }
        text++;
    }
    add_byte(json, '"');
}

/* The digits are made from the last to the first; 2^64 - 1 has 20. */
static void
add_number(struct json *json, uint64_t number)
{
    char digits[20];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    add_bytes(json, digits + at, sizeof(digits) - at);
}

void
json_key(struct json *json, const char *key)
{
    json_string(json, key);
    end_name(json);
}

void
json_number(struct json *json, uint64_t number)
{
    begin_value(json);
    add_number(json, number);
}

void
json_bool(struct json *json, bool value)
{
    json_raw(json, value ? "true" : "false");
}

void
json_null(struct json *json)
{
    json_raw(json, "null");
}

/* 17 digits are enough to read the same double again. */
void
json_real(struct json *json, double number)
{
    char text[32] = "null";
    if (isfinite(number))
        snprintf(text, sizeof(text), "%.17g", number);
    json_raw(json, text);
}

void
json_raw(struct json *json, const char *text)
{
    begin_value(json);
    add_bytes(json, text, strlen(text));
}

void
json_milliseconds(struct json *json, uint64_t nanoseconds)
{
    uint64_t rest = nanoseconds % 1000000;
    char digits[7] = ".";
    size_t length = sizeof(digits);
    begin_value(json);
    add_number(json, nanoseconds / 1000000);
    if (rest == 0)
        return;
    for (size_t i = sizeof(digits) - 1; i > 0; i--) {
        digits[i] = (char)('0' + rest % 10);
        rest /= 10;
    }
    while (digits[length - 1] == '0')
        length--;
    add_bytes(json, digits, length);
}

void
json_name_string(struct json *json, const char *name, const char *text)
{
    json_name(json, name);
    json_string(json, text);
}

void
json_name_number(struct json *json, const char *name, uint64_t number)
{
    json_name(json, name);
    json_number(json, number);
}

void
json_name_bool(struct json *json, const char *name, bool value)
{
    json_name(json, name);
    json_bool(json, value);
}

void
json_name_real(struct json *json, const char *name, double number)
{
    json_name(json, name);
    json_real(json, number);
}

void
json_name_raw(struct json *json, const char *name, const char *text)
{
    json_name(json, name);
    json_raw(json, text);
}

void
json_name_milliseconds(struct json *json, const char *name,
                       uint64_t nanoseconds)
{
    json_name(json, name);
    json_milliseconds(json, nanoseconds);
}

void
json_name_open(struct json *json, const char *name, char bracket)
{
    json_name(json, name);
    json_open(json, bracket);
}

/* A stream may fail without a reason in errno. */
int
json_end(struct json *json)
{
    add_byte(json, '\n');
    flush(json);
    if (!json->failed)
        return 0;
    if (errno == 0)
        errno = EIO;
    return -1;
}
