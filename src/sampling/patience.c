/* SPDX-License-Identifier: MIT */
/* patience.c -- see patience.h. */
#include "patience.h"

/* Time in ns for which the sampler hurries after it was needed soon. A thread
 * that misses a rule may park until it is served. New threads, and many that
 * run, would be seen late. */
#define NEEDED_NS 250000000u

/* If no thread has waited for so many ns, the sampler hurries: then ticks are
 * rare, and a CPU may never be free. */
#define WAITED_NS 250000000u

/* A wake-up is late after LATE_NS ns. It outweighs LATE_WEIGHT that are not
 * late; after VERY_LATE_NS it outweighs LATE_MOST. When late ones outweigh the
 * others by LATE_MOST, the sampler hurries for HURRIED wake-ups that are not
 * late. */
#define LATE_NS 250000u
#define VERY_LATE_NS 4000000u
#define LATE_WEIGHT 16u
#define LATE_MOST 32u
#define HURRIED 256u

void
patience_begin(struct patience *patience, uint64_t now)
{
    *patience = (struct patience){.needed_at = now};
}

void
patience_note(struct patience *patience, uint64_t ns)
{
    if (ns <= LATE_NS) {
        patience->late -= patience->late != 0;
        patience->is_out &= patience->late != 0;
        return;
    }
    patience->late += ns <= VERY_LATE_NS ? LATE_WEIGHT : LATE_MOST;
    if (patience->late < LATE_MOST)
        return;
    patience->late = HURRIED;
    patience->is_out = true;
}

bool
patience_choose(struct patience *patience, uint64_t now, bool waits,
                bool needed)
{
    if (waits)
        patience->waited_at = now;
    if (needed)
        patience->needed_at = now;
    return !patience->is_out && now - patience->needed_at > NEEDED_NS &&
           now - patience->waited_at < WAITED_NS;
}
