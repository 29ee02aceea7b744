/* SPDX-License-Identifier: MIT */
/*
 * sender.h -- sends the requests of the backlog to their servers by HTTP. A few
 * are under way at a time, while the caller does other things.
 *
 * An answer 2xx ends a request. 408, 429 and 5xx, and a server that cannot be
 * reached, are tried again: after what the server asks for (Retry-After), else
 * after a pause that doubles each time, with chance in it. So is a request
 * whose answer was lost: whether the server took it is not known. It is the
 * same, byte by byte, with the same header Idempotency-Key. Any other answer is
 * a refusal, which is reported, and the request is dropped.
 */
#ifndef CLI_PUSH_SENDER_H
#define CLI_PUSH_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "backlog.h"
#include "payload.h"

struct sender;

/*
 * Begin. URLS say where requests of each kind go, NULL where none are made.
 * HEADERS are lines "Name: value", and end with NULL. KEY begins each
 * Idempotency-Key. All must outlive the sender. Returns NULL with errno set if
 * memory is short.
 */
struct sender *sender_new(struct backlog *backlog,
                          const char *const urls[PAYLOAD_COUNT],
                          const char *const *headers, const char *key);

/* Work for up to MS milliseconds, or until FD (-1: none) can be read. */
void sender_work(struct sender *sender, int ms, int fd);

/* Whether requests wait whose server is not known to be out of reach. */
bool sender_is_busy(const struct sender *sender);

/* End; requests that are under way are given up, and stay in the backlog. */
void sender_free(struct sender *sender);

#endif
