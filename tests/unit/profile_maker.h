/* SPDX-License-Identifier: MIT */
/*
 * profile_maker.h -- profiles for tests: records in one line each, and a
 * symbolizer that knows the names that a test gave it. profile_maker.c stands
 * in for the real one because it defines all of its functions.
 */
#ifndef TESTS_UNIT_PROFILE_MAKER_H
#define TESTS_UNIT_PROFILE_MAKER_H

#include "model/profile.h"

#include "spool_maker.h"

#define MAKER_BASE 0x400000ull

/* What is at OFFSET of any module; frames innermost first. */
struct maker_name {
    uint64_t offset;
    struct symbol symbol;
    struct symbol_frame frames[3];
};
extern struct maker_name maker_names[32];
extern unsigned maker_name_count; /* of them */
extern unsigned maker_files;      /* that were added to the symbolizer */
extern unsigned maker_refused;    /* files that must not be used */

/* The garbage collector in the file of any module. */
extern struct collector maker_collector;

/* From now on FUNCTION, and INLINED in it unless NULL, is at OFFSET. */
void maker_name(uint64_t offset, const char *function, const char *inlined);

/* The spool at hand: opened by the first record, closed by maker_load. */
extern struct writer *maker_writer;

/* The field of SIZE bytes at SKIP of the record at PLACE is VALUE. */
void maker_set(uint64_t place, size_t skip, uint64_t value, size_t size);

/* Append a record to the spool at hand, which is made if there is none. */
void maker_append(enum record_kind kind, const void *record, size_t size,
                  const struct writer_tail *tail, size_t parts);

/* A record of that kind; what is not an argument is as a recorder writes it. */
void maker_add_process(uint32_t pid, const char *exe);

/* Module ID covers 64 KiB from ID * MAKER_BASE. */
void maker_add_module(uint32_t id, const char *path);

void maker_add_thread(uint32_t id, uint32_t tid, const char *name);

void maker_add_node(uint32_t id, uint32_t parent, uint32_t module,
                    uint64_t offset, uint32_t flags);

/* COUNT points of 1 ms. WAITING is a system call, or 0 for running. */
void maker_add_sample(uint32_t thread, uint32_t node, uint64_t count,
                      uint16_t waiting);

/* Running for CPU nanoseconds of as much wall time, COUNT points, the first of
 * them at AGE. */
void maker_add_aged(uint32_t thread, uint32_t node, uint64_t count,
                    uint64_t cpu, uint64_t age);

/* The same, with the first point at TIME. */
void maker_add_timed(uint32_t thread, uint32_t node, uint64_t time,
                     uint64_t count, uint64_t cpu, uint64_t age);

/* The same, of no known age. */
void maker_add_running(uint32_t thread, uint32_t node, uint64_t count,
                       uint64_t cpu);

void maker_add_text(uint32_t id, const char *text);

/* Function ID of an interpreter of LANGUAGE (enum script_language). */
void maker_add_script(uint32_t id, uint32_t language, const char *name,
                      const char *file);

void maker_add_end(uint32_t thread, uint64_t time, uint64_t cpu,
                   uint64_t flags);

/* The last tick was at TIME. */
void maker_add_counts(uint64_t time);

/* Of 40 points of 1 ms 20 were taken, as maker_add_counts says: 1 of 3 while
 * system calls were one sample, 19 of 37 while threads switched too often. */
void maker_add_rate(void);

/* Process 4711 of /bin/app, modules 1 and 2, threads 1 and 2. */
void maker_add_head(void);

/* Close the spool at hand and return its path. */
const char *maker_finish(void);

/* Add the spool at hand to PROFILE, made if it is NULL. */
struct profile *maker_load(struct profile *profile);

/* The sample of THREAD at NODE in STATE, which must be there once. */
const struct profile_sample *maker_find(const struct profile *profile,
                                        uint32_t thread, uint32_t node,
                                        enum state state);

/* What PROFILE says of threads and of all is the sum of its samples. */
void maker_expect_sums(const struct profile *profile);

/* cmocka's set-up of a test. */
int maker_forget(void **state);

/* A test with its own spool. */
#define UNIT(name) \
    cmocka_unit_test_setup_teardown(name, maker_forget, maker_clean)

#endif
