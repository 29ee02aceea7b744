/* SPDX-License-Identifier: MIT */
/*
 * call_site.h -- whether an address follows a call, and what that call calls.
 * This is the evidence that a word on a stack is a return address, and to which
 * function it belongs.
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

/* The kind of call before RETURN_ADDRESS, and whether it calls FUNCTION.
 * FUNCTION 0: not known. Context: sampler, in window. */
enum call_site call_site_before(uint64_t return_address, uint64_t function);

/* Set *TARGET to the function that the call before RETURN_ADDRESS calls, also
 * by PLT or GOT. Returns false without a call, or if it is one through a
 * pointer. Context: sampler, in window. */
bool call_site_target(uint64_t return_address, uint64_t *target);

#endif
