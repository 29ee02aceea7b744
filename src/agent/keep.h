/* SPDX-License-Identifier: MIT */
/*
 * keep.h -- the flight recorder (SPROF_KEEP): has the journal go on in another
 * file whenever the present one tells of as much time as is to be kept, or is
 * nearly full. What was before the last of these turns is then in the file of
 * the past, what was before that is gone: so at every instant that much time is
 * there, and never more than twice as much. Sampler thread alone, but for
 * keep_begin.
 */
#ifndef AGENT_KEEP_H
#define AGENT_KEEP_H

#include <stdint.h>

/* Keep NS, 0: all. Again in the child of a fork. */
void keep_begin(uint64_t ns);

/* A session is on: turn if it is time. Returns at once if not. */
void keep_heed(void);

/* errno of the last turn that was due and failed, 0: none did. */
int keep_error(void);

#endif
