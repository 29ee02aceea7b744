/* SPDX-License-Identifier: MIT */
/* patience.c -- see patience.h. */
#include "patience.h"

/* For how long, in ns, the sampler hurries after a walk has missed a rule: the
 * next thread that misses one may park until it is served. */
#define MISSED_NS 250000000u

/* ns without a thread that waits after which the sampler hurries: then ticks
 * are rare, and a CPU may never be free. */
#define WAITED_NS 250000000u

/* A wake-up is late after LATE_NS ns. It weighs as much as LATE_WEIGHT that are
 * not. The sampler hurries if the late ones have LATE_MOST more weight, and
 * then for HURRIED wake-ups that are not late. */
#define LATE_NS 250000u
#define LATE_WEIGHT 16u
#define LATE_MOST 32u
#define HURRIED 256u

void
patience_begin(struct patience *patience, uint64_t now)
{
    *patience = (struct patience){.missed_at = now};
}

void
patience_note(struct patience *patience, uint64_t ns)
{
    if (ns <= LATE_NS) {
        patience->late -= patience->late != 0;
        patience->is_out &= patience->late != 0;
        return;
    }
    patience->late += LATE_WEIGHT;
    if (patience->late < LATE_MOST)
        return;
    patience->late = HURRIED;
    patience->is_out = true;
}

bool
patience_choose(struct patience *patience, uint64_t now, bool waits,
                bool missed)
{
    if (waits)
        patience->waited_at = now;
    if (missed)
        patience->missed_at = now;
    return !patience->is_out && now - patience->missed_at > MISSED_NS &&
           now - patience->waited_at < WAITED_NS;
}
