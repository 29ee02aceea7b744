/* SPDX-License-Identifier: MIT */
/* sender_none.c -- see sender.h: a build without libcurl. cmd_push.c does not
 * call it. */
#include <errno.h>
#include <stddef.h>

#include "sender.h"

struct sender *
sender_new(struct backlog *backlog, const char *const urls[PAYLOAD_COUNT],
           const char *const *headers, const char *key)
{
    (void)backlog;
    (void)urls;
    (void)headers;
    (void)key;
    errno = ENOSYS;
    return NULL;
}

void
sender_work(struct sender *sender, int ms, int fd)
{
    (void)sender;
    (void)ms;
    (void)fd;
}

bool
sender_is_busy(const struct sender *sender)
{
    (void)sender;
    return false;
}

void
sender_free(struct sender *sender)
{
    (void)sender;
}
