/* SPDX-License-Identifier: MIT */
/*
 * request.h -- the meaning of the control signal (SPROF_DUMP_SIGNAL). kill(1)
 * sends it bare, which asks for the stacks of all threads on stderr. `sprofile`
 * sends it by sigqueue(3) with a value that names a request. The kernel checks
 * the sender's permission (kill(2)). The answer is in the spool: ANSWER with
 * the nonce of the request, after all that it refers to.
 *
 * The value: magic:16 | request:16 | nonce:32. Any other value is a bare
 * signal.
 */
#ifndef BASE_REQUEST_H
#define BASE_REQUEST_H

#include <stdint.h>

#define REQUEST_MAGIC 0x5350u

enum request {
    REQUEST_PRINT,  /* the stacks, on the program's stderr */
    REQUEST_STACKS, /* the stacks, as STACKS in the spool */
    REQUEST_START,  /* sample from now on */
    REQUEST_STOP,   /* stop sampling */
    REQUEST_WRITE,  /* write the profile so far */
    REQUEST_COUNT
};

static inline uint64_t
request_value(enum request request, uint32_t nonce)
{
    return (uint64_t)REQUEST_MAGIC << 48 | (uint64_t)request << 32 | nonce;
}

/* The request of VALUE and its nonce. A bare signal is PRINT with nonce 0. */
static inline enum request
request_of(uint64_t value, uint32_t *nonce)
{
    uint32_t request = (uint32_t)(value >> 32) & 0xffffu;
    *nonce = (uint32_t)value;
    if (value >> 48 == REQUEST_MAGIC && request < REQUEST_COUNT)
        return (enum request)request;
    *nonce = 0;
    return REQUEST_PRINT;
}

#endif
