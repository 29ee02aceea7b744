/* SPDX-License-Identifier: MIT */
/*
 * record.h -- what a record of the spool (layout.h) may look like, and its
 * variable parts. Pure functions over bytes in memory: no state, no
 * allocation, any context. The accessors are for records that reader_next
 * returned, which record_is_valid has passed.
 */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout.h"

/* The parts of a head word. */
uint8_t record_kind_of(uint64_t head);
uint32_t record_size_of(uint64_t head);

/* Whether HEAD is one that a writer would store at OFFSET (rule 3). */
bool record_is_genuine(uint64_t head, uint64_t offset);

/* The size of KIND's fixed part, head included; 0 for a kind that is not
 * known. */
size_t record_fixed_size(uint8_t kind);

/*
 * Whether every variable part of RECORD lies within it and every string ends
 * with NUL (rule 5). Its kind is known, and as many bytes as its head says can
 * be read, which are no fewer than its fixed part. Values are not judged: an id
 * may be unknown, an enum out of its range.
 */
bool record_is_valid(const void *record);

/* Strings; "" where the part is empty. */
const char *record_exe(const struct record_process *process);
const char *record_command(const struct record_process *process);
const char *record_version(const struct record_process *process);
const char *record_host(const struct record_process *process);
const char *record_path(const struct record_module *module);
const char *record_name(const struct record_thread *thread);
const char *record_text(const struct record_mark *mark);
const char *record_string(const struct record_text *text);
const char *record_answer_text(const struct record_answer *answer);

/* CAPACITY entries. */
const struct stacks_entry *record_entries(const struct record_stacks *stacks);

/* build_id_length bytes; NULL if there are none. */
const uint8_t *record_build_id(const struct record_module *module);

/* A counter by its enum loss or enum cut; 0 for a cause that the version which
 * wrote the spool did not count. */
uint64_t record_lost(const struct record_counts *counts, unsigned loss);
uint64_t record_cut(const struct record_counts *counts, unsigned cut);

/* The entry of an enum limit; zeros for one that the version which wrote the
 * spool did not know. */
struct rate_entry record_rated(const struct record_rate *rate, unsigned limit);

#endif
