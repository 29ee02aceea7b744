/* SPDX-License-Identifier: MIT */
/*
 * nearest.h -- how far a name that somebody typed is from one that there is, so
 * that a message can say which one was meant. Pure, any context.
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

/* What it takes to make KNOWN of TYPED: 0 if they differ in case alone, and
 * little where one is a part of the other. Of both the first 63 bytes count. */
unsigned nearest_cost(const char *typed, const char *known);

/* Up to this cost a name is one that was mistyped; above, it is another word.
 */
enum { NEAREST_TYPO = 5 };

#endif
