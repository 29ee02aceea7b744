/* SPDX-License-Identifier: MIT */
/*
 * spool_maker.h -- spools for tests: one with a record of every kind and known
 * values, and a directory to keep them in.
 */
#ifndef TESTS_UNIT_SPOOL_MAKER_H
#define TESTS_UNIT_SPOOL_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/writer.h"

#define MAKER_CAP (1ull << 30)
#define MAKER_RECORDS 11 /* of maker_every_kind */

/* cmocka's group set-up and tear-down: a directory of our own. */
int maker_begin(void **state);

/* The absolute path of NAME in the directory, good for four calls. */
const char *maker_path(const char *name);

/* cmocka's tear-down of a test: the next one finds the directory empty. */
int maker_clean(void **state);

/* Its group tear-down: the directory is removed. */
int maker_end(void **state);

/* fork(2), for a child that ends with the test: one that writes would go on to
 * fill the disk. */
pid_t maker_fork(void);

/* A new spool of process 4711, at most CAP bytes long, or NULL. */
struct writer *maker_create_file(const char *path, uint64_t cap,
                                 bool keeps_open);
struct writer *maker_create(const char *path, uint64_t cap);

/* A record of that kind, with known values but for the arguments. Each returns
 * where it is, or 0. */
uint64_t maker_mark(struct writer *writer, uint64_t time, const char *text,
                    size_t length);
uint64_t maker_node(struct writer *writer, uint32_t id);
uint64_t maker_process(struct writer *writer);
uint64_t maker_module(struct writer *writer);
uint64_t maker_thread(struct writer *writer);
uint64_t maker_text(struct writer *writer, uint32_t id, const char *text);
uint64_t maker_sample(struct writer *writer);
uint64_t maker_counts(struct writer *writer);
uint64_t maker_summary(struct writer *writer);
uint64_t maker_label(struct writer *writer, uint32_t id, uint32_t parent,
                     uint32_t key, uint32_t value);

/* Complete, with room for CAPACITY entries, of which COUNT are used. */
uint64_t maker_stacks(struct writer *writer, const struct stacks_entry *entries,
                      uint32_t count, uint32_t capacity);

/* One record of every kind, in the order of enum record_kind but for the ends.
 * Returns 0, or -1 if one could not be written. */
int maker_every_kind(struct writer *writer);

/* The finished spool of maker_every_kind at PATH. */
int maker_small_spool(const char *path);

/* The finished spool at PATH of four threads at two places: two wait for each
 * other, with labels, one for one of them, one has no stack. */
int maker_stacks_spool(const char *path);

/* The bytes of the file PATH in malloc'ed memory, which the caller frees, or
 * NULL. */
unsigned char *maker_bytes(const char *path, size_t *length);

#endif
