/* SPDX-License-Identifier: MIT */
/*
 * json.h -- writes JSON (RFC 8259) as it comes, in little memory: commas are
 * put where they belong, strings are escaped, and what is not valid UTF-8 or is
 * a control character becomes '?'. That brackets match, and that a name stands
 * before each value of an object, is up to the caller. Errors are kept and
 * reported at the end.
 */
#ifndef WRITE_JSON_H
#define WRITE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *stream;
    bool has_value; /* the next one needs a comma before it */
    bool failed;
    size_t length; /* of what is in BUFFER */
    char buffer[16 * 1024];
};

void json_begin(struct json *json, FILE *stream);

/* BRACKET is '{' or '['; that of json_close the one that belongs to it. */
void json_open(struct json *json, char bracket);
void json_close(struct json *json, char bracket);

/* The name of the next value. It is written as it is. */
void json_name(struct json *json, const char *name);

/* The same for a name that comes from outside, and is escaped. */
void json_key(struct json *json, const char *key);

void json_string(struct json *json, const char *text);
void json_number(struct json *json, uint64_t number);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);

/* A value as the caller has spelt it: "-1", "[]". */
void json_raw(struct json *json, const char *text);

/* Nanoseconds as milliseconds, exactly: 1500000 is 1.5. */
void json_milliseconds(struct json *json, uint64_t nanoseconds);

/* Names with their values. */
void json_name_string(struct json *json, const char *name, const char *text);
void json_name_number(struct json *json, const char *name, uint64_t number);
void json_name_bool(struct json *json, const char *name, bool value);
void json_name_raw(struct json *json, const char *name, const char *text);
void json_name_milliseconds(struct json *json, const char *name,
                            uint64_t nanoseconds);

/* A name with an array or object that is opened. */
void json_name_open(struct json *json, const char *name, char bracket);

/* Write what is left, with a newline. Returns 0, or -1 with errno set if
 * anything since json_begin failed. */
int json_end(struct json *json);

#endif
