/* SPDX-License-Identifier: MIT */
/* payload.h -- the bodies of requests: a profile in the words of a server. */
#ifndef CLI_PUSH_PAYLOAD_H
#define CLI_PUSH_PAYLOAD_H

#include <stddef.h>

#include "model/profile.h"
#include "write/otlp.h"

/* A row: name, the letter of its requests, the option, the path of the URL
 * unless the user gives one, the content's type, and its encoding or NULL. */
#define PAYLOAD_TABLE(PAYLOAD)                                                 \
    PAYLOAD(OTLP, 'o', "otlp", "/v1development/profiles",                      \
            "application/x-protobuf", "gzip")                                  \
    PAYLOAD(PYROSCOPE, 'p', "pyroscope", "/push.v1.PusherService/Push",        \
            "application/json", NULL)                                          \
    PAYLOAD(PARCA, 'a', "parca", "/api/profiles/writeraw", "application/json", \
            NULL)                                                              \
    PAYLOAD(PPROF, 'f', "pprof", "/", "application/octet-stream", NULL)

enum payload_kind {
#define PAYLOAD(id, ...) PAYLOAD_##id,
    PAYLOAD_TABLE(PAYLOAD)
#undef PAYLOAD
        PAYLOAD_COUNT
};

extern const struct payload_row {
    char letter;
    const char *option, *path, *type, *encoding;
} payload_rows[PAYLOAD_COUNT];

/* What a request is about, besides its profile. */
struct payload_facts {
    struct otlp_resource resource;
    const char *const *labels; /* "name=value" of a series, ends with NULL */
};

/*
 * Make the body of a request for PROFILE. Returns *SIZE bytes, which the caller
 * frees. NULL with errno set if memory is short.
 */
char *payload_make(enum payload_kind kind, struct profile *profile,
                   const struct payload_facts *facts, size_t *size);

#endif
