/* SPDX-License-Identifier: MIT */
/*
 * call.h -- whether a call stands in front of an address, and what it calls:
 * the evidence that a word on a stack is a return address, and whose.
 */
#ifndef CAPTURE_CALL_H
#define CAPTURE_CALL_H

#include <stdint.h>

enum call_kind {
    CALL_NONE,  /* no call */
    CALL_OTHER, /* through a pointer, or of another function */
    CALL_IT,    /* of the function, directly or through its PLT or GOT */
};

/* What stands in front of RETURN_ADDRESS, and whether it calls FUNCTION (0: it
 * is not known). Context: sampler, in window. */
enum call_kind call_before(uint64_t return_address, uint64_t function);

#endif
