/* SPDX-License-Identifier: MIT */
/*
 * chaos.h -- the seam between the two languages of the chaos workload.
 */
#ifndef WORKLOAD_CHAOS_H
#define WORKLOAD_CHAOS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Throw an exception through DEPTH frames with destructors and catch it.
 * Returns the number of destructors that ran, DEPTH if all is well. */
unsigned chaos_throw(unsigned depth);

#ifdef __cplusplus
}
#endif

#endif
