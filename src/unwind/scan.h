/* SPDX-License-Identifier: MIT */
/*
 * scan.h -- searches a stack for a return address, where no table tells how
 * large a frame is.
 */
#ifndef UNWIND_SCAN_H
#define UNWIND_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "view.h"

/* How far above sp a return address is searched, in bytes; and how many of the
 * words that look like one are tried. */
#define SCAN_REACH (32u << 10)
#define SCAN_TRIALS 128u

struct scan {
    uint64_t at, end; /* addresses of words */
    uint32_t trials;
};

/* Begin the search at the word at SP. Context: sampler, in window. */
void scan_begin(struct scan *scan, uint64_t sp);

/* Find the next word that is an address behind a call, into *ADDRESS. It lies
 * at SCAN->at - 8. Returns false if there is none. Context: sampler, in window.
 */
bool scan_next(struct scan *scan, struct view *view, uint64_t *address);

#endif
