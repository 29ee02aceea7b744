/* SPDX-License-Identifier: MIT */
/* pace.c -- see pace.h. These are pure functions. */
#include "pace.h"

void
pace_begin(struct pace *pace, uint64_t start, uint64_t period, uint64_t seed)
{
    pace->start = start;
    pace->period = period;
    pace->index = 0;
    pace->random = seed | 1;
}

/* xorshift64*: 64 bits of state, far more than a sampling instant needs. */
uint64_t
pace_random(struct pace *pace, uint64_t limit)
{
    uint64_t x = pace->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    pace->random = x;
    return (uint64_t)(((__uint128_t)(x * 0x2545f4914f6cdd1du) * limit) >> 64);
}

static uint64_t
present_period(const struct pace *pace, uint64_t now)
{
    return now > pace->start ? (now - pace->start) / pace->period : 0;
}

uint64_t
pace_next(struct pace *pace, uint64_t now, uint32_t stride)
{
    uint64_t present = present_period(pace, now);
    if (present > pace->index)
        pace->index = present;
    uint64_t instant = pace->start + pace->index * pace->period +
                       pace_random(pace, pace->period * stride);
    pace->index += stride;
    return instant;
}

void
pace_shift(struct pace *pace, uint64_t now)
{
    pace->start = now;
    pace->index = 0;
}

void
pace_hurry(struct pace *pace, uint64_t now)
{
    uint64_t next = present_period(pace, now) + 1;
    if (next < pace->index)
        pace->index = next;
}
