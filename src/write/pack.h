/* SPDX-License-Identifier: MIT */
/*
 * pack.h -- writes a protobuf message of any size in little memory. The
 * encodings of two messages, one after the other, are the encoding of both
 * merged. So each part of a profile is packed as a profile that has only that
 * part. Errors are kept and reported at the end.
 */
#ifndef WRITE_PACK_H
#define WRITE_PACK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pprof.pb-c.h"

struct gzip;
struct intern;

struct pack {
    struct gzip *gzip;
    struct intern *texts; /* string_table */
    uint8_t *buffer;
    size_t size;
    int error; /* errno of the first failure, 0 if none */
};

/* Begin a profile of about EXPECTED bytes on STREAM. Returns 0, or -1 with
 * errno set. */
int pack_begin(struct pack *pack, FILE *stream, size_t expected);

/* Write the parts that are set in PROFILE. */
void pack_part(struct pack *pack, const Perftools__Profiles__Profile *profile);

/* The index of TEXT, cleaned, in string_table; 0 is "". */
int64_t pack_text(struct pack *pack, const char *text);

/* Write string_table, finish and release. Returns 0, or -1 with errno set if
 * anything since pack_begin failed. */
int pack_end(struct pack *pack);

#endif
