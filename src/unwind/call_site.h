/* SPDX-License-Identifier: MIT */
/*
 * call_site.h -- whether a call stands in front of an address, and what it
 * calls. This is the evidence that a word on a stack is a return address, and
 * to which function it belongs.
 */
#ifndef UNWIND_CALL_SITE_H
#define UNWIND_CALL_SITE_H

#include <stdbool.h>
#include <stdint.h>

enum call_site {
    CALL_SITE_NONE,  /* no call */
    CALL_SITE_OTHER, /* through a pointer, or of another function */
    CALL_SITE_OURS,  /* of the function, also by PLT or GOT */
};

/* Which call stands in front of RETURN_ADDRESS, and whether it calls FUNCTION.
 * FUNCTION 0: not known. Context: sampler, in window. */
enum call_site call_site_before(uint64_t return_address, uint64_t function);

/* Set *TARGET to the function that the call in front of RETURN_ADDRESS leads
 * to, also by PLT or GOT. Returns false if there is no call, or one through a
 * pointer. Context: sampler, in window. */
bool call_site_target(uint64_t return_address, uint64_t *target);

#endif
