/* SPDX-License-Identifier: MIT */
/*
 * head_json.h -- the head of a report, as members of a JSON object, each with a
 * comma behind it:
 *
 *   "processes": [{"pid", "exe", "command", "host", "start_ns", "duration_ns",
 *                  "ended"}, ...],
 *   "start_ns", "duration_ns",          (since the epoch)
 *   "filter": null or a text,
 *   "totals": {"cpu_ns", "wall_ns", "samples"},
 *   "unfiltered": the same before the filter,
 *   "asked", "taken",
 *   "due", "reached_hz", "unasked": {cause: samples},  (null if unknown)
 *   "unseen_cpu_ns", "tree_cpu_ns",     (only if there is unseen time)
 *   "lost": {cause: samples}, "cut": {cause: stacks}
 */
#ifndef SHOW_HEAD_JSON_H
#define SHOW_HEAD_JSON_H

#include <stdio.h>

#include "model/profile.h"

void head_json_write(FILE *stream, const struct profile *profile);

#endif
