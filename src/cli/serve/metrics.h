/* SPDX-License-Identifier: MIT */
/*
 * metrics.h -- what the processes of a fleet have done, for Prometheus, in its
 * text format (0.0.4). All counters have the labels pid and exe:
 *
 *   # HELP sprof_cpu_seconds_total CPU time of the process without the sampler.
 *   # TYPE sprof_cpu_seconds_total counter
 *   sprof_cpu_seconds_total{pid="4711",exe="app"} 12.5
 */
#ifndef CLI_SERVE_METRICS_H
#define CLI_SERVE_METRICS_H

#include <stdio.h>

#include "fleet.h"
#include "query.h"

/* Count what the processes that QUERY wants have done by now, and write it to
 * STREAM. Errors stay in the stream. */
void metrics_write(FILE *stream, struct fleet *fleet,
                   const struct query *query);

/* Write the targets for Prometheus's discovery over HTTP to STREAM, as JSON.
 * Each process is a target, reached through this server at HOST. Returns 0, or
 * -1 with errno set. */
int metrics_write_targets(FILE *stream, const struct fleet *fleet,
                          const struct query *query, const char *host);

#endif
