/* SPDX-License-Identifier: MIT */
/*
 * json.h -- writes JSON (RFC 8259) as it comes, in little memory.
 *
 * It puts commas where they belong and escapes strings. Bytes that are not
 * valid UTF-8 and control characters become '?'. The caller must match
 * brackets, and must put a name before each value of an object. Errors are kept
 * and reported at the end.
 */
#ifndef UTIL_JSON_H
#define UTIL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *stream;
    bool has_value;   /* the next value needs a comma before it */
    bool is_spaced;   /* blanks stand after commas and colons, for readers */
    bool begins_line; /* json_line was called */
    bool failed;
    size_t length; /* bytes in BUFFER */
    char buffer[16 * 1024];
};

void json_begin(struct json *json, FILE *stream);

/* The same with a blank after each comma and colon. */
void json_begin_spaced(struct json *json, FILE *stream);

/* Begin a new line before the next name, value or closing bracket. */
void json_line(struct json *json);

/* Open or close an object or array. BRACKET is '{' or '[' to open, and the
 * matching '}' or ']' to close. */
void json_open(struct json *json, char bracket);
void json_close(struct json *json, char bracket);

/* Write the name of the next value, unescaped. */
void json_name(struct json *json, const char *name);

/* The same for a name from outside, which is escaped. */
void json_key(struct json *json, const char *key);

void json_string(struct json *json, const char *text);
void json_number(struct json *json, uint64_t number);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);

/* Write NUMBER so that the same double is read again; null if it is not
 * finite. */
void json_real(struct json *json, double number);

/* Write a value exactly as the caller spells it: "-1", "[]". */
void json_raw(struct json *json, const char *text);

/* Write nanoseconds as milliseconds, exactly: 1500000 is 1.5. */
void json_milliseconds(struct json *json, uint64_t nanoseconds);

/* Write a name and its value. */
void json_name_string(struct json *json, const char *name, const char *text);
void json_name_number(struct json *json, const char *name, uint64_t number);
void json_name_bool(struct json *json, const char *name, bool value);
void json_name_real(struct json *json, const char *name, double number);
void json_name_raw(struct json *json, const char *name, const char *text);
void json_name_milliseconds(struct json *json, const char *name,
                            uint64_t nanoseconds);

/* Write a name and open an array or object as its value. */
void json_name_open(struct json *json, const char *name, char bracket);

/* Write what is left in the buffer, and a newline. Returns 0, or -1 with errno
 * set if anything since json_begin failed. */
int json_end(struct json *json);

#endif
