/* SPDX-License-Identifier: MIT */
/*
 * watch_maker.h -- a spool that is written while live/watch.h looks at it:
 * records as the library appends them and changes them in place, and what a
 * look is to find.
 */
#ifndef TESTS_UNIT_WATCH_MAKER_H
#define TESTS_UNIT_WATCH_MAKER_H

#include "live/watch.h"
#include "view/filter.h"

#include "profile_maker.h"

#define MS 1000000

/* What open_watch filters by; close_watch releases it. */
extern struct filter_options filter;

/* What a spool begins with: nodes 1 main, 2 main;work, 3 main;work;work, and 4
 * main;wait; the last is inlined in 2. */
void begin_spool(void);

/* Watch the spool at hand. */
struct watch *open_watch(void);

/* The last tick was at TICK. */
void set_tick(uint64_t tick);

/* Look when the last tick was at TICK. */
void look_again(struct watch *watch, uint64_t tick);

void close_watch(struct watch *watch);

/* THREAD ran at TIME, when its clock was at AGE, for CPU as recorded. */
void add_run(uint32_t thread, uint32_t node, uint64_t time, uint64_t age,
             uint64_t cpu);

/* A wait as it is in the file, and where. */
struct kept_wait {
    uint64_t place;
    struct record_sample record;
};

/* THREAD waits from TIME on. */
struct kept_wait begin_wait(uint32_t thread, uint64_t time, uint32_t waits_on);

/* Store as the library does. */
void store_wait(struct kept_wait *wait, uint64_t wall, uint32_t flags);

/* The row of the function NAME, which must be there. */
const struct function *find_row(const struct watch *watch, const char *name);

/* What NAME has of VALUE in the SPAN, by itself and in all. */
void expect_times(const struct watch *watch, const char *name, enum span span,
                  enum value value, int64_t self, int64_t total);

/* THREAD is in STATE, and waits on WAITS_ON. */
void expect_state(const struct watch *watch, uint32_t thread, const char *state,
                  const char *waits_on);

#endif
