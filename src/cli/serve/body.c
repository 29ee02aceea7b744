/* SPDX-License-Identifier: MIT */
/* body.c -- see body.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "body.h"

/* Bytes of the first piece of memory. */
enum { FIRST = 16 * 1024 };

/* For fopencookie(3). */
static ssize_t
add(void *cookie, const char *bytes, size_t count)
{
    struct body *body = cookie;
    size_t capacity = body->capacity > 0 ? body->capacity : FIRST;
    if (count > BODY_MOST - body->size) {
        body->is_full = true;
        errno = EFBIG;
        return 0;
    }
    while (capacity - body->size < count)
        capacity *= 2;
    if (capacity > body->capacity) {
        char *more = realloc(body->bytes, capacity);
        if (more == NULL)
            return 0;
        body->bytes = more;
        body->capacity = capacity;
    }
    memcpy(body->bytes + body->size, bytes, count);
    body->size += count;
    return (ssize_t)count;
}

FILE *
body_open(struct body *body)
{
    const cookie_io_functions_t functions = {.write = add};
    *body = (struct body){.bytes = NULL};
    return fopencookie(body, "w", functions);
}

void
body_add_html(FILE *stream, const char *text)
{
    for (; *text != '\0'; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", stream);
            break;
        case '<':
            fputs("&lt;", stream);
            break;
        case '>':
            fputs("&gt;", stream);
            break;
        case '"':
            fputs("&quot;", stream);
            break;
        default:
            putc(*text, stream);
        }
}

void
body_release(struct body *body)
{
    free(body->bytes);
    *body = (struct body){.bytes = NULL};
}
