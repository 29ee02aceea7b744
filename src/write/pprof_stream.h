/* SPDX-License-Identifier: MIT */
/*
 * pprof_stream.h -- writes a protobuf message of any size in little memory. The
 * encodings of two messages, one after the other, are the encoding of both
 * merged. So each part of a profile is packed as a profile that has only that
 * part. Errors are kept and reported at the end.
 */
#ifndef WRITE_PPROF_STREAM_H
#define WRITE_PPROF_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pprof.pb-c.h"

struct gzip;
struct intern;

struct pprof_stream {
    struct gzip *gzip;
    struct intern *texts; /* string_table */
    uint8_t *buffer;
    size_t size;
    int error; /* errno of the first failure, 0 if none */
};

/* Begin a profile of about EXPECTED bytes on FILE. Returns 0, or -1 with
 * errno set. */
int pprof_stream_begin(struct pprof_stream *stream, FILE *file,
                       size_t expected);

/* Write the parts that are set in PROFILE. */
void pprof_stream_part(struct pprof_stream *stream,
                       const Perftools__Profiles__Profile *profile);

/* The index of TEXT, cleaned, in string_table; 0 is "". */
int64_t pprof_stream_text(struct pprof_stream *stream, const char *text);

/* Write string_table, finish and release. Returns 0, or -1 with errno set if
 * anything since pprof_stream_begin failed. */
int pprof_stream_end(struct pprof_stream *stream);

#endif
