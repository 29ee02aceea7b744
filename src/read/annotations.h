/* SPDX-License-Identifier: MIT */
/*
 * annotations.h -- takes labels and marks, by which the program describes
 * itself, from a spool into the profile. For spool.c.
 */
#ifndef READ_ANNOTATIONS_H
#define READ_ANNOTATIONS_H

#include <stdint.h>

#include "spool_load.h"

/* Each adds the record BYTES of its kind. */
enum outcome annotations_add_label(struct spool_load *load, const void *bytes);
enum outcome annotations_add_mark(struct spool_load *load, const void *bytes);

/* The profile's set for the label ID of a record, 0 for 0. INTERN_NONE if the
 * spool has not defined ID. */
uint32_t annotations_set(const struct spool_load *load, uint32_t id);

#endif
