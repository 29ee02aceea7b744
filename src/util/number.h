/* SPDX-License-Identifier: MIT */
/* number.h -- numbers as people read them. Pure functions. */
#ifndef UTIL_NUMBER_H
#define UTIL_NUMBER_H

#include <stdint.h>

/* PART as percent of WHOLE. 0 if WHOLE is 0, as in a spool without counts or a
 * profile without CPU time. */
static inline double
number_percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

/* Nanoseconds as seconds. */
static inline double
number_seconds(uint64_t nanoseconds)
{
    return (double)nanoseconds / 1e9;
}

/* The ending of a plural for COUNT: "s", or "" for one. */
static inline const char *
number_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
