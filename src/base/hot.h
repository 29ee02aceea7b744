/* SPDX-License-Identifier: MIT */
/*
 * hot.h -- the code that each sample runs. The linker lays it together, so that
 * it fills a few pages. Between two samples the program has used the caches and
 * the page tables for itself. So a handler waits for each page and each line of
 * its own code.
 */
#ifndef BASE_HOT_H
#define BASE_HOT_H

#define HOT __attribute__((hot))

/* A variable that such code reads. They lie together, too. */
#define HOT_STATE __attribute__((section("state_of_samples")))

#endif
