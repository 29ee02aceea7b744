/* SPDX-License-Identifier: MIT */
/*
 * head_json.h -- what a profile is about, as members of a JSON object, each
 * with a comma behind it:
 *
 *   "processes": [{"pid", "exe", "command", "host", "start_ns", "duration_ns",
 *                  "ended"}, ...],
 *   "start_ns", "duration_ns",          (since the epoch)
 *   "filter": null or a text,
 *   "totals": {"cpu_ns", "wall_ns", "samples"},
 *   "unfiltered": the same before the filter,
 *   "asked", "taken", "lost": {cause: samples}, "cut": {cause: stacks}
 */
#ifndef WRITE_HEAD_JSON_H
#define WRITE_HEAD_JSON_H

#include <stdio.h>

#include "profile/profile.h"

void head_json_write(FILE *stream, const struct profile *profile);

#endif
