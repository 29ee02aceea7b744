/* SPDX-License-Identifier: MIT */
/*
 * conditions.h -- the conditions of SPROF_DUMP_WHEN, under which a flight
 * recorder writes what it has:
 *
 *   cpu>150%/5s           the process used more than 1.5 CPUs for 5 s
 *   runnable>30%/5s       for 5 s, threads that could run had no CPU for more
 *                         than 30 % of the time
 *   span:request>200ms    a span with that name took longer
 *   stalled:main>500ms    the thread did not get back to its loop for so long
 *
 * Parsed by the thread that starts the profiler. Context: start.
 */
#ifndef BASE_CONDITIONS_H
#define BASE_CONDITIONS_H

#include <stddef.h>
#include <stdint.h>

/* Limits of the conditions, and of the bytes of a name with its NUL: a span's
 * name is no longer. */
enum { CONDITIONS_MOST = 8, CONDITION_NAME = 96 };

enum condition_kind {
    CONDITION_CPU,
    CONDITION_RUNNABLE,
    CONDITION_SPAN,
    CONDITION_STALLED,
    CONDITION_KIND_COUNT
};

struct condition {
    enum condition_kind kind;
    char name[CONDITION_NAME]; /* of the span or thread, else "" */
    uint64_t percent;          /* of CPU and RUNNABLE */
    uint64_t ns;               /* the time after "/", or the limit */
};

struct conditions {
    struct condition all[CONDITIONS_MOST];
    unsigned count;
};

/* Parse TEXT, conditions with commas between; "" is none. Returns 0, or -1 if
 * it is wrong. */
int conditions_parse(const char *text, struct conditions *conditions);

/* The word for files that were written because of CONDITION: "cpu",
 * "span-request". Other characters of a name than letters, digits, "-" and "_"
 * become "_". WORD has SIZE bytes. */
void condition_word(const struct condition *condition, char *word, size_t size);

#endif
