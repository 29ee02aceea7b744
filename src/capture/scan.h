/* SPDX-License-Identifier: MIT */
/*
 * scan.h -- looks for a return address on a stack, where nothing tells how
 * large a frame is.
 */
#ifndef CAPTURE_SCAN_H
#define CAPTURE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "view.h"

/* How far above sp a return address is looked for, in bytes; and how many of
 * the words that look like one are tried. */
#define SCAN_REACH (32u << 10)
#define SCAN_TRIALS 32u

struct scan {
    uint64_t at, end; /* addresses of words */
    uint32_t trials;
};

/* Look from the word at SP on. */
void scan_begin(struct scan *scan, uint64_t sp);

/* The next word behind a call in *ADDRESS; it lies at SCAN->at - 8. False if
 * there is none. Context: sampler, in window. */
bool scan_next(struct scan *scan, struct view *view, uint64_t *address);

#endif
