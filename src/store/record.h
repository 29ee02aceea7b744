/* SPDX-License-Identifier: MIT */
/*
 * record.h -- checks the structure of a record of the spool (layout.h) and
 * gives access to its variable parts. Pure functions over bytes in memory: no
 * state, no allocation, any context. The accessors are for records that
 * reader_next returned, which record_is_valid has accepted.
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

/* The size of KIND's fixed part in bytes, head included; 0 for an unknown kind.
 */
size_t record_fixed_size(uint8_t kind);

/*
 * Whether every variable part of RECORD lies within it and every string ends
 * with NUL (rule 5). The caller guarantees that the kind is known. All bytes of
 * the size in the head can be read, and they hold the fixed part. Values are
 * not checked: an id may be unknown, or an enum out of its range.
 */
bool record_is_valid(const void *record);

/* The strings of a record; "" if the part is empty. */
const char *record_exe(const struct record_process *process);
const char *record_command(const struct record_process *process);
const char *record_version(const struct record_process *process);
const char *record_boot(const struct record_process *process);
const char *record_host(const struct record_process *process);
const char *record_path(const struct record_module *module);
const char *record_name(const struct record_thread *thread);
const char *record_text(const struct record_mark *mark);
const char *record_string(const struct record_text *text);
const char *record_answer_text(const struct record_answer *answer);
const char *record_jitdump_path(const struct record_jitdump *jitdump);
const char *record_script_name(const struct record_script *script);
const char *record_script_file(const struct record_script *script);

/* An array of table_length bytes. */
const uint8_t *record_script_table(const struct record_script *script);

/* An array of CAPACITY entries. */
const struct stacks_entry *record_entries(const struct record_stacks *stacks);

/* An array of build_id_length bytes; NULL if it is empty. */
const uint8_t *record_build_id(const struct record_module *module);

/* A counter by its enum loss or enum cut. It is 0 if the version that wrote the
 * spool did not count that cause. */
uint64_t record_lost(const struct record_counts *counts, unsigned loss);
uint64_t record_cut(const struct record_counts *counts, unsigned cut);
uint64_t record_expired(const struct record_counts *counts);
uint64_t record_missed(const struct record_counts *counts);

/* The entry of an enum limit. It is zero if the version that wrote the spool
 * did not know that limit. */
struct rate_entry record_rated(const struct record_rate *rate, unsigned limit);

#endif
