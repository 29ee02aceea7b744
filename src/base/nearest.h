/* SPDX-License-Identifier: MIT */
/*
 * nearest.h -- how far a typed name is from a known one, so that a message can
 * say which was meant. Pure, any context.
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

/* The cost of making KNOWN of TYPED. It is 0 if they differ in case alone, and
 * small where one is a part of the other. Of both the first 63 bytes count. */
unsigned nearest_cost(const char *typed, const char *known);

/* Up to this cost a name is a misspelling; above, it is another word. */
enum { NEAREST_TYPO = 5 };

#endif
