/* SPDX-License-Identifier: MIT */
/* otlp_json.h -- writes a message of otlp.proto as OpenTelemetry's JSON. */
#ifndef WRITE_OTLP_JSON_H
#define WRITE_OTLP_JSON_H

#include <protobuf-c/protobuf-c.h>
#include <stdio.h>

/* Write MESSAGE and a newline to STREAM. Returns 0, or -1 with errno set. */
int otlp_json_write(FILE *stream, const ProtobufCMessage *message);

#endif
