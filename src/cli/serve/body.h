/* SPDX-License-Identifier: MIT */
/*
 * body.h -- the body of an answer, as a stream into memory that has a limit.
 * Allocates; not thread-safe.
 */
#ifndef CLI_SERVE_BODY_H
#define CLI_SERVE_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The largest body, in bytes. */
#define BODY_MOST (64u << 20)

struct body {
    char *bytes; /* for free(3) */
    size_t size, capacity;
    bool is_full; /* something did not fit */
};

/* Open a stream into BODY, which is empty. NULL with errno set on failure. What
 * does not fit is an error of the stream, EFBIG. */
FILE *body_open(struct body *body);

/* Write TEXT to STREAM for HTML. */
void body_add_html(FILE *stream, const char *text);

void body_release(struct body *body);

#endif
