/* SPDX-License-Identifier: MIT */
/*
 * epochs.h -- the epochs of a spool: times in which threads that run were
 * sampled at one rate. A sample belongs to an epoch by its time. A thread's CPU
 * time in an epoch is known from its clock at the beginning of each epoch.
 * Epochs of a spool have numbers from 0. A spool without a record of an epoch
 * has one.
 */
#ifndef READ_EPOCHS_H
#define READ_EPOCHS_H

#include <stdint.h>

#include "store/layout.h"
#include "spool_load.h"

/* A thread's clock when an epoch began. */
struct weigh_clock {
    uint32_t thread; /* of the profile */
    uint32_t epoch;
    uint64_t cpu; /* ns */
};

/* Take BYTES: a record EPOCH, or a record CLOCK. */
enum outcome epochs_add(struct spool_load *load, const void *bytes);
enum outcome epochs_add_clock(struct spool_load *load, const void *bytes);

/* The number of epochs, at least 1. */
uint32_t epochs_count(const struct spool_load *load);

/* The epoch of TIME, in ns since the start of the process. */
uint32_t epochs_at(const struct spool_load *load, uint64_t time);

/* ns of CPU time between two samples in EPOCH, and the longest such time. */
uint64_t epochs_period(const struct spool_load *load, uint32_t epoch);
uint64_t epochs_longest(const struct spool_load *load);

#endif
