/* SPDX-License-Identifier: MIT */
/*
 * harvest.h -- what is known of each thread between two ticks, and how a slot
 * becomes a sample. The accounting lives here: asked = taken + lost + what is
 * in flight, and a thread's samples share its CPU time. Sampler thread alone.
 */
#ifndef AGENT_HARVEST_H
#define AGENT_HARVEST_H

#include <stdbool.h>
#include <stdint.h>

#include "store/layout.h"

struct harvest_counts {
    struct record_counts counts;
    uint64_t lost[LOSS_COUNT];
    uint64_t cut[CUT_COUNT];
    uint64_t in_flight;
};

/* Empty everything. PERIOD in ns; CPU_ONLY: threads that do not move get no
 * samples. Returns 0, or -1 if memory is short. */
int harvest_begin(uint64_t period, bool cpu_only);

/* A thread appeared (its clock counts from CLOCK) or has gone. */
void harvest_thread_added(uint32_t index, uint64_t clock);
void harvest_thread_gone(uint32_t index);

/*
 * One sample point, standing for PERIODS, of thread INDEX, whose CPU clock
 * reads CLOCK at time NOW: asks the thread, or keeps its last stack if it has
 * not moved, or waits on if it is asked already. MAY_ASK is false when the tick
 * has asked as many as it can: then the time is carried over. Returns whether
 * a signal was sent.
 */
bool harvest_point(uint32_t index, uint64_t clock, uint64_t periods,
                   uint64_t now, bool may_ask);

/* Turn the slots that are DONE into samples: all, or only those whose WALKED
 * frames are complete and mean what the present module map says. */
void harvest_slots(bool walked_only);

/* Count all that is in flight as lost to CAUSE, and forget it. */
void harvest_give_up(enum loss cause);

/* Whether a thread that was asked at SINCE or later has not answered yet. */
bool harvest_is_waiting(uint64_t since);

struct harvest_counts *harvest_state(void);

#endif
