/* SPDX-License-Identifier: MIT */
/*
 * otlp.h -- writes a profile as OpenTelemetry's profiles. The bytes are also
 * the request that exports them. output_file.h has the forms for files.
 */
#ifndef WRITE_OTLP_H
#define WRITE_OTLP_H

#include <stdio.h>

struct profile;

/* Facts about a program besides its profile. NULL: not known. */
struct otlp_resource {
    const char *service;    /* service.name; NULL: the program's name */
    const char *attributes; /* "key=value,key=value", each percent-encoded, as
                               in OTEL_RESOURCE_ATTRIBUTES */
    const char *container;  /* container.id */
};

/* Write PROFILE in protobuf's encoding to STREAM. Returns 0, or -1 with errno
 * set. */
int otlp_write_as(FILE *stream, struct profile *profile,
                  const struct otlp_resource *resource);

#endif
