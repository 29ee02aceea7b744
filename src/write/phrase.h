/* SPDX-License-Identifier: MIT */
/*
 * phrase.h -- what every output says about a profile in the same words: losses,
 * cut stacks, cost. Each writes one line without a newline into TEXT of SIZE
 * bytes and returns TEXT; what does not fit is cut.
 */
#ifndef WRITE_PHRASE_H
#define WRITE_PHRASE_H

#include <stddef.h>

#include "profile/profile.h"

/* "3 of 12348 asked: 2 exited, 1 silent", or "none of 12348 asked". */
char *phrase_losses(const struct profile *profile, char *text, size_t size);

/* "434 samples in 1.930 s of CPU: 225 a CPU second of 1,000 asked (timers, 250
 * Hz: threads switch too often)"; samples of threads that ran. "" if that is
 * not known, as of old files. */
char *phrase_rate(const struct profile *profile, char *text, size_t size);

/* "225 a CPU second of 1,000 asked (switches, short)", with as many causes as
 * come to ROOM bytes; "" as there. */
char *phrase_short_rate(const struct profile *profile, char *text, size_t size,
                        size_t room);

/* "1930 points in 1.930000 s: 434 taken, 0 lost, 1496 not asked: 1480 switches,
 * 16 short", all that a rate has to account for; "" as there. */
char *phrase_due(const struct profile *profile, char *text, size_t size);

/* "10 of 12345 stacks: 10 no rule", or "none of 12345 stacks": of all that were
 * walked, those of waiting threads, too. */
char *phrase_cuts(const struct profile *profile, char *text, size_t size);

/* "sampler 0.021 s CPU, 0.2 % of 12.400 s; threads stopped 0.009 s; 4 parked
 * (0.03 %)": the whole is what the process used, parked are samples. */
char *phrase_cost(const struct profile *profile, char *text, size_t size);

/* What it means that a time axis was drawn of samples whose times are not
 * known; "" if they are. */
char *phrase_times(const struct profile *profile, char *text, size_t size);

/* What it means that running threads were asked by a signal; "" if none was. */
char *phrase_asked(const struct profile *profile, char *text, size_t size);

/* "2026-05-09 07:29:33 UTC, 12.400 s". */
char *phrase_time(const struct profile *profile, char *text, size_t size);

/* The ending of the name of COUNT things: "s", or "" for one. */
const char *phrase_plural(uint64_t count);

/* PART as percent of WHOLE; 0 if there is no whole. */
double phrase_percent(uint64_t part, uint64_t whole);

/* Nanoseconds as seconds. */
double phrase_seconds(uint64_t nanoseconds);

#endif
